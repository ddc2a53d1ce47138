"""Work that goes on where an earlier run stopped: what is done for each part is kept until all is done.

Workers, a store and a secret go in, workers come out that skip what is done. What is kept is signed: nothing
is loaded that somebody without the secret wrote to the store.
"""

import hashlib
import hmac
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import Workers

P = TypeVar("P")
R = TypeVar("R")
_MADE, _SIGNATURE = "made.pickle", "signature"


@dataclass(frozen=True)
class _Shelf:
    """Where what is done is kept, and the secret that signs it."""

    store: PartStore
    secret: bytes = field(repr=False)

    def put(self, key: str, made: object) -> None:
        """Keep what a part gave."""
        body = pickle.dumps(made)

        def write(folder: Path) -> None:
            (folder / _MADE).write_bytes(body)
            (folder / _SIGNATURE).write_text(self._signed(key, body))

        self.store.put(key, write)

    def find(self, key: str) -> tuple[Any] | None:
        """What a part gave, alone in a tuple; None where it is not done."""
        found = self.store.find(key)
        if found is None:
            return None
        with found.folder() as folder:
            body = (folder / _MADE).read_bytes()
            signature = (folder / _SIGNATURE).read_bytes()
        is_ours = hmac.compare_digest(signature, self._signed(key, body).encode())
        return (pickle.loads(body),) if is_ours else None

    def _signed(self, key: str, body: bytes) -> str:
        return hmac.new(self.secret, key.encode() + b"\0" + body, hashlib.sha256).hexdigest()


class KeptWork(Workers):
    """Workers who keep what they have done, each kind of work by its name.

    >>> import tempfile
    >>> from tasks.core.parts.workers import InProcess
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = KeptWork(InProcess(), PartStore(folder), "run", b"secret")
    ...     _ = list(first.each("count", len, ["Lyon", "Lille"]))
    ...     list(first.each("count", int, ["Lyon", "Lille"]))  # done already
    [4, 5]
    """

    def __init__(self, workers: Workers, store: PartStore, prefix: str, secret: bytes) -> None:
        """Keep work.

        Args:
            workers: who work.
            store: where it is kept.
            prefix: of its keys: one for each job, since parts are known by their number.
            secret: signs it.
        """
        self._workers, self._prefix, self._shelf = workers, prefix, _Shelf(store, secret)

    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        """See `Workers`."""
        keys = [f"{self._prefix}/{name}/{place}" for place in range(len(parts))]
        known = {key: self._shelf.find(key) for key in keys}
        left = [(key, part) for key, part in zip(keys, parts, strict=True) if known[key] is None]
        doing = self._workers.each(name, partial(_do_and_keep, self._shelf, work), left)
        for key in keys:
            made = known[key]
            yield next(doing) if made is None else made[0]

    def forget(self) -> None:
        """Remove all that is kept: the job is done."""
        self._shelf.store.remove(self._prefix)


def _do_and_keep(shelf: _Shelf, work: Callable[[P], R], keyed: tuple[str, P]) -> R:
    key, part = keyed
    made = work(part)
    shelf.put(key, made)
    return made
