"""The salt of a dataset: a ledger's place and a dataset's name go in, its 32 secret bytes come out.

A salt is made once and used for all that is ever made of the dataset: of two outputs with different salts
the noise could be averaged away. So the chain remembers which salt that was, and one that is gone or is
another one is an error, never a reason to make a new one. Of tables it notes the same as for budgets.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from tasks.core.errors import ParameterError
from tasks.core.ledger.entries import Entry, Transaction
from tasks.core.ledger.ledger import open_store
from tasks.core.ledger.names import fold_name, refuse_twin, registered_names, salted_names
from tasks.core.ledger.place import VARIABLE, Place, local_folder
from tasks.core.ledger.refusals import lost_salt, second_salt
from tasks.core.ledger.tables import PublicTable, find_resemblance, note_table


def salt_of(place: Place, dataset: str, table: PublicTable | None = None) -> bytes:
    """The salt of a dataset, made if it never had one.

    Args:
        place: of the ledger, see `place.ledger_place`; made where it is missing.
        dataset: its logical name: the same people, whatever the file.
        table: what is public of the table that it is about to be used for, which is noted; None: it was.

    Raises:
        LedgerError: the salt is gone, damaged, another one, or open to others; or the ledger is.
        ParameterError: the dataset has no name, or that of another in other letters; or the table is one that
            another dataset's salt was used for, and no person wrote down why the two are apart.
    """
    if not fold_name(dataset):
        raise ParameterError("A dataset must have a name, as its salt is kept by it: give one.")
    store = open_store(place)
    known = _fingerprint(store.entries(), dataset)
    if known is None or table is not None:
        # The chain's own lock: of two processes, the second one finds what the first one made.
        with store.transaction() as work:
            _enter(work, dataset, table)
            known = _fingerprint(work.entries, dataset)
            if known is None:
                store.make_salt(dataset)
                known = hashlib.sha256(store.read_salt(dataset)).hexdigest()
                work.append({"phase": "salt", "salt_of": dataset, "salt_sha256": known})
    salt = store.read_salt(dataset)
    if hashlib.sha256(salt).hexdigest() != known:
        what = "it is not the one that was made for this dataset"
        raise lost_salt(store.where_salt(dataset), what, store.whereabouts.kind)
    return salt


def require_one_salt(place: Place, *runs: tuple[str, PublicTable]) -> None:
    """Refuse a second salt for one table, of several runs in order; nothing is read before, or written."""
    rehearsal = Transaction(open_store(place).entries())
    for dataset, table in runs:
        _enter(rehearsal, dataset, table)


def _enter(work: Transaction, dataset: str, table: PublicTable | None) -> None:
    """Note a dataset's table, unless the dataset must not have it."""
    if _fingerprint(work.entries, dataset) is None:
        refuse_twin(dataset, salted_names(work.entries))
        refuse_twin(dataset, registered_names(work.entries))
    if table is None:
        return
    found = find_resemblance(work.entries, "salted table", dataset, table)
    if found is not None:
        raise second_salt(found)
    note_table(work, "salted table", dataset, table)


def salted_datasets(place: Place) -> list[str]:
    return sorted(set(salted_names(open_store(place).entries())))


def require_apart(place: Place, outputs: Path) -> None:
    """Refuse a ledger in a folder of outputs, which is copied and shared, or outputs in the ledger's."""
    ledger, place_of_outputs = local_folder(place).resolve(), outputs.resolve()
    if ledger.is_relative_to(place_of_outputs) or place_of_outputs.is_relative_to(ledger):
        raise ParameterError(
            "The ledger keeps what was spent and the salts of noise, so it must be apart from the outputs, "
            f"but one of {ledger} and {outputs} is in the other: set {VARIABLE} or the outputs to another "
            "place. If there is a ledger already, move the whole folder, and make sure that nobody copied it."
        )


def _fingerprint(entries: Iterable[Entry], dataset: str) -> str | None:
    # Not under "dataset": an account is made of the entries that have that.
    found = (e.text("salt_sha256") for e in entries if e.phase == "salt" and e.body["salt_of"] == dataset)
    return next(found, None)
