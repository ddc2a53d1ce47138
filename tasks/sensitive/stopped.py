"""A run under differential privacy that can't read its table: what the run was asked goes into the ledger.

Whether a table can be read as a dialect, an encoding or a limit of memory says is an exact fact about it.
Whoever may change these and run again gets one answer after the other, as by a strict contract, whose stops
`judge` notes itself. It is the same answer where the run returns a committed release, or compares one with
the table, and where nobody foresaw why a step failed.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tasks.configuration.model import RunConfiguration
from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import InputError, InternalError, ResourceLimit
from tasks.core.ledger.stops import UNREAD
from tasks.plan.describe import RunFacts
from tasks.public.bundles.bundle import declared_input
from tasks.sensitive.ledger import kept_ledger
from tasks.sensitive.protect import public_table


@contextmanager
def unread_noted(configuration: RunConfiguration, described: RunFacts) -> Iterator[None]:
    """Note that the table, which is read within, could not be; the error goes on its way.

    Other protections promise nothing that such an answer adds to: of them nothing is noted.
    """
    try:
        yield
    except (InputError, ResourceLimit, InternalError):
        if not configuration.protection.is_drawn_once:
            raise
        declared = sha256_of(
            canonical([declared_input(configuration), configuration.resources.memory_limit_mb])
        )
        ledger, table = kept_ledger(), public_table(described)
        ledger.note_stop(configuration.dataset, described.vintage, UNREAD, declared, table)
        raise
