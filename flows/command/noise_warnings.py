"""What of a release would be noise, told before it is drawn, and what to change (`marginalia check`)."""

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import workload_parameters
from tasks.core.contracts.contract import Contract
from tasks.core.dp.workload.expected import planned_first_length, set_errors
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import ParameterError
from tasks.core.hints import list_some
from tasks.core.records.columns import Column, Schema
from tasks.core.tables.column_names import matching_name
from tasks.plan.estimate import Estimate, LevelEstimate

#: Values of an open column here, where no alarm should be false: a small guess.
_OPEN_VALUES = 10
#: A threshold is too high where only what a larger part of all records share could pass it.
_MOST_SHARED = 1 / 4
#: Epsilons that are tried where the configured one is too small.
_LARGER = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: From so many combinations of one record on it is told what helps where few records hold as many.
_MANY_COMBINATIONS = 1000
#: As many values as a column is left with where fewer are tried, and how many columns are named.
_FEW_VALUES, _MOST_NAMED = 10, 5


@dataclass(frozen=True)
class Drowned:
    """What of a fitted release would be noise.

    Attributes:
        columns: names of single columns whose values' noise exceeds the records.
        sets: of two columns or more whose cells' noise does, by name, the noisiest first.
        threshold: the least noisy count of an open column's value; None where it is low enough.
    """

    columns: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    sets_in_all: int
    threshold: int | None

    @property
    def is_worthless(self) -> bool:
        return bool(self.columns) or self.threshold is not None or 2 * len(self.sets) > self.sets_in_all


def fitted_warnings(configuration: RunConfiguration, schema: Schema, found: Estimate) -> list[str]:
    """What would be worthless in a fitted release, and what to change; nothing where all is well."""
    drowned = _find_drowned(workload_parameters(configuration, schema), schema, found.records)
    problems = list(_describe_drowned(drowned, schema, found))
    if not problems or not drowned.is_worthless:
        return [f"note: {problem}" for problem in problems]
    return [*(f"ATTENTION: {problem}" for problem in problems), _advice(configuration, schema, found.records)]


def dependency_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, found: Estimate
) -> Iterator[str]:
    """What it costs that a column follows from another one and the contract does not say how."""
    places = {matching_name(column.name): place for place, column in enumerate(schema.columns)}
    follows = [
        (places[matching_name(column.name)], places[matching_name(column.seems_to_follow)])
        for column in (contract.columns if contract else ())
        if column.seems_to_follow
        and {matching_name(column.name), matching_name(column.seems_to_follow)} <= {*places}
    ]
    if not follows:
        return
    sizes, records = guessed_sizes(schema, _OPEN_VALUES), max(1, found.records)
    errors = set_errors(workload_parameters(configuration, schema), schema, sizes, records)
    pairs = [columns for columns in errors if len(columns) == 2]
    for decided, source in follows:
        error = errors.get((min(decided, source), max(decided, source)))
        wrong = 1.0 if error is None else error * sizes[source] * (sizes[decided] - 1) / 2 / records
        share = min(max(wrong, 0.001), 1)
        name, determinant = schema.columns[decided].name, schema.columns[source].name
        own = sum(decided in columns for columns in pairs)
        yield (
            f"note: {name} seems to follow from {determinant}, and the contract does not say how. Up to "
            f"about {share:.1%} of the records may then have a {name} that does not go with their "
            f"{determinant}, and {own:,} of {len(pairs):,} pairs of columns are measured for it. Declare how "
            f"it follows (functionalDependencies, or init with --declare {name}), or leave it out "
            "(use_columns)."
        )


def open_notes(opened: list[str], threshold: int | None, found: Estimate) -> list[str]:
    """How many values an open column may have before it would likely be left empty.

    ``threshold``: the least noisy count of a published value; None: none is needed.
    """
    if not opened or threshold is None or threshold > _MOST_SHARED * found.records:  # which is warned of
        return []
    most = found.records // threshold
    return [
        f"note: a value of {list_some(opened)} needs a noisy count of about {threshold:,} to be published. "
        f"Of {_number_of_records(found)} records no more than {most:,} values of one column can have as many."
        " A column of more values that are equally frequent, such as dates by month, would likely be left "
        "empty: a coarser cut, bins, or a list of its values (domains) helps."
    ]


