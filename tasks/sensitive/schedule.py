"""The schedule of a run whose dataset's budget has run out is paused: each of its runs would be refused."""

from contextlib import suppress

from tasks.messages import tell
from tasks.request import is_scheduled


def pause_schedules(dataset: str) -> None:
    """Pause the schedules of the deployment whose schedule started this run; say so, and what to do.

    A run that a person started pauses nothing: the person is there, and may have asked for another setting.

    Args:
        dataset: whose budget has run out.
    """
    if not is_scheduled():
        return
    from prefect.client.orchestration import get_client
    from prefect.runtime import deployment

    paused = ""
    with suppress(Exception), get_client(sync_client=True) as client:  # the refusal itself must come through
        found = client.read_deployment(str(deployment.get_id()))
        for each in found.schedules:
            if each.active:
                client.update_deployment_schedule(found.id, each.id, active=False)
        paused = found.name
    if paused:
        tell(
            f"ATTENTION: the budget of {dataset!r} has run out, so the schedule of the deployment {paused!r} "
            "is paused. When the cap is raised, turn it on again on the deployment's page."
        )
    else:
        tell(
            f"ATTENTION: the budget of {dataset!r} has run out, and the schedule of this run could not be "
            "paused. Turn it off on the deployment's page until the cap is raised."
        )
