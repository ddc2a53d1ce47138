"""Runs whose process is gone: the server goes in, an automation on it marks them as crashed.

A worker that is killed can't say so, and Prefect shows its run as running for ever. So runs of our
deployments give a sign of life, and a run that has given none for a while is marked: whoever is notified of
crashed runs is told, and the run can be retried.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

NAME = "marginalia: mark a run without a sign of life as crashed"
#: How often a run gives one: the least that Prefect admits.
HEARTBEAT_SECONDS = 30
#: A server that is away for less than this marks no run when it is back.
SILENT_SECONDS = 300
#: Whatever the server hears of a run: its next sign, its end, that it waits for its retry.
_AWAITED = {"prefect.flow-run.*"}
#: What a run needs in its environment to give them.
ENVIRONMENT = {"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_SECONDS)}

_MESSAGE = (
    "The run's process has given no sign of life for five minutes: it was killed, or its machine is down. "
    "Nothing is lost. Retry the run when a worker runs again: it goes on where it stopped."
)


def mark_dead_runs(client: "SyncPrefectClient") -> bool:
    """Make the automation, unless the server has it; whether it was made.

    One that a person changed or switched off stays as it is: it is found by its name.
    """
    from prefect.client.schemas.objects import StateType
    from prefect.events.actions import ChangeFlowRunState
    from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
    from prefect.events.schemas.events import ResourceSpecification

    if client.read_automations_by_name(NAME):
        return False
    client.create_automation(
        AutomationCore(
            name=NAME,
            description="Made by `marginalia deploy`, for runs of its deployments.",
            trigger=EventTrigger(
                after={"prefect.flow-run.heartbeat"},
                expect=_AWAITED,
                match=ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"}),
                match_related=ResourceSpecification(
                    {"prefect.resource.role": "tag", "prefect.resource.id": "prefect.tag.marginalia"}
                ),
                for_each={"prefect.resource.id"},
                posture=Posture.Proactive,
                threshold=1,
                within=timedelta(seconds=SILENT_SECONDS),
            ),
            actions=[ChangeFlowRunState(name=None, state=StateType.CRASHED, message=_MESSAGE)],
        )
    )
    return True
