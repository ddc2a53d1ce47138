"""The user's ledger, opened; what the operator must be told of it is said on the terminal."""

from tasks.core.dp.ledger.ledger import Ledger, open_ledger
from tasks.progress import say
from tasks.version import code_version


def kept_ledger() -> Ledger:
    """The ledger that this user's runs are charged to.

    Raises:
        LedgerError: see `SqliteStore`.
    """
    return open_ledger(code=code_version(), notice=say)
