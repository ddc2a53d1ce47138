"""Who works on parts: a function and parts go in, what it gives for each comes out, in the parts' order.

Where the work is done, in this process or on a cluster, nobody here knows. So the function is one of a
module (or a `functools.partial` of one), and what it takes and gives can be sent. It may be called twice for
a part, where a machine is lost: it gives the same again. `KeptWork` goes on where an earlier run stopped.
"""

import hashlib
import hmac
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tasks.core.arrays import Integers, ShareDone
from tasks.core.errors import InternalError
from tasks.core.parts.store import PartStore

P = TypeVar("P")
R = TypeVar("R")
#: Whole numbers of one part, or of all: an array a question.
Counts = list[Integers]
#: Numbers are added up where they are counted, so that no more answers than these come to one place.
_MOST_ANSWERS = 64


class Workers(Protocol):
    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        """What the work gives for each part, in their order; the work's own errors come through.

        Args:
            name: of the work, for who watches: a word or two.
            work: can be sent, as its parts; gives the same for the same part.
        """


@dataclass(frozen=True)
class InProcess(Workers):
    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        return map(work, parts)


def total(workers: Workers, name: str, work: Callable[[P], Counts], parts: Sequence[P]) -> Counts:
    """The sums of whole numbers that are counted in each part: the same, however parts are grouped.

    >>> import numpy as np
    >>> total(InProcess(), "count", lambda town: [np.array([len(town)])], ["Lyon", "Lille"])
    [array([9])]
    """
    return _add_up(each_group(workers, name, partial(_count_group, work), parts))


def each_group(
    workers: Workers,
    name: str,
    work: Callable[[Sequence[P]], R],
    parts: Sequence[P],
    report: ShareDone = lambda share: None,
) -> Iterator[R]:
    """What the work gives for each group of parts, neighbours together: at most `_MOST_ANSWERS` of them.

    >>> list(each_group(InProcess(), "count", len, range(130)))[:2]
    [3, 3]

    Raises:
        InternalError: a group was answered twice or never, so that a sum would not be that of the parts.
    """
    size = max(1, -(-len(parts) // _MOST_ANSWERS))
    groups = [parts[start : start + size] for start in range(0, len(parts), size)]
    taken = 0
    for answer in workers.each(name, work, groups):
        taken += 1
        if taken > len(groups):
            break
        yield answer
        report(taken / len(groups))
    if taken != len(groups):
        raise InternalError("Each group of parts must be answered once.")


def _count_group(work: Callable[[P], Counts], group: Sequence[P]) -> Counts:
    return _add_up(map(work, group))


def _add_up(answers: Iterator[Counts]) -> Counts:
    sums = [counts.copy() for counts in next(answers)]
    for counts in answers:
        for sum_, one in zip(sums, counts, strict=True):
            sum_ += one
    return sums


_MADE, _SIGNATURE = "made.pickle", "signature"


@dataclass(frozen=True)
class _Shelf:
    store: PartStore
    secret: bytes = field(repr=False)

    def put(self, key: str, made: object) -> None:
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
    """Workers who keep what they have done, each kind of work by its name, until all is done.

    What is kept is signed: nothing is loaded that somebody without the secret wrote to the store.
    """

    def __init__(self, workers: Workers, store: PartStore, prefix: str, secret: bytes) -> None:
        """Args: prefix: of the keys, one for each job: parts are known by their number."""
        self._workers, self._prefix, self._shelf = workers, prefix, _Shelf(store, secret)

    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        keys = [f"{self._prefix}/{name}/{place}" for place in range(len(parts))]
        known = {key: self._shelf.find(key) for key in keys}
        left = [(key, part) for key, part in zip(keys, parts, strict=True) if known[key] is None]
        doing = self._workers.each(name, partial(_do_and_keep, self._shelf, work), left)
        for key in keys:
            made = known[key]
            yield next(doing) if made is None else made[0]

    def forget(self) -> None:
        self._shelf.store.remove(self._prefix)


def _do_and_keep(shelf: _Shelf, work: Callable[[P], R], keyed: tuple[str, P]) -> R:
    key, part = keyed
    made = work(part)
    shelf.put(key, made)
    return made
