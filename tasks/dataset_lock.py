"""One run of a dataset at a time, whichever deployments they are of: the others wait.

The queue is a global concurrency limit of the Prefect server, one a dataset, which anybody can see and free
on the server's page. It keeps runs from getting in each other's way; that a budget is never overspent is the
ledger's work, and does not hang on it.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound

from tasks.messages import tell

#: A run that was killed gives its turn back after so long, the least that the server admits.
LEASE_SECONDS = 60


def limit_of(dataset: str) -> str:
    return f"marginalia-{dataset}"


@contextmanager
def dataset_lock(datasets: Collection[str]) -> Iterator[None]:
    """Wait until no other run of these datasets is at work, and keep others waiting."""
    limits = sorted({limit_of(dataset) for dataset in datasets})
    if _taken(limits):
        names = " and ".join(limits)
        tell(
            "Another run of the same dataset is at work: this one waits for it. If there is none, free "
            f"the concurrency limit {names}: prefect gcl update NAME --active-slots 0."
        )
    with concurrency(limits, lease_duration=LEASE_SECONDS):
        yield


def _taken(limits: Collection[str]) -> bool:
    """Whether others are at work. Limits that are not there are made; one that somebody changed stays."""
    taken = False
    with get_client(sync_client=True) as client:
        for name in limits:
            try:
                limit = client.read_global_concurrency_limit_by_name(name)
                taken = taken or limit.active_slots >= limit.limit
            except ObjectNotFound:
                with suppress(ObjectAlreadyExists):  # another run was quicker
                    client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=name, limit=1))
    return taken
