"""Events for the automations of a Prefect server: what happened to a dataset goes in, an event is on its way.

A server keeps events for a week, and whoever sees it sees them. So an event holds what may be published and
nothing else: names, released figures, what the ledger says.
"""

from contextlib import suppress

#: What an event may hold: public figures and names.
Figure = str | int | float | bool | None


def resource_of(dataset: str) -> str:
    """What Prefect knows a dataset by."""
    return f"marginalia.dataset.{dataset}"


def announce(event: str, dataset: str, **figures: Figure) -> None:
    """Tell the server of this run that something happened to a dataset.

    It does nothing outside a run, or where no server is configured, and it never fails: no run may end
    because nobody could be told.

    Args:
        event: its name without the project's, such as ``budget.low``.
        dataset: its logical name, which the event's payload carries too.
        figures: public ones; they become the payload.
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
                resource={"prefect.resource.id": resource_of(dataset), "prefect.resource.name": dataset},
                payload={"dataset": dataset, **figures},
            )
