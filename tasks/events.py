"""What is told to servers: events for the automations of Prefect's, and lineage for a catalogue.

A server keeps events for a week, and whoever sees it sees them. So an event holds what may be published and
nothing else: names, released figures, what the ledger says. No run fails because one could not be sent.

Lineage goes out as OpenLineage events. Off, unless OpenLineage is configured by the variables of its standard
client: OPENLINEAGE_URL (an endpoint), OPENLINEAGE_CONFIG (a file), or OPENLINEAGE__TRANSPORT__... such as
TYPE=file and LOG_FILE_PATH. A run is a job with START, then COMPLETE or FAIL. So is each group of released
files that were made alike, below it. Of what is released an event has hash, rows and size; of what is
sensitive its name alone.
"""

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tasks.core.lineage import SOURCES, TABLE, Lineage, LineageNode
from tasks.messages import tell
from tasks.version import code_version

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun, State

#: What an event may hold: public figures and names.
Figure = str | int | float | bool | None


def announce(event: str, dataset: str, **figures: Figure) -> None:
    """Tell the server of this run, where there is one, what happened to a dataset, by public figures."""
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


if TYPE_CHECKING:  # half a second, and mostly nobody collects
    from openlineage.client import OpenLineageClient

NAMESPACE = "marginalia"
_SWITCHES = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG")


def is_configured() -> bool:
    if os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return False
    return any(name in _SWITCHES or name.startswith("OPENLINEAGE__") for name in os.environ)


class RunEvents:
    """The events of one run of a dataset."""

    def __init__(self, dataset: str) -> None:
        from prefect.runtime import flow_run

        # That of Prefect's run, so that a catalogue leads to its page.
        self._dataset, self._run = dataset, str(flow_run.get_id() or uuid.uuid4())
        self.outputs: list[Any] = []
        self._is_reachable = True

    def release(self, lineage: Lineage, place: str) -> None:
        """A job for each group of released files that were made alike; ``place`` is such as 2026-11-1."""
        groups: dict[tuple[str, ...], list[LineageNode]] = {}
        for node in lineage.nodes:
            if node.zone == "release":
                groups.setdefault(node.parents, []).append(node)
        for parents, nodes in groups.items():
            run, job = str(uuid.uuid4()), f"{self._dataset}.{nodes[0].name}"
            inputs = [self._given(lineage[name], place) for name in parents]
            outputs = [self._made(node, place) for node in nodes]
            self.emit("START", part=(run, job, inputs))
            self.emit("COMPLETE", outputs, part=(run, job, inputs))
            self.outputs += outputs

    @cached_property
    def _client(self) -> "OpenLineageClient":
        from openlineage.client import OpenLineageClient

        return OpenLineageClient()

    def emit(
        self,
        state: str,
        outputs: Sequence[Any] = (),
        *,
        why: str = "",
        part: tuple[str, str, list[Any]] | None = None,
    ) -> None:
        """Send an event of the run, which reads the table, or of a part: its id, job and inputs."""
        if not self._is_reachable:
            return
        try:
            from openlineage.client import event_v2
            from openlineage.client.facet_v2 import error_message_run, parent_run

            run, job, inputs = part or (self._run, self._dataset, [self._named(TABLE)])
            facets: dict[str, Any] = {}
            if part is not None:
                above = parent_run.Run(self._run), parent_run.Job(NAMESPACE, self._dataset)
                facets["parent"] = parent_run.ParentRunFacet(*above)
            if why:
                facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(why, "python")
            self._client.emit(
                event_v2.RunEvent(
                    eventType=event_v2.RunState[state],
                    eventTime=datetime.now(UTC).isoformat(),
                    run=event_v2.Run(run, facets),
                    job=event_v2.Job(NAMESPACE, job),
                    producer=f"urn:marginalia:{code_version()}",
                    inputs=inputs,
                    outputs=list(outputs),
                )
            )
        except Exception as error:  # its text may hold an address with a key
            self._is_reachable = False
            tell(
                f"ATTENTION: the lineage of this run could not be sent as OpenLineage events "
                f"({type(error).__name__}). The release has it in lineage.json. Check the variables "
                "OPENLINEAGE_*."
            )

    def _named(self, name: str, place: str = "") -> Any:
        from openlineage.client.event_v2 import InputDataset

        return InputDataset(NAMESPACE, "/".join(filter(None, [self._dataset, place, name])))

    def _given(self, node: LineageNode, place: str) -> Any:
        """An input: a source by its name, a released file with its hash."""
        dataset = self._named(node.name, place if node.name not in SOURCES else "")
        dataset.facets = _version(node)
        return dataset

    def _made(self, node: LineageNode, place: str) -> Any:
        from openlineage.client.event_v2 import OutputDataset
        from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

        rows, size = (node.facts.get(key) for key in ("rows", "bytes"))
        facet = statistics.OutputStatisticsOutputDatasetFacet(
            rowCount=None if rows is None else int(str(rows)), size=None if size is None else int(str(size))
        )
        name = f"{self._dataset}/{place}/{node.name}"
        return OutputDataset(NAMESPACE, name, facets=_version(node), outputFacets={"outputStatistics": facet})


@contextmanager
def collect_events(dataset: str) -> Iterator[None]:
    """The events of a run, around it; nothing where nobody collects, or inside a run that is collected."""
    if _current.get() is not None or not is_configured():
        yield
        return
    events = RunEvents(dataset)
    token = _current.set(events)
    try:
        events.emit("START")
        yield
        events.emit("COMPLETE", events.outputs)
    except BaseException as error:
        events.emit("FAIL", why=str(error) or type(error).__name__)
        raise
    finally:
        _current.reset(token)


def announce_release(lineage: Lineage, place: str) -> None:
    events = _current.get()
    if events is not None:
        events.release(lineage, place)


_current: ContextVar[RunEvents | None] = ContextVar("collected", default=None)


def _version(node: LineageNode) -> dict[str, Any]:
    from openlineage.client.facet_v2 import dataset_version_dataset as version

    sha256 = node.facts.get("sha256")
    return {} if sha256 is None else {"version": version.DatasetVersionDatasetFacet(str(sha256))}
