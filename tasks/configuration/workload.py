"""What a fitted release measures: configuration and public schema in, parameters of its draw out.

No file is read. Names of columns become places in the schema, words become tables and shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.configuration.protections.differential_privacy import DifferentialPrivacy
from tasks.configuration.synthesis import Fitted
from tasks.core.arrays import ColumnNumbers
from tasks.core.contracts.constraints import filled_columns
from tasks.core.contracts.translation import load_contract
from tasks.core.dp.accounting import check_claim
from tasks.core.dp.claim_limits import refusals
from tasks.core.dp.workload.limits import check_draw
from tasks.core.dp.workload.parameters import MOST_PAIRS, Step, WorkloadParameters, default_steps
from tasks.core.dp.workload.shares import Shares
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.records.columns import Schema
from tasks.core.tables.column_names import matching_name


def workload_parameters(configuration: RunConfiguration, schema: Schema) -> WorkloadParameters:
    """The parameters of a fitted release.

    Raises:
        ParameterError: a claim that can't be made, columns that are not there, or a draw that could not be
            carried to its end.
        InternalError: the configuration is of another mode or regime.
    """
    protection, synthesis = configuration.privacy, configuration.fitted
    _require_claim(protection)
    _require_not_decided(synthesis, schema)
    schema = schema.measured
    all_declared = not any(column.is_open for column in schema.columns)
    tables = _tables(synthesis, schema)
    number = min(schema.number_of_pairs, MOST_PAIRS) if tables is None else len(tables)
    steps = default_steps(all_declared=all_declared, columns=len(schema.columns), tables=number)
    if isinstance(synthesis.workload, tuple) or synthesis.workload == "pairs":
        steps = tuple(step for step in steps if not step.longer.lengths)
    named, places = synthesis.target, _places(schema)
    target = None if named is None else _place(named, schema, places, "target")
    if synthesis.workload == "pairs+target":
        if target is None:
            raise ParameterError(
                "workload pairs+target needs the target: name the column whose prediction matters."
            )
        steps = tuple(_holding(step, target) for step in steps)
    steps = tuple(_with_count_share(step, protection.number_of_records_proportion) for step in steps)
    parameters = WorkloadParameters(
        epsilon=protection.epsilon,
        delta=protection.delta,
        shares=steps[0].shares,
        tables=tables,
        allocation=synthesis.allocation,
        target=target,
        longer=steps[0].longer,
        steps=steps[1:],
        record_limit=configuration.input.record_limit,
        filled=_filled(configuration, schema),
    )
    if any(column.is_open for column in schema.columns):  # elsewhere these change nothing, nor the name (W20)
        parameters = replace(
            parameters,
            threshold_delta_share=Fraction(str(protection.threshold_delta_share)),
            max_values=synthesis.max_values,
        )
    check_draw(parameters, schema)
    return parameters


def _filled(configuration: RunConfiguration, schema: Schema) -> tuple[int, ...]:
    """Columns in which an empty cell counts as the value for what is outside (W1)."""
    if configuration.input.contract is None:
        return ()
    return filled_columns(schema, load_contract(Path(configuration.input.contract)))


def _require_not_decided(synthesis: Fitted, schema: Schema) -> None:
    """Refuse to measure a column that the contract says others decide (W22): nothing is spent on it."""
    decided = {matching_name(column.name) for column in schema.columns[len(schema.measured.columns) :]}
    sets = synthesis.workload if isinstance(synthesis.workload, tuple) else ()
    for name in [
        *(name for names in sets for name in names),
        *([synthesis.target] if synthesis.target else []),
    ]:
        if matching_name(name) in decided:
            raise ParameterError(
                f"workload and target can't name {name!r}: the contract says which column decides it, so "
                "it is not measured. Name that column."
            )


def _require_claim(protection: DifferentialPrivacy) -> None:
    check_claim(protection.epsilon, protection.delta)
    if problems := refusals(protection.epsilon, protection.delta):
        raise ParameterError(problems)


def _holding(step: Step, target: int) -> Step:
    """The same with longer sets that hold the target alone."""
    return replace(step, longer=replace(step.longer, holding=target)) if step.longer.lengths else step


def _with_count_share(step: Step, proportion: float | None) -> Step:
    """The same with another share of the number of records; the rest keeps its ratios."""
    if proportion is None:
        return step
    count, shares = Fraction(str(proportion)), step.shares
    rest = (1 - count) / (1 - shares.count)
    parts = (shares.values, shares.tables, shares.scores, shares.chosen)
    return replace(step, shares=Shares(count, *(part * rest for part in parts)))


def _tables(synthesis: Fitted, schema: Schema) -> tuple[ColumnNumbers, ...] | None:
    """Named sets in canonical order, each once; None where the draw takes all pairs or chooses among them."""
    if synthesis.workload == "auto":
        return None
    if not isinstance(synthesis.workload, tuple):
        return tuple(schema.combinations(2))
    places = _places(schema)
    found = {_columns(names, schema, places) for names in synthesis.workload}
    return tuple(sorted(found, key=lambda columns: (len(columns), columns)))


def _columns(names: Sequence[str], schema: Schema, places: Mapping[str, int]) -> ColumnNumbers:
    found = tuple(sorted(_place(name, schema, places, "workload") for name in names))
    for place in set(found):
        if found.count(place) > 1 and not schema.columns[place].is_multi_valued:
            name = schema.columns[place].name
            raise ParameterError(
                f"workload: {name!r} stands twice in one set; a record holds one of its values: name it once."
            )
    return found


def _places(schema: Schema) -> dict[str, int]:
    """Of each column, by its name as names are compared."""
    return {matching_name(column.name): place for place, column in enumerate(schema.columns)}


def _place(name: str, schema: Schema, places: Mapping[str, int], key: str) -> int:
    place = places.get(matching_name(name))
    if place is None:
        meant = did_you_mean(name, [column.name for column in schema.columns])
        raise ParameterError(
            f"{key} must name columns that are used, and {name!r} is not one: {meant or 'correct it.'}"
        )
    return place