def level_warnings(configuration: RunConfiguration, found: Estimate, width: int) -> list[str]:
    """The same of a release by lengths: what hardly any combination can reach, or where noise exceeds counts.

    ``width``: the most values that a record can hold.
    """
    lost = [level for level in found.levels if _is_lost(level, found.records, width)]
    cure = _advice_on_many_combinations(configuration, found)
    if not lost:
        return [f"note: {cure}"] if cure else []
    shorter = min(level.length for level in lost) - 1
    short = f"reporting_length {shorter} (now {configuration.reporting_length}), " if shorter else ""
    advice = f"{short}a larger epsilon, fewer columns (use_columns), or bins and domains of fewer values"
    warnings = [f"ATTENTION: {_lost_words(level, found)}" for level in lost]
    return [*warnings, f"What helps: {advice}.", *([cure] if cure else [])]


def _advice_on_many_combinations(configuration: RunConfiguration, found: Estimate) -> str:
    most, privacy = (
        max(found.levels, key=lambda level: level.sensitivity, default=None),
        configuration.privacy,
    )
    if most is None or most.sensitivity < _MANY_COMBINATIONS or privacy.contribution == "profile":
        return ""
    profile = '"privacy": {"contribution": "profile"}'
    if privacy.accountant == "zcdp":
        profile += " with the accountant gdp"
    return (
        f"the noise is for records of up to {most.sensitivity:,} combinations of {most.length} values. Where "
        f"most cells are empty, or 0 that stands for absence, {profile} measures how many they hold, and "
        '"synthesis_mode": "fitted" counts fewer combinations: both bring less noise.'
    )


def _find_drowned(parameters: WorkloadParameters, schema: Schema, records: int) -> Drowned:
    sizes = guessed_sizes(schema, _OPEN_VALUES)
    items = [max(1, column.max_items) for column in schema.columns]
    shares = {
        columns: error
        * math.prod(sizes[column] for column in columns)
        / (max(1, records) * math.prod(items[column] for column in columns))
        for columns, error in set_errors(parameters, schema, sizes, max(1, records)).items()
    }
    several = [columns for columns in shares if len(columns) > 1]
    threshold = planned_first_length(parameters, schema, max(1, records)).threshold
    return Drowned(
        columns=tuple(c.name for place, c in enumerate(schema.columns) if shares[(place,)] > 1),
        sets=tuple(
            tuple(schema.columns[column].name for column in columns)
            for columns in sorted(several, key=lambda columns: (-shares[columns], columns))
            if shares[columns] > 1
        ),
        sets_in_all=len(several),
        threshold=threshold if threshold is not None and threshold > _MOST_SHARED * records else None,
    )


def _describe_drowned(drowned: Drowned, schema: Schema, found: Estimate) -> Iterator[str]:
    opened = [column.name for column in schema.columns if column.is_open]
    records = _number_of_records(found)
    if drowned.threshold is not None:
        yield f"values of {list_some(opened)} {_threshold_words(drowned.threshold, found)}"
    if drowned.columns:
        yield (
            f"in {list_some(drowned.columns)} the noise of all values together would exceed the number of "
            f"records ({records}): the counts would be worthless."
        )
    if drowned.sets:
        noisiest = ", ".join(" with ".join(map(repr, names)) for names in drowned.sets[:_MOST_NAMED])
        rest = len(drowned.sets) - _MOST_NAMED
        noisiest += f" and {rest:,} more" if rest > 0 else ""
        small = f", even if open columns had no more than {_OPEN_VALUES} values" if opened else ""
        yield (
            f"in {len(drowned.sets):,} of {drowned.sets_in_all:,} sets of columns (the noisiest first: "
            f"{noisiest}) the noise of all cells together would exceed the number of records "
            f"({records}){small}: how these columns depend on each other would mostly be lost."
        )


