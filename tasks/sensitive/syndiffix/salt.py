"""The salt of a dataset's noise: a name in, the salt out; a new one is told, by flow and command alike."""

from tasks.core.ledger.salts import salt_of
from tasks.core.ledger.tables import PublicTable
from tasks.ledger_place import kept_place
from tasks.messages import tell
from tasks.sensitive.ledger import kept_ledger


def told_salt(dataset: str, table: PublicTable, *, is_named: bool = True) -> bytes:
    """The salt; of a new one, the person is told to keep it.

    Args:
        dataset: its name.
        table: what is public of the table that it is used for.
        is_named: whether somebody chose the name, and may have chosen another one before.
    """
    ledger = kept_ledger()
    is_new = not ledger.has_salt(dataset)
    salt = salt_of(kept_place(), dataset, table)
    if is_new:
        tell(
            f"This run made a salt for the dataset {dataset!r}: {ledger.store.salts.where(dataset)}. Back "
            f"the ledger's {ledger.store.whereabouts.kind} up, in secret."
        )
        if is_named:
            tell(
                "ATTENTION: a table that was synthesized under another dataset's name must keep that name: "
                "with two salts its noise could be averaged away."
            )
    return salt
