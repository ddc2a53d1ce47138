"""A run under differential privacy whose table stops it: what the run was asked goes into the ledger.

Whether a table can be read as a dialect, an encoding or a limit of memory says is an exact fact about it.
Whoever may change these and run again gets one answer after the other, as by a strict contract, whose stops
`judge` notes itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tasks.configuration.model import RunConfiguration
from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import InputError, ResourceLimit
from tasks.core.ledger.stops import UNREAD
from tasks.plan.describe import RunFacts
from tasks.public.bundles.bundle import declared_input
from tasks.sensitive.ledger import kept_ledger
from tasks.sensitive.protect import public_table


@contextmanager
def unread_noted(configuration: RunConfiguration, described: RunFacts) -> Iterator[None]:
    """Note that the table, which is read within for a draw, could not be; the error goes on its way."""
    try:
        yield
    except (InputError, ResourceLimit):
        declared = sha256_of(
            canonical([declared_input(configuration), configuration.resources.memory_limit_mb])
        )
        ledger, table = kept_ledger(), public_table(described)
        ledger.note_stop(configuration.dataset, described.vintage, UNREAD, declared, table)
        raise