def _advice(configuration: RunConfiguration, schema: Schema, records: int) -> str:
    """What would leave nothing worthless: each change by itself, else all together, else fewer columns."""
    larger, few = _with_larger_epsilons(configuration), _with_few_sets(configuration, schema)
    narrow, wide = _with_few_values(schema), list_some(_columns_of_many_values(schema))

    def helps(asked: RunConfiguration, columns: Schema) -> bool:
        try:
            return not _find_drowned(workload_parameters(asked, columns), columns, records).is_worthless
        except ParameterError:
            return False

    words = {
        "workload": f"a workload of few sets of columns, those that matter (say {len(schema.columns)})",
        "values": f"bins or domains of up to {_FEW_VALUES} values for {wide}",
    }
    single = [_epsilon_words(asked) for asked in larger if helps(asked, schema)][:1]
    single += [words["workload"]] * helps(few, schema) + [words["values"]] * helps(configuration, narrow)
    if single:
        each = ", each by itself" if len(single) > 1 else ""
        return f"What helps{each}: {'; '.join(single)}; fewer columns (use_columns)."
    for asked in (few, *_with_larger_epsilons(few)):
        if helps(asked, narrow):
            together = "; ".join([words["workload"], words["values"], _epsilon_words(asked)])
            return f"What helps, all together: {together}. Or use fewer columns (use_columns)."
    return (
        "What helps: fewer columns (use_columns). There are too few records for all of these columns, even "
        f"at epsilon {_LARGER[-1]:g}, with few sets of columns in workload and few values in each column."
    )


def _with_larger_epsilons(configuration: RunConfiguration) -> list[RunConfiguration]:
    protection = configuration.privacy
    return [
        configuration.model_copy(update={"protection": protection.model_copy(update={"epsilon": epsilon})})
        for epsilon in _LARGER
        if epsilon > protection.epsilon
    ]


def _epsilon_words(configuration: RunConfiguration) -> str:
    return f"epsilon {configuration.privacy.epsilon:g}"


def _with_few_sets(configuration: RunConfiguration, schema: Schema) -> RunConfiguration:
    synthesis, sizes = configuration.fitted, guessed_sizes(schema, _OPEN_VALUES)
    pairs = heapq.nsmallest(
        len(sizes),
        itertools.combinations(range(len(sizes)), 2),
        key=lambda pair: sizes[pair[0]] * sizes[pair[1]],
    )
    named = tuple(tuple(schema.columns[column].name for column in pair) for pair in pairs)
    few = synthesis.model_copy(update={"workload": named})
    return configuration.model_copy(update={"synthesis": few})


def _columns_of_many_values(schema: Schema) -> list[str]:
    columns = schema.columns
    return [column.name for column in columns if column.domain is None or len(column.domain) > _FEW_VALUES]


def _with_few_values(schema: Schema) -> Schema:
    values, wide = tuple(str(place) for place in range(_FEW_VALUES)), set(_columns_of_many_values(schema))

    def narrowed(column: Column) -> Column:
        is_wide = column.name in wide
        return replace(column, bins=None, domain=values, other=None) if is_wide else column

    return replace(schema, columns=tuple(narrowed(column) for column in schema.columns), constraints=())


def _is_lost(level: LevelEstimate, records: int, width: int) -> bool:
    if level.threshold is not None:
        return level.threshold > _MOST_SHARED * records
    held = records * math.comb(width, level.length)
    return math.sqrt(2 / math.pi) * level.scale * level.candidates > held


def _lost_words(level: LevelEstimate, found: Estimate) -> str:
    what = "single values" if level.length == 1 else f"combinations of {level.length} values"
    if level.threshold is not None:
        return f"{what} {_threshold_words(level.threshold, found)}"
    return f"the noise of all {what} together would exceed their counts: the counts would be worthless."


def _threshold_words(threshold: int, found: Estimate) -> str:
    left = f"only what {threshold / max(1, found.records):.0%} of the records share could reach that."
    if threshold > found.records:
        left = "none could reach that."
    needed = f"need a noisy count of {threshold:,} or more to be published"
    return f"{needed}, and there are {_number_of_records(found)} records: {left}"


def _number_of_records(found: Estimate) -> str:
    most = "at most " if found.source == "size" else "about " if found.source == "lines" else ""
    return f"{most}{found.records:,}"


def guessed_sizes(schema: Schema, open_values: int) -> list[int]:
    """Cells of each column, `other` and `absent` among them, if open columns had so many values."""
    return [(open_values if c.domain is None else len(c.domain)) + 1 + c.is_open for c in schema.columns]
