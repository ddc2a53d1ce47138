"""The parameters of a release, and the schema that its records hold, from configuration and public schema.

No file is read but the contract, for its constraints.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.configuration.model import RunConfiguration
from tasks.configuration.protections import DifferentialPrivacy
from tasks.configuration.synthesis import AggregateSeeded, Fitted
from tasks.core.aggregates.protection import AnonymityParameters
from tasks.core.arrays import ColumnNumbers
from tasks.core.contracts.constraints import filled_columns, with_constraints
from tasks.core.contracts.declaration import FIELD_OF_KEY, Declarations
from tasks.core.contracts.odcs import load_contract
from tasks.core.dp.accounting import check_claim, sigma_proportions_named, threshold_values_named
from tasks.core.dp.claim_limits import refusals
from tasks.core.dp.digest import Parameters
from tasks.core.dp.parameters import COUNT_SHARES, THRESHOLD_VALUES, DpParameters, ReleaseThresholds
from tasks.core.dp.workload.limits import check_draw
from tasks.core.dp.workload.parameters import MOST_PAIRS, Shares, Step, WorkloadParameters, default_steps
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.records.columns import Schema
from tasks.core.tables.column_names import matching_name

if TYPE_CHECKING:
    from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters


def declarations(configuration: RunConfiguration, headers: Sequence[str] = ()) -> Declarations:
    """What the configuration declares of the columns; all are used but the ids where it names none."""
    table = configuration.input
    used, ids = table.use_columns, set(map(matching_name, configuration.ids))
    if not used and len(ids) > 1:
        used = tuple(name for name in headers if name and matching_name(name) not in ids)
    by_key = {key: getattr(table, key) for key in FIELD_OF_KEY}
    return Declarations(subject_id=table.subject_id, use_columns=used, **by_key)


def reporting_length(configuration: RunConfiguration, schema: Schema) -> int:
    """The length that is counted: never more than a record can hold, -1 where only the records tell that."""
    asked = configuration.reporting_length
    if any(not column.max_items for column in schema.columns):
        return asked
    return schema.width if asked == -1 else min(asked, schema.width)


def naming_parameters(configuration: RunConfiguration, schema: Schema) -> Parameters:
    """The protection's settings, as they name what is measured (W20)."""
    protection = configuration.protection
    if protection.is_salted:
        return protection.in_full()
    if not protection.is_drawn_once:
        synthesis = configuration.synthesis
        settings = synthesis.in_full() if synthesis.reads_records else None
        if settings is not None:
            del settings["random_seed"]
        return AnonymityParameters(
            resolution=configuration.reporting_resolution,
            reporting_length=reporting_length(configuration, schema),
            record_limit=configuration.input.record_limit,
            synthesis=settings,
        )
    parameters = drawn_parameters(configuration, schema)
    # A workload leaves out what its theorem fixes; parameters by lengths are named as they stand.
    return parameters.as_settings() if isinstance(parameters, WorkloadParameters) else parameters


def drawn_parameters(configuration: RunConfiguration, schema: Schema) -> DpParameters | WorkloadParameters:
    """What is drawn: for fitted records a workload's tables, else every combination up to a length."""
    if configuration.is_fitted:
        return workload_parameters(configuration, schema)
    return _dp_parameters(configuration, schema)


def _dp_parameters(configuration: RunConfiguration, schema: Schema) -> DpParameters:
    """The parameters of a draw by lengths; the reporting length is at most the schema's width (R12)."""
    protection = configuration.privacy
    asked = configuration.reporting_length
    length = schema.width if asked == -1 else min(asked, schema.width)
    return DpParameters(
        epsilon=protection.epsilon,
        delta=protection.delta,
        reporting_length=length,
        accountant=protection.accountant,
        count_share=protection.number_of_records_proportion or COUNT_SHARES[protection.accountant],
        sigma_proportions=_sigma_proportions(protection.sigma_proportions, asked, length),
        threshold_delta_share=0.0 if schema.all_declared else protection.threshold_delta_share,
        contribution=protection.contribution,
        percentile_percentage=protection.percentile_percentage,
        percentile_share=protection.percentile_proportion,
        thresholds=_thresholds(protection, asked, length),
        delta_factor=protection.delta_factor,
        record_limit=configuration.input.record_limit,
    )


def _sigma_proportions(given: Sequence[float] | str, asked: int, length: int) -> tuple[float, ...]:
    """One number a length; those of lengths that no record reaches are dropped."""
    if isinstance(given, str):
        return tuple(sigma_proportions_named(given, length))
    if asked == -1 and len(given) != length:
        raise ParameterError(
            f"sigma_proportions must have one number for each length, and there are {length} here; it has "
            f"{len(given)}. Give {length} numbers, or a reporting_length."
        )
    return tuple(given[:length])


