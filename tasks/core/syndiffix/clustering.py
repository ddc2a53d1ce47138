"""What ``clustering`` may say: which columns are synthesized together, in one vocabulary by names of columns.

In: the value of a configuration's key, of a call's argument or of ``--clustering``. Out: whether it is one,
its names in another spelling, and clusters of column ids.

    "default"                              found out by how the columns depend on each other
    "one"                                  all of them together
    "none"                                 each alone, rows paired at random
    {"target": "income"}                   the target is with the columns that predict it
    [["age", "town"], ["town", "income"]]  by hand: each further list is stitched to the table of those before
                                           by the columns that both have
    {"columns": [...], "owner": "left"}    a further list whose shared columns are not taken by turns
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster, StitchOwner

Word = Literal["default", "one", "none"]
#: How columns are divided: by a word, for a target, or by lists.
Way = Literal["default", "one", "none", "target", "lists"]


#: A list of columns; a further one may say whose values of the shared columns are kept.
Listed = tuple[str, ...] | dict[str, Any]
Clustering = Word | dict[str, str] | tuple[Listed, ...]
_WORDS = get_args(Word)
_FORMS = (
    "must be 'default', 'one', 'none', {\"target\": column} or a list of lists of columns such as "
    '[["age", "town"], ["town", "income"]]'
)


def clustering_problem(value: object) -> str:
    """Why a value is no clustering, to follow a name; empty where it is one. It shows nothing of the value.

    >>> clustering_problem([["age", "town"], ["town", "income"]])
    ''
    """
    if isinstance(value, str):
        return "" if value in _WORDS else _FORMS
    if isinstance(value, Mapping):
        return "" if list(value) == ["target"] and isinstance(value["target"], str) else _FORMS
    if not isinstance(value, list | tuple) or not value:
        return _FORMS
    for number, item in enumerate(value, 1):
        if isinstance(item, Mapping):
            if number == 1:
                return "must begin with a list of columns: nothing is there yet that it could be stitched to"
            if set(item) != {"columns", "owner"} or item["owner"] not in get_args(StitchOwner):
                return (
                    f"must have in list {number} names of columns, or such as "
                    '{"columns": ["town", "income"], "owner": "left"} (or right, or shared)'
                )
        columns = _columns(item)
        if (
            not isinstance(columns, list | tuple)
            or not columns
            or not all(isinstance(c, str) for c in columns)
        ):
            return f"must have in list {number} names of columns"
    return ""


def _columns(item: Any) -> Any:
    return item["columns"] if isinstance(item, Mapping) else item


def way_of(value: Clustering) -> Way:
    """How columns are divided."""
    if isinstance(value, str):
        return value
    return "target" if isinstance(value, Mapping) else "lists"


def target_of(value: Clustering) -> str | None:
    """The column that is to be predicted, if any."""
    return value["target"] if isinstance(value, Mapping) else None


def written(value: Clustering) -> str:
    """A value as it is typed: a word as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_clustering(text: str) -> Clustering:
    """What `written` wrote, or a person. Raises ParameterError.

    >>> read_clustering('[["age", "town"], ["town", "income"]]')
    (('age', 'town'), ('town', 'income'))
    """
    value: Any = text
    if text.lstrip().startswith(("{", "[")):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise ParameterError("clustering must be valid JSON, and is not: correct it.") from None
    if problem := clustering_problem(value):
        raise ParameterError(f"clustering {problem}.")
    return with_names(value, str)


def named_in(value: Clustering) -> Iterator[str]:
    """Every column that is named, as often as it is."""
    if isinstance(value, Mapping):
        yield value["target"]
    elif not isinstance(value, str):
        for item in value:
            yield from _columns(item)


def with_names(value: Clustering, spelled: Callable[[str], str]) -> Clustering:
    """The same with each name of a column in another spelling; lists become tuples."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {"target": spelled(value["target"])}
    return tuple(
        {"columns": tuple(map(spelled, item["columns"])), "owner": item["owner"]}
        if isinstance(item, Mapping)
        else tuple(map(spelled, item))
        for item in value
    )


def lists_of(clusters: Clusters, columns: Sequence[str]) -> Clustering:
    """Clusters of ids as lists of names. Args: columns: the selected ones.

    >>> lists_of(Clusters((0, 1), (DerivedCluster("shared", (1,), (2,)),)), ["age", "town", "income"])
    (('age', 'town'), ('town', 'income'))
    """

    def names(ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(columns[number] for number in ids)

    further: list[Listed] = [
        names(each.columns)
        if each.owner == "shared"
        else {"columns": names(each.columns), "owner": each.owner}
        for each in clusters.derived
    ]
    return (names(clusters.initial), *further)


@dataclass(frozen=True)
class ListedClusters:
    """Clusters by names. Attributes: lists: of columns, the first as the table begins."""

    lists: tuple[Listed, ...]

    def of(self, columns: Sequence[str]) -> Clusters:
        """Clusters of the ids of the selected columns.

        Raises:
            ParameterError: a list names another column, or one twice, or adds none; or one is in no list.

        >>> ListedClusters((("age", "town"), ("town", "income"))).of(["age", "town", "income"])
        Clusters(initial=(0, 1), derived=(DerivedCluster(owner='shared', stitch=(1,), derived=(2,)),))
        """
        if problems := [*self._problems(columns)]:
            raise ParameterError(problems)
        ids = [tuple(columns.index(name) for name in _columns(item)) for item in self.lists]
        there, derived = set(ids[0]), []
        for item, own in zip(self.lists[1:], ids[1:], strict=True):
            owner: StitchOwner = item["owner"] if isinstance(item, Mapping) else "shared"
            stitch = tuple(number for number in own if number in there)
            derived.append(DerivedCluster(owner, stitch, tuple(n for n in own if n not in there)))
            there.update(own)
        return Clusters(ids[0], tuple(derived))

    def _problems(self, columns: Sequence[str]) -> Iterator[str]:
        there: set[str] = set()
        for number, item in enumerate(self.lists, 1):
            names = _columns(item)
            which = f"clustering: list {number} must"
            for name in dict.fromkeys(names):
                if name not in columns:
                    yield f"{which} name selected columns, and {name!r} is not one: select it, or correct it."
            if len(set(names)) < len(names):
                yield f"{which} name each column once: remove what repeats."
            if set(names) <= there:
                yield f"{which} add a column to those before, and adds none: remove it, or put it earlier."
            there.update(names)
        if missing := [str(place) for place, name in enumerate(columns, 1) if name not in there]:
            yield (
                f"clustering must have every selected column in a list, and {', '.join(missing)} of "
                f"{len(columns)} (counted from 1) {'is' if len(missing) == 1 else 'are'} in none: add "
                f"{'it' if len(missing) == 1 else 'them'} to one, or select fewer columns."
            )
