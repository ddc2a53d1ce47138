"""The head of the chain in a file of its own: the last entry goes in, whether the chain was cut comes out.

A chain whose last entries were taken out is still a whole chain. So its last place and hash are kept a second
time, beside it. A chain that does not hold them was cut, or replaced by an older copy.

<ledger>/head.json      0600: the place and the hash of the last entry
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from tasks.core.ledger import place
from tasks.core.ledger.entries import Entry, Whereabouts, broken

_NAME = "head.json"
_DRAFT = ".head.part"


@dataclass(frozen=True)
class Head:
    """The last entry of a chain, as it was noted."""

    seq: int
    sha256: str

    @classmethod
    def of(cls, entry: Entry) -> "Head":
        """Of an entry."""
        return cls(entry.seq, entry.sha256)


def read_head(folder: Path, of: Whereabouts | None = None) -> Head | None:
    """The head that was noted; None where there is no file.

    Args:
        folder: where the file is.
        of: the ledger; None: it is in that folder.

    Raises:
        LedgerError: the file is damaged, or open to others.
    """
    path = folder / _NAME
    try:
        place.check_private(path)
        body = json.loads(path.read_text(encoding="utf-8"))
        return Head(int(body["seq"]), str(body["sha256"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        raise broken(
            of or Whereabouts(str(folder), "folder"), f"the file {_NAME}, which keeps its head, is damaged"
        ) from None


def require_whole(entries: list[Entry], head: Head | None, of: Whereabouts, folder: Path) -> None:
    """Refuse a chain that does not hold the head that was noted before it was read; None: none was noted.

    Raises:
        LedgerError: it was cut or replaced.
    """
    if head is None:
        return
    if not 0 < head.seq <= len(entries) or entries[head.seq - 1].sha256 != head.sha256:
        raise broken(
            of,
            f"the head that {folder / _NAME} keeps is not in it: it was cut short, or is an older copy or "
            "another ledger",
        )


def draft_head(folder: Path, entry: Entry) -> Path:
    """Write the next head under another name, durable: a full disk stops here, before the chain grows."""
    draft = folder / _DRAFT
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(Head.of(entry)), sort_keys=True) + "\n")
        file.flush()
        os.fsync(descriptor)
    return draft


def keep_head(draft: Path) -> None:
    """Give a draft its name. Whoever dies before it leaves a head that is still in the chain."""
    draft.rename(draft.with_name(_NAME))
    place.sync(draft.parent)
