"""Events for the automations of a Prefect server: what happened to a dataset goes in, an event is on its way.

A server keeps events for a week, and whoever sees it sees them. So an event holds what may be published and
nothing else: names, released figures, what the ledger says.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun, State

#: What an event may hold: public figures and names.
Figure = str | int | float | bool | None


def announce(event: str, dataset: str, **figures: Figure) -> None:
    """Tell the server of this run that something happened to a dataset, by public figures.

    It does nothing outside a run, or where no server is configured, and it never fails: no run may end
    because nobody could be told.
    """
    with suppress(Exception):
        from prefect.context import FlowRunContext, TaskRunContext
        from prefect.events import emit_event
        from prefect.settings import PREFECT_API_URL

        in_a_run = FlowRunContext.get() is not None or TaskRunContext.get() is not None
        # Without an address Prefect would start a server for this event alone.
        if in_a_run and PREFECT_API_URL.value():
            emit_event(
                event=f"marginalia.{event}",
                resource={
                    "prefect.resource.id": f"marginalia.dataset.{dataset}",
                    "prefect.resource.name": dataset,
                },
                payload={"dataset": dataset, **figures},
            )


def announce_schedule(flow: object, flow_run: "FlowRun", state: "State[Any]") -> None:
    """Tell the server that a run was scheduled: a hook of flows that deployments run, when such a run begins.

    A server's scheduler makes a run without an event of its first state, and the events of its other states
    wait a quarter of an hour for that one. Automations would tell a failure late, and take a run that has
    ended for dead. This is the missing event: it has the state's id.
    """
    with suppress(Exception):
        from prefect.client.orchestration import get_client
        from prefect.events import emit_event

        if not flow_run.auto_scheduled or flow_run.run_count > 1:
            return
        with get_client(sync_client=True) as client:
            states = client.read_flow_run_states(flow_run.id)
        first = min(states, key=lambda state: state.timestamp)
        resource = {"prefect.resource.id": f"prefect.flow-run.{flow_run.id}"}
        emit_event("marginalia.run.scheduled", resource, occurred=first.timestamp, id=first.id)
