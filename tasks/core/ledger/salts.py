"""The salt of a dataset: a ledger's folder and a dataset's name go in, its 32 secret bytes come out.

A salt is made once and used for all that is ever made of the dataset: of two outputs with different salts
the noise could be averaged away. So it is kept with the ledger, whose chain remembers which salt that was,
and one that is gone or is another one is an error, never a reason to make a new one. The chain also has keyed
hashes of what is public of each table that a salt was used for, as it has of budgets
(`tasks.core.ledger.tables`).

<ledger>/salts/<key>.salt      0600, by the dataset's name
"""

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from tasks.core.dp.digest import sha256_of
from tasks.core.errors import LedgerError, ParameterError
from tasks.core.ledger import place
from tasks.core.ledger.entries import Entry, Transaction
from tasks.core.ledger.names import folded, refuse_twin, registered_names, salted_names
from tasks.core.ledger.refusals import second_salt
from tasks.core.ledger.store import SqliteStore
from tasks.core.ledger.tables import SALTED, PublicTable, note, noted, resemblance

SALT_BYTES = 32
_PHASE = "salt"


def salt_of(ledger_folder: Path, dataset: str, table: PublicTable | None = None) -> bytes:
    """The salt of a dataset, made if it never had one.

    Args:
        ledger_folder: see `place.ledger_place`; made where it is missing.
        dataset: its logical name: the same people, whatever the file.
        table: what is public of the table that it is about to be used for, which is noted; None: it was.

    Raises:
        LedgerError: the salt is gone, damaged, another one, or open to others; or the ledger is.
        ParameterError: the dataset has no name, or that of another in other letters; or the table is one that
            another dataset's salt was used for, and no person wrote down why the two are apart.
    """
    if not folded(dataset):
        raise ParameterError("A dataset must have a name, as its salt is kept by it: give one.")
    store = SqliteStore(ledger_folder)
    path = salt_path(ledger_folder, dataset)
    known = _fingerprint(store.entries(), dataset)
    if known is None or table is not None:
        # The chain's own lock: of two processes, the second one finds what the first one made.
        with store.transaction() as work:
            _enter(work, dataset, table)
            known = _fingerprint(work.entries, dataset)
            if known is None:
                _make(path)
                known = hashlib.sha256(_read(path)).hexdigest()
                work.append({"phase": _PHASE, "salt_of": dataset, "salt_sha256": known})
    salt = _read(path)
    if hashlib.sha256(salt).hexdigest() != known:
        raise _lost(path, "it is not the one that was made for this dataset")
    return salt


def require_one_salt(ledger_folder: Path, *runs: tuple[str, PublicTable]) -> None:
    """Refuse a second salt for one table; to be asked before anything is read. It writes nothing.

    Args:
        ledger_folder: see `place.ledger_place`.
        runs: the dataset of each of them and its table, in their order.

    Raises:
        ParameterError: see `salt_of`.
    """
    rehearsal = Transaction(SqliteStore(ledger_folder).entries())
    for dataset, table in runs:
        _enter(rehearsal, dataset, table)


def _enter(work: Transaction, dataset: str, table: PublicTable | None) -> None:
    """Note a dataset's table, unless the dataset must not have it."""
    had = _fingerprint(work.entries, dataset) is not None
    if not had:
        refuse_twin(dataset, salted_names(work.entries))
        refuse_twin(dataset, registered_names(work.entries))
    if table is None:
        return
    known = noted(work.entries, SALTED)
    # A salt of before tables were noted goes on as it was.
    is_older = had and dataset not in known
    found = None if is_older else resemblance(work.entries, known, dataset, table)
    if found is not None:
        raise second_salt(found)
    note(work, SALTED, dataset, table.marks(work.entries))


def salted_datasets(ledger_folder: Path) -> list[str]:
    """The datasets that ever had a salt, by name.

    Raises:
        LedgerError: see `SqliteStore`.
    """
    return sorted(set(salted_names(SqliteStore(ledger_folder).entries())))


def require_apart(ledger_folder: Path, outputs: Path) -> None:
    """Refuse a ledger in a folder of outputs, which is copied and shared, or outputs in the ledger's.

    Raises:
        ParameterError: as said.
    """
    ledger, place_of_outputs = ledger_folder.resolve(), outputs.resolve()
    if ledger.is_relative_to(place_of_outputs) or place_of_outputs.is_relative_to(ledger):
        raise ParameterError(
            "The ledger keeps the salt of all noise, so it must be apart from the outputs, but one of "
            f"{ledger_folder} and {outputs} is in the other: set {place.VARIABLE} or the outputs to another "
            "place. If there is a ledger already, move the whole folder, and make sure that nobody copied it."
        )


def salt_path(ledger_folder: Path, dataset: str) -> Path:
    """Where a dataset's salt is kept."""
    return ledger_folder / "salts" / f"{sha256_of(dataset)[:32]}.salt"


def _fingerprint(entries: Iterable[Entry], dataset: str) -> str | None:
    """SHA-256 of the dataset's salt as the chain has it, if one was ever made."""
    # Not under "dataset": an account is made of the entries that have that.
    found = (e.text("salt_sha256") for e in entries if e.phase == _PHASE and e.body["salt_of"] == dataset)
    return next(found, None)


def _make(path: Path) -> None:
    """Make the file, whole or not at all, unless there is one: its maker died before the chain knew of it."""
    if os.path.lexists(path):
        return
    place.private_folder(path.parent)
    draft = path.with_name(f".{secrets.token_hex(8)}.part")
    problem = ""
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SALT_BYTES))
            file.flush()
            os.fsync(descriptor)
        draft.rename(path)
        place.sync(path.parent)
        place.sync(path.parent.parent)
    except OSError as error:
        problem = (
            f"The command must write the salt {path} first, and can't ({os.strerror(error.errno or 0)}): "
            "correct that and run again."
        )
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    if problem:
        raise LedgerError(problem)


def _read(path: Path) -> bytes:
    """The file's bytes.

    Raises:
        LedgerError: it is not a plain file of 32 bytes in a folder of its own, both closed to others.
    """
    try:
        if stat.S_ISLNK(path.parent.lstat().st_mode):
            raise _lost(path, "its folder is a link")
        place.check_private(path.parent)
        if not stat.S_ISREG(path.lstat().st_mode):
            raise _lost(path, "it is a link or no file")
        place.check_private(path)
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            salt = file.read(SALT_BYTES + 1)
    except OSError as error:
        raise _lost(path, f"it can't be read ({os.strerror(error.errno or 0)})") from None
    if len(salt) != SALT_BYTES:
        raise _lost(path, f"it does not have {SALT_BYTES} bytes")
    return salt


def _lost(path: Path, what: str) -> LedgerError:
    """The refusal of a salt that can't be used, with what to do about it."""
    return LedgerError(
        f"The salt {path} must be the one that was made for this dataset, as the noise of two salts could be "
        f"averaged away, but {what}. Nothing is made with another salt. Restore the whole ledger folder from "
        "a backup. If there is none, only a dataset of another name gets a new salt. Give another name if no "
        "output of the old salt was ever shared, or if you accept that old and new outputs "
        "together tell more."
    )
