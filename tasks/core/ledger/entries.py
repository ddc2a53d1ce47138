"""The chain: stored rows go in, verified entries come out; a new body goes in, the next entry comes out.

An entry's body is canonical JSON. It carries its place, its time and the hash of the entry before it,
and is hashed as a whole, so no entry can be changed, moved or taken out without breaking all that
follow. Only cutting off the end keeps the chain whole: that is what a recorded *head* witnesses.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, cast

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import LedgerError
from tasks.core.ledger.place import check_private, sync

#: What the first entry names as the hash before it.
BEGINNING = "0" * 64

Body = Mapping[str, object]

#: All kinds of entries: `account.FOLLOWING` says what may follow in a release.
Phase = Literal[
    "open",  # the first entry: the ledger's own name
    "register",  # a dataset's caps and unit
    "lower",
    "raise",
    "reserve",  # a release is charged
    "drawing",  # its noise may be seen from now on
    "commit",  # its measurement is kept
    "void",  # no noise was drawn
    "lost",
    "table",  # whose table a budget was used for
    "apart",  # in words, that the people of a dataset are others
    "subject",  # by which column a budget tells its subjects apart
    "unchanged",  # whether unchanged tables are released
    "stopped",  # a run that its table stopped
    "salt",  # a salt of SynDiffix's noise was made
    "salted table",  # whose table it was used for
]


@dataclass(frozen=True)
class Entry:
    """One entry as it stands in the chain.

    Attributes:
        seq: its place, from 1.
        sha256: hash of its body's text: the *head* of the ledger while this entry is the last.
    """

    seq: int
    sha256: str
    body: Body

    @property
    def phase(self) -> Phase:
        return cast(Phase, str(self.body["phase"]))

    def text(self, key: str) -> str:
        return str(self.body[key])


def make_next_entry(entries: list[Entry], content: Body) -> Entry:
    """The entry that says ``content`` after these.

    >>> chain = [make_next_entry([], {"phase": "open"})]
    >>> chain.append(make_next_entry(chain, {"phase": "register", "dataset": "patients"}))
    >>> chain[1].seq, chain[1].body["prev"] == chain[0].sha256
    (2, True)
    """
    body: dict[str, object] = {
        **content,
        "seq": len(entries) + 1,
        "t": datetime.now(UTC).isoformat(timespec="seconds"),
        "prev": entries[-1].sha256 if entries else BEGINNING,
    }
    return Entry(seq=len(entries) + 1, sha256=sha256_of(canonical(body)), body=body)


class Whereabouts(NamedTuple):
    """Where a ledger is, for messages.

    Attributes:
        name: the path of a folder, or the address of a database without who opens it.
    """

    name: str
    kind: Literal["folder", "database", "file"]  # a file is an export


def verify_chain(rows: Iterable[tuple[int, str, str]], place: Whereabouts) -> list[Entry]:
    """Entries of the stored rows (seq, body, sha256), in order.

    Raises:
        LedgerError: the chain is broken anywhere, or there is no first entry.
    """
    entries: list[Entry] = []
    before = BEGINNING
    for expected, (seq, text, digest) in enumerate(rows, start=1):
        body = _body(text)
        if (
            seq != expected
            or digest != sha256_of(text)
            or body.get("seq") != seq
            or body.get("prev") != before
        ):
            raise damage_error(place, f"entry {expected} is not the one that was written")
        entries.append(Entry(seq=seq, sha256=digest, body=body))
        before = digest
    if not entries or entries[0].phase != "open":
        raise damage_error(place, "its first entry is missing")
    return entries


def _body(text: str) -> dict[str, object]:
    try:
        body = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return body if isinstance(body, dict) and isinstance(body.get("phase"), str) else {}


def damage_error(place: Whereabouts, what: str) -> LedgerError:
    if place.kind == "file":
        return LedgerError(
            f"The entries in {place.name} must be whole and allowed, but {what}. Don't rely on this file. "
            "Ask for another export, and have the ledger itself verified (marginalia ledger)."
        )
    return LedgerError(
        f"The ledger in {place.name} must be whole, as nothing else knows what was spent, but {what}. No "
        f"release is drawn from it. Restore the {place.kind} from a backup that holds every release made so "
        f"far. If there is none, start a new ledger in another {place.kind} (MARGINALIA_LEDGER). Register "
        "each dataset there with what is left of its cap after all that was ever released, and say so in "
        "--population."
    )


@dataclass
class Transaction:
    """Exclusive use of a ledger: what it holds, and what is to be added when the use ends."""

    entries: list[Entry]  # with those appended here
    appended: list[Entry] = field(default_factory=list)

    def append(self, content: Body) -> Entry:
        """Add an entry; it is durable once the transaction has ended without an error."""
        entry = make_next_entry(self.entries, content)
        self.entries.append(entry)
        self.appended.append(entry)
        return entry


_NAME = "head.json"
_DRAFT = ".head.part"


class Head(NamedTuple):
    """The last entry of a chain, as a file beside it has it (head.json, 0600).

    A chain whose last entries were taken out is still a whole chain. One that does not hold this entry was
    cut, or replaced by an older copy.
    """

    seq: int
    sha256: str


def read_head(folder: Path, of: Whereabouts) -> Head | None:
    """The head that was noted; None where there is no file.

    Raises:
        LedgerError: the file is damaged, or open to others.
    """
    path = folder / _NAME
    try:
        check_private(path)
        body = json.loads(path.read_text(encoding="utf-8"))
        return Head(int(body["seq"]), str(body["sha256"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        raise damage_error(of, f"the file {_NAME}, which keeps its head, is damaged") from None


def require_whole(entries: list[Entry], head: Head, of: Whereabouts, folder: Path) -> None:
    """Refuse a chain without the head that was noted before it was read: it was cut or replaced."""
    if not 0 < head.seq <= len(entries) or entries[head.seq - 1].sha256 != head.sha256:
        raise damage_error(
            of,
            f"the head that {folder / _NAME} keeps is not in it: it was cut short, or is an older copy or "
            "another ledger",
        )


def draft_head(folder: Path, entry: Entry) -> Path:
    """Write the next head under another name, durable: a full disk stops here, before the chain grows."""
    draft = folder / _DRAFT
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps({"seq": entry.seq, "sha256": entry.sha256}) + "\n")
        file.flush()
        os.fsync(descriptor)
    return draft


def keep_head(draft: Path) -> None:
    """Give a draft its name. Whoever dies before it leaves a head that is still in the chain."""
    draft.rename(draft.with_name(_NAME))
    sync(draft.parent)
