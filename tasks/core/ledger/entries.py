"""The chain: stored rows go in, verified entries come out; a new body goes in, the next entry comes out.

An entry's body is canonical JSON. It carries its place, its time and the hash of the entry before it,
and is hashed as a whole, so no entry can be changed, moved or taken out without breaking all that
follow. Only cutting off the end keeps the chain whole: that is what a recorded *head* witnesses.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import LedgerError

#: What the first entry names as the hash before it.
BEGINNING = "0" * 64

Body = Mapping[str, object]


@dataclass(frozen=True)
class Entry:
    """One entry as it stands in the chain.

    Attributes:
        seq: its place, from 1.
        sha256: hash of its body's text: the *head* of the ledger while this entry is the last.
        body: everything it says, ``seq`` and ``prev`` included.
    """

    seq: int
    sha256: str
    body: Body

    @property
    def phase(self) -> str:
        """What it records: ``open``, ``register``, ``lower``, ``raise``, ``reserve``, ``drawing``..."""
        return str(self.body["phase"])

    def text(self, key: str) -> str:
        """One of its values as text."""
        return str(self.body[key])


def following(entries: list[Entry], content: Body) -> Entry:
    """The entry that says ``content`` after these.

    >>> chain = [following([], {"phase": "open"})]
    >>> chain.append(following(chain, {"phase": "register", "dataset": "patients"}))
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


@dataclass(frozen=True)
class Whereabouts:
    """Where a ledger is, for messages.

    Attributes:
        name: the path of a folder, or the address of a database without who opens it.
        kind: ``folder`` or ``database``; of an export ``file``.
    """

    name: str
    kind: str


def verified(rows: Iterable[tuple[int, str, str]], place: Whereabouts) -> list[Entry]:
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
            raise broken(place, f"entry {expected} is not the one that was written")
        entries.append(Entry(seq=seq, sha256=digest, body=body))
        before = digest
    if not entries or entries[0].phase != "open":
        raise broken(place, "its first entry is missing")
    return entries


def _body(text: str) -> dict[str, object]:
    try:
        body = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return body if isinstance(body, dict) and isinstance(body.get("phase"), str) else {}


def broken(place: Whereabouts, what: str) -> LedgerError:
    """The refusal of a damaged ledger, or of a file of its entries, with what to do about it."""
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
    """Exclusive use of a ledger: what it holds, and what is to be added when the use ends.

    Attributes:
        entries: all entries, verified, with those appended here.
        appended: entries that are not stored yet.
    """

    entries: list[Entry]
    appended: list[Entry] = field(default_factory=list)

    def append(self, content: Body) -> Entry:
        """Add an entry; it is durable once the transaction has ended without an error."""
        entry = following(self.entries, content)
        self.entries.append(entry)
        self.appended.append(entry)
        return entry