def _thresholds(protection: DifferentialPrivacy, asked: int, length: int) -> ReleaseThresholds:
    """Values of lengths that are asked for but that no record reaches are dropped."""
    given = protection.thresholds
    if isinstance(given, str):
        return ReleaseThresholds(
            "adaptive", threshold_values_named(given, length), THRESHOLD_VALUES["adaptive"]
        )
    default = THRESHOLD_VALUES[given.kind] if given.default is None else given.default
    if asked == -1 and (beyond := [key for key in given.values if key > length]):
        raise ParameterError(
            f"noise_threshold_values is for lengths up to the number of columns ({length}); it has "
            f"{beyond[0]}. Correct the key, or remove it."
        )
    values = {key: value for key, value in given.values.items() if key <= length}
    return ReleaseThresholds(given.kind, values, default)


def held_schema(configuration: RunConfiguration, schema: Schema) -> Schema:
    """The schema with the constraints that every synthetic record holds. Raises ParameterError.

    Under differential privacy they are in the schema of what is drawn, as records are repaired before they
    are counted. Under k-anonymity counts are those of the table as it is, and fitted records alone hold them.
    """
    path = configuration.input.contract
    if path is None or configuration.draws_workload or not configuration.is_fitted:
        return schema
    return with_constraints(schema, load_contract(Path(path)), fills=False)


def workload_parameters(configuration: RunConfiguration, schema: Schema) -> WorkloadParameters:
    """The parameters of a fitted release. Raises ParameterError, also of a draw that could not end."""
    protection, synthesis = configuration.privacy, configuration.fitted
    check_claim(protection.epsilon, protection.delta)
    if problems := refusals(protection.epsilon, protection.delta):
        raise ParameterError(problems)
    _require_not_decided(synthesis, schema)
    schema = schema.measured
    tables = _tables(synthesis, schema)
    number = min(schema.number_of_pairs, MOST_PAIRS) if tables is None else len(tables)
    steps = default_steps(all_declared=schema.all_declared, columns=len(schema.columns), tables=number)
    if isinstance(synthesis.workload, tuple) or synthesis.workload == "pairs":
        steps = tuple(step for step in steps if not step.longer.lengths)
    target = None if synthesis.target is None else _column_number(synthesis.target, schema, "target")
    if synthesis.workload == "pairs+target":
        if target is None:
            raise ParameterError(
                "workload pairs+target needs the target: name the column whose prediction matters."
            )
        steps = tuple(
            replace(step, longer=replace(step.longer, holding=target)) if step.longer.lengths else step
            for step in steps
        )
    steps = tuple(_with_count_share(step, protection.number_of_records_proportion) for step in steps)
    contract = configuration.input.contract
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
        # An empty cell of these counts as the value for what is outside (W1).
        filled=() if contract is None else filled_columns(schema, load_contract(Path(contract))),
    )
    if not schema.all_declared:  # elsewhere these change nothing, nor the name (W20)
        parameters = replace(
            parameters,
            threshold_delta_share=Fraction(str(protection.threshold_delta_share)),
            max_values=synthesis.max_values,
        )
    check_draw(parameters, schema)
    return parameters


def _require_not_decided(synthesis: Fitted, schema: Schema) -> None:
    """Refuse to measure a column that the contract says others decide (W22): nothing is spent on it."""
    decided = {matching_name(column.name) for column in schema.columns[len(schema.measured.columns) :]}
    sets = synthesis.workload if isinstance(synthesis.workload, tuple) else ()
    target = [synthesis.target] if synthesis.target else []
    for name in [*(name for names in sets for name in names), *target]:
        if matching_name(name) in decided:
            raise ParameterError(
                f"workload and target can't name {name!r}: the contract says which column decides it, so "
                "it is not measured. Name that column."
            )


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
    sets = {_numbers_of_set(names, schema) for names in synthesis.workload}
    return tuple(sorted(sets, key=lambda columns: (len(columns), columns)))


def _numbers_of_set(names: Sequence[str], schema: Schema) -> ColumnNumbers:
    columns = tuple(sorted(_column_number(name, schema, "workload") for name in names))
    for number in set(columns):
        if columns.count(number) > 1 and not schema.columns[number].is_multi_valued:
            name = schema.columns[number].name
            raise ParameterError(
                f"workload: {name!r} stands twice in one set; a record holds one of its values: name it once."
            )
    return columns


def _column_number(name: str, schema: Schema, key: str) -> int:
    names = [matching_name(column.name) for column in schema.columns]
    if matching_name(name) not in names:
        meant = did_you_mean(name, [column.name for column in schema.columns])
        raise ParameterError(
            f"{key} must name columns that are used, and {name!r} is not one: {meant or 'correct it.'}"
        )
    return names.index(matching_name(name))


def aggregate_parameters(synthesis: AggregateSeeded) -> "AggregateSeededParameters":
    from tasks.core.synthesis import aggregate_seeded

    return aggregate_seeded.AggregateSeededParameters(
        use_synthetic_counts=synthesis.use_synthetic_counts,
        weight_selection_percentile=synthesis.weight_selection_percentile,
        aggregate_counts_scale_factor=synthesis.counts_scale_factor,
        target_number_of_records=synthesis.target_number_of_records,
    )
