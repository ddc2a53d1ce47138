"""The salt of a dataset's noise: a name in, the salt out; a new one is told, by flow and command alike."""

from tasks.core.ledger.place import ledger_place
from tasks.core.ledger.salts import salt_of, salt_path
from tasks.core.ledger.tables import PublicTable
from tasks.progress import say
from tasks.sensitive.ledger import kept_ledger


def told_salt(dataset: str, table: PublicTable, *, is_named: bool = True) -> bytes:
    """The salt; of a new one, the person is told to keep it.

    Args:
        dataset: its name.
        table: what is public of the table that it is used for.
        is_named: whether somebody chose the name, and may have chosen another one before.
    """
    kept_ledger()
    path = salt_path(ledger_place(), dataset)
    is_new = not path.exists()
    salt = salt_of(ledger_place(), dataset, table)
    if is_new:
        say(
            f"This run made a salt for the dataset {dataset!r}: {path}. Back the ledger's folder "
            "up, in secret."
        )
        if is_named:
            say(
                "ATTENTION: a table that was synthesized under another dataset's name must keep that name: "
                "with two salts its noise could be averaged away."
            )
    return salt
