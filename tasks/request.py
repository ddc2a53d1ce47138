"""What a run was asked for: up to which stage, and what Prefect knows of who started it, and when."""

from typing import TYPE_CHECKING

from tasks.core.errors import ParameterError

if TYPE_CHECKING:  # slow, and the command needs the names of the stages alone
    from tasks.configuration.model import RunConfiguration

#: In order: a run that is asked to go up to one does every earlier one.
STAGES = ("aggregate", "generate", "evaluate", "navigate")

#: In the environment of a deployment's runs: the folder in which it was made, where relative paths start.
#: They begin in the checkout, as Python imports from where it begins, and that folder may hold anything.
FOLDER = "MARGINALIA_FOLDER"

#: Beside the places that a run returns: the vintage whose release it is, where nothing new was made.
UNCHANGED = "unchanged"


def reaches(last: str, stage: str) -> bool:
    return STAGES.index(last) >= STAGES.index(stage)


def scheduled_date() -> str | None:
    """The date (UTC) that a scheduler set for this run; None for a run that somebody started.

    A retry keeps the date of the run that it retries, so it names the same release.
    """
    from prefect.runtime import flow_run

    if flow_run.get_id() is None or not is_scheduled():
        return None
    return f"{flow_run.get_scheduled_start_time():%Y-%m-%d}"


def require_seed_stays(configuration: "RunConfiguration") -> None:
    """Refuse a deployment's run that is given the seed of a mode that reads raw records.

    Prefect keeps the parameters of such a run as they were given; a seed must not leave ``sensitive/``.
    """
    from prefect.context import FlowRunContext

    context, synthesis = FlowRunContext.get(), configuration.synthesis
    if context is None or context.flow_run is None or context.flow_run.deployment_id is None:
        return
    # A deployment that is given the path of a file leaves the seed in the file.
    is_kept = not isinstance((context.parameters or {}).get("configuration"), str)
    if is_kept and synthesis.reads_records and synthesis.random_seed is not None:
        raise ParameterError(
            f"random_seed must not be a parameter of a deployment where synthesis_mode is {synthesis.mode}: "
            "Prefect stores it in the clear, and it is as sensitive as the records. Take it out: each "
            "run then draws its own. Use another seed from now on."
        )


def is_scheduled() -> bool:
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    return bool(context and context.flow_run and context.flow_run.auto_scheduled)
