"""Which columns are synthesized together, and by which columns each cluster is stitched on (X1.2, X3.5).

In: the value of ``clustering`` (a configuration's key, a call's argument, an option), or the JSON of
``--clusters``. A column's id is its position among the selected columns.

    "default"                              found out by how the columns depend on each other
    "one"                                  all of them together
    "none"                                 each alone, rows paired at random
    {"target": "income"}                   the target is with the columns that predict it
    [["age", "town"], ["town", "income"]]  by hand: each further list is stitched to the table of those before
                                           by the columns that both have
    {"columns": [...], "owner": "left"}    a further list whose shared columns are not taken by turns
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from tasks.core.errors import ParameterError
from tasks.core.hints import show_path

StitchOwner = Literal["left", "right", "shared"]
_OWNERS = get_args(StitchOwner)
_DERIVED_KEYS = {"StitchOwner", "StitchColumns", "DerivedColumns"}
_KEYS = {"InitialCluster", "DerivedClusters"}
_EXAMPLE = (
    '{"InitialCluster": [0, 1], "DerivedClusters": '
    '[{"StitchOwner": "shared", "StitchColumns": [0], "DerivedColumns": [2]}]}'
)


@dataclass(frozen=True)
class DerivedCluster:
    """Columns that are added to a table by synthesizing them with columns that the table has.

    Attributes:
        owner: whose values of the stitch columns are kept: the table's (left), this cluster's, or both's.
        stitch: ids of columns that both have; none: rows are paired at random.
    """

    owner: StitchOwner
    stitch: tuple[int, ...]
    derived: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """Ascending, as those of all `Clusters`."""
        return tuple(sorted(self.stitch + self.derived))


@dataclass(frozen=True)
class Clusters:
    """A table's clusters, in the order in which they are put together.

    Raises:
        ParameterError: naming every cluster that can't be carried out, from 1 for the first derived one.
    """

    initial: tuple[int, ...]
    derived: tuple[DerivedCluster, ...] = ()

    def __post_init__(self) -> None:
        problems = _set_problems("The initial cluster", self.initial, least=1)
        available = set(self.initial)
        for number, cluster in enumerate(self.derived, 1):
            problems += _derived_problems(f"Derived cluster {number}", cluster, available)
            available.update(cluster.derived)
        if problems:
            raise ParameterError(problems)

    @property
    def columns(self) -> tuple[int, ...]:
        added = (column for cluster in self.derived for column in cluster.derived)
        return tuple(sorted((*self.initial, *added)))

    @property
    def combinations(self) -> list[tuple[int, ...]]:
        """The columns of each cluster, ascending: the initial one's, then the derived ones'."""
        return [tuple(sorted(self.initial)), *(each.columns for each in self.derived)]

    def require_all(self, count: int) -> "Clusters":
        """Itself, if its columns are all of the ``count`` selected ones; else a ParameterError."""
        problems = []
        if unknown := sorted(set(self.columns) - set(range(count))):
            problems.append(
                f"Clusters may name columns 0 to {count - 1} (their place in the list of columns), not "
                f"{_listed(unknown)}: correct these."
            )
        if missing := sorted(set(range(count)) - set(self.columns)):
            problems.append(
                f"Clusters must contain every selected column, and {_listed(missing)} (counted from 0) are "
                "in none: add them to a cluster or select fewer columns."
            )
        if problems:
            raise ParameterError(problems)
        return self

    def simplified(self) -> "Clusters":
        """The same with each first derived cluster that shares the whole initial one made part of it.

        Both are synthesized over the union of their columns anyway: to stitch what is left of the initial
        cluster on would only blur it.

        >>> Clusters((0,), (DerivedCluster("shared", stitch=(0,), derived=(1,)),)).simplified()
        Clusters(initial=(0, 1), derived=())
        """
        initial, derived = self.initial, self.derived
        while derived and derived[0].owner == "shared" and set(derived[0].stitch) == set(initial):
            initial, derived = derived[0].columns, derived[1:]
        return Clusters(initial, derived)


def one_cluster(count: int) -> Clusters:
    return Clusters(tuple(range(count)))


def separate_clusters(count: int) -> Clusters:
    return Clusters((0,), tuple(DerivedCluster("shared", (), (column,)) for column in range(1, count)))


def read_clusters(text: str) -> Clusters:
    """Clusters from the JSON of ``--clusters``, or from the file that it names.

    >>> given = '{"StitchOwner": "left", "StitchColumns": [0], "DerivedColumns": [2]}'
    >>> read_clusters('{"InitialCluster": [0, 1], "DerivedClusters": [' + given + "]}").combinations
    [(0, 1), (0, 2)]

    Raises:
        ParameterError: no such file, no such JSON, or clusters that can't be carried out.
    """
    content = text if text.lstrip().startswith(("{", "[")) else _read_file(text)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        where = (
            f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise ParameterError(
            f"Clusters must be valid JSON, and these are not{where}: correct them."
        ) from None
    if not isinstance(value, dict):
        raise ParameterError(
            f"Clusters must be an object of JSON, not another value: give such as {_EXAMPLE}."
        )
    entries = _entries("Clusters", value, _KEYS, {"DerivedClusters": []})
    derived = entries["DerivedClusters"]
    if not isinstance(derived, list):
        raise ParameterError("DerivedClusters must be a list: give [] for none.")
    return Clusters(
        _ids("InitialCluster", entries["InitialCluster"]),
        tuple(_read_derived(f"Derived cluster {number}", item) for number, item in enumerate(derived, 1)),
    )


def write_clusters(clusters: Clusters) -> str:
    derived = [
        {"StitchOwner": c.owner, "StitchColumns": list(c.stitch), "DerivedColumns": list(c.derived)}
        for c in clusters.derived
    ]
    return json.dumps({"InitialCluster": list(clusters.initial), "DerivedClusters": derived})


def _read_file(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except (OSError, ValueError):  # ValueError: not UTF-8, or a name that no file can have
        raise ParameterError(
            "Clusters must be JSON that begins with { or the name of a readable UTF-8 file, and there is no "
            f"such file as {show_path(Path(name))!r}: correct the name."
        ) from None


def _read_derived(which: str, value: object) -> DerivedCluster:
    entries = _entries(which, value, _DERIVED_KEYS, {"StitchColumns": []})
    owner = entries["StitchOwner"]
    for known in _OWNERS:
        if isinstance(owner, str) and owner.lower() == known:
            stitch = _ids(f"{which}: StitchColumns", entries["StitchColumns"])
            return DerivedCluster(known, stitch, _ids(f"{which}: DerivedColumns", entries["DerivedColumns"]))
    raise ParameterError(f"{which}: StitchOwner must be left, right or shared: give one of these.")


def _entries(which: str, value: object, keys: set[str], defaults: dict[str, object]) -> dict[str, object]:
    required = keys - set(defaults)
    if not isinstance(value, dict) or not required <= set(value) <= keys:
        raise ParameterError(
            f"{which} must be an object with {', '.join(sorted(required))} (optional: "
            f"{', '.join(sorted(defaults))}) and nothing else: correct its keys."
        )
    return {**defaults, **value}


def _ids(which: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise ParameterError(
            f"{which} must be a list of column numbers, counted from 0 among the selected columns, "
            "not of names: give such as [0, 2]."
        )
    return tuple(value)


def _set_problems(which: str, columns: tuple[int, ...], least: int) -> list[str]:
    if len(columns) >= least and len(set(columns)) == len(columns) and min(columns, default=0) >= 0:
        return []
    what = "at least one column" if least else "columns"
    given = f"[{_listed(columns)}]"
    return [f"{which} must hold {what}, each once and counted from 0, not {given}: correct its list."]


def _derived_problems(which: str, cluster: DerivedCluster, available: set[int]) -> list[str]:
    problems = _set_problems(f"{which} (derived columns)", cluster.derived, least=1)
    problems += _set_problems(f"{which} (stitch columns)", cluster.stitch, least=0)
    if cluster.owner not in _OWNERS:
        problems.append(f"{which}: its owner must be left, right or shared, not {cluster.owner}: give one.")
    if absent := sorted(set(cluster.stitch) - available):
        problems.append(
            f"{which} must be stitched on columns of earlier clusters, and {_listed(absent)} are in none: "
            "move it behind theirs."
        )
    if repeated := sorted(set(cluster.derived) & available):
        problems.append(
            f"{which} must derive columns that no earlier cluster has, and {_listed(repeated)} are in one: "
            "name them as stitch columns or leave them out."
        )
    return problems


def _listed(columns: Iterable[int]) -> str:
    return ", ".join(map(str, columns))


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
    if isinstance(value, str):
        return value
    return "target" if isinstance(value, Mapping) else "lists"


def target_of(value: Clustering) -> str | None:
    return value["target"] if isinstance(value, Mapping) else None


def clustering_text(value: Clustering) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_clustering(text: str) -> Clustering:
    """What `clustering_text` wrote, or a person. Raises ParameterError.

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
    return respell_columns(value, str)


def named_columns(value: Clustering) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield value["target"]
    elif not isinstance(value, str):
        for item in value:
            yield from _columns(item)


def respell_columns(value: Clustering, spelled: Callable[[str], str]) -> Clustering:
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
    """Clusters of ids as lists of names; ``columns`` are the selected ones.

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
    lists: tuple[Listed, ...]

    def of(self, columns: Sequence[str]) -> Clusters:
        """Clusters of the ids of the selected columns.

        >>> ListedClusters((("age", "town"), ("town", "income"))).of(["age", "town", "income"])
        Clusters(initial=(0, 1), derived=(DerivedCluster(owner='shared', stitch=(1,), derived=(2,)),))

        Raises:
            ParameterError: a list names another column, or one twice, or adds none; or one is in no list.
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
