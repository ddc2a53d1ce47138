"""What a contract's constraints say of one record, read literally, and random contracts to try them on."""

import itertools

from hypothesis import strategies as st

from tasks.core.contracts.contract import (
    Contract,
    ContractColumn,
    FunctionalDependency,
    StructuralZero,
    ValueOrdering,
)
from tasks.core.records.columns import Column, Schema, bin_labels

EDGES = (0.0, 10.0, 20.0, 30.0)
BINS = bin_labels(EDGES)
COLUMNS = (
    Column("work", domain=("employed", "retired", "student")),
    Column("home", domain=("flat", "house", "none"), other="none"),
    Column("started", domain=BINS, bins=EDGES),
    Column("ended", domain=BINS, bins=EDGES),
    Column("town"),
    Column("tongue", domain=("arabic", "basque", "czech"), delimiter=";", max_items=2),
    Column("area", domain=("north", "south")),
)
TOWNS = ("Deal", "Ely", "Rye")
VALUES = {column.name: column.domain or TOWNS for column in COLUMNS}
SCHEMA = Schema(COLUMNS)


def points(label):
    """Numbers of a bin, its ends among them where they belong to it."""
    tried = [*EDGES, *(edge + step for edge in EDGES for step in (-5, -0.5, 0.5, 5))]
    place = BINS.index(label)

    def inside(x):
        if x > EDGES[-1]:
            return len(BINS) - 1
        return 3 if x == EDGES[-1] else sum(x >= edge for edge in EDGES)

    return [x for x in tried if inside(x) == place]


def broken(contract, record):
    """The constraints that a record breaks. ``record``: by column the set of its texts, none if absent."""
    found = []
    for zero in contract.structural_zeros:
        met = []
        for name, listed in zero.values.items():
            held = record[name] or {""}
            if name in zero.excluded:
                met.append(any(text != "" and text not in listed for text in held))
            else:
                met.append(any(text in listed for text in held))
        if all(met):
            found.append(zero)
    for ordering in contract.orderings:
        for lower, higher in itertools.combinations(ordering.columns, 2):
            for one, other in itertools.product(record[lower], record[higher]):
                pairs = itertools.product(points(one), points(other))
                if not any(x < y or (x == y and not ordering.strict) for x, y in pairs):
                    found.append(ordering)
    found += [names for names in contract.empty_together if len({bool(record[name]) for name in names}) > 1]
    found += [
        one for one in contract.exactly_one if sum(one.value in record[name] for name in one.columns) != 1
    ]
    for dependency in contract.functional_dependencies:
        (of,) = record[dependency.determinants[0]] or {""}
        wanted = dependency.values.get(of, dependency.otherwise or "")
        if record[dependency.dependent] != ({wanted} if wanted else set()):
            found.append(dependency)
    return found


@st.composite
def contracts(draw):
    """A contract over `COLUMNS` with some constraints, which may be too many to be held."""
    names = [column.name for column in COLUMNS if column.name != "area"]
    zeros = []
    for _ in range(draw(st.integers(0, 5))):
        chosen = draw(st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True))
        values = {
            name: tuple(
                draw(st.lists(st.sampled_from(("", *VALUES[name])), min_size=1, max_size=2, unique=True))
            )
            for name in chosen
        }
        excluded = tuple(name for name in chosen if draw(st.integers(0, 3)) == 0)
        zeros.append(StructuralZero(values=values, excluded=excluded))
    orderings = ()
    if draw(st.booleans()):
        orderings = (ValueOrdering(columns=("started", "ended"), strict=draw(st.booleans())),)
    dependencies = ()
    if draw(st.booleans()):
        of = draw(st.sampled_from(["work", "town"]))
        follows = {value: draw(st.sampled_from(["", "north", "south"])) for value in VALUES[of][:2]}
        otherwise = draw(st.sampled_from([None, "north", "south"]))
        dependencies = (
            FunctionalDependency(determinants=(of,), dependent="area", values=follows, otherwise=otherwise),
        )
        if draw(st.booleans()):
            zeros.append(StructuralZero(values={"area": ("north",), "home": ("flat",)}))
    together = draw(st.lists(st.permutations(names).map(lambda found: tuple(found[:3])), max_size=1))
    repair = draw(st.sampled_from([None, "student"]))
    return plain_contract(repair, tuple(zeros), dependencies, orderings, tuple(together))


def plain_contract(
    repair=None,
    structural_zeros=(),
    functional_dependencies=(),
    orderings=(),
    empty_together=(),
    exactly_one=(),
):
    """A contract that describes `COLUMNS`. ``repair``: of work."""
    described = tuple(
        ContractColumn(
            name=column.name,
            logical_type="number" if column.bins else "string",
            repair=repair if column.name == "work" else None,
        )
        for column in COLUMNS
    )
    return contract_on(
        described, structural_zeros=structural_zeros, orderings=orderings,
        functional_dependencies=functional_dependencies,
        empty_together=empty_together, exactly_one=exactly_one,
    )  # fmt: skip


def contract_on(columns, **constraints):
    """A contract of these columns and nothing else."""
    about = {"id": "c", "name": "c", "version": "1", "status": "active", "table": "t", "subject_id": None}
    return Contract(**about, columns=columns, **constraints)


def contract_of_dates(*names, **constraints):
    return contract_on(tuple(ContractColumn(name=name, logical_type="date") for name in names), **constraints)
