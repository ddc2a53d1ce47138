"""A run that released nothing new, as its page in Prefect says it."""

from prefect.artifacts import create_markdown_artifact

from tasks.configuration.model import RunConfiguration
from tasks.events import announce
from tasks.messages import tell
from tasks.public.artifacts import artifact_key
from tasks.step import step
from tasks.storage import INTERMEDIATE, Workspace


@step(INTERMEDIATE)
def tell_unchanged(
    workspace: Workspace, configuration: RunConfiguration, vintage: str, earlier: str, place: str
) -> None:
    """Say that what an earlier vintage made is returned, and make the artifact ``unchanged-<dataset>``.

    Args:
        workspace: where it is.
        configuration: the run's.
        vintage: that was asked for.
        earlier: that is returned.
        place: of what is returned, in the workspace.
    """
    drawn = "nothing was drawn, and nothing was charged. " if configuration.protection.is_drawn_once else ""
    said = (
        f"Nothing new: vintage {vintage!r} would be made of the same as vintage {earlier!r}, under the same "
        f"settings (on_unchanged: skip). No release was made of it: {drawn}{place} is returned."
    )
    tell(said)
    create_markdown_artifact(
        markdown=f"# Nothing new\n\n{said}\n\nFor a release all the same, set `on_unchanged` to `draw`.\n",
        key=artifact_key("unchanged", configuration.dataset),
        description=f"Vintage {vintage} is what vintage {earlier} was.",
    )
    announce("input.unchanged", configuration.dataset, vintage=vintage, earlier=earlier)
