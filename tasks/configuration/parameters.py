"""The parameters of a release, and the schema that its records hold, from configuration and public schema.

No file is read but the contract, for its constraints.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.configuration.protections.differential_privacy import DifferentialPrivacy
from tasks.configuration.workload import workload_parameters
from tasks.core.aggregates.protection import AnonymityParameters
from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.declaration import FIELD_OF_KEY, Declarations
from tasks.core.contracts.translation import load_contract
from tasks.core.dp.accounting import sigma_proportions_named, threshold_values_named
from tasks.core.dp.parameters import COUNT_SHARES, THRESHOLD_VALUES, DpParameters, ReleaseThresholds
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Schema
from tasks.core.tables.column_names import matching_name


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


def anonymity_parameters(configuration: RunConfiguration, schema: Schema) -> AnonymityParameters:
    """The parameters of a k-anonymous release."""
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


def syndiffix_parameters(configuration: RunConfiguration, schema: Schema) -> dict[str, object]:
    """SynDiffix's settings."""
    return configuration.protection.in_full()


def drawn_parameters(configuration: RunConfiguration, schema: Schema) -> DpParameters | WorkloadParameters:
    """What is drawn: for fitted records a workload's tables, else every combination up to a length."""
    if configuration.is_fitted:
        return workload_parameters(configuration, schema)
    return dp_parameters(configuration, schema)


def drawn_settings(configuration: RunConfiguration, schema: Schema) -> DpParameters | Mapping[str, object]:
    """The same as what names the release (W20)."""
    parameters = drawn_parameters(configuration, schema)
    # A workload leaves out what its theorem fixes; parameters by lengths are named as they stand.
    return parameters.as_settings() if isinstance(parameters, WorkloadParameters) else parameters


def dp_parameters(configuration: RunConfiguration, schema: Schema) -> DpParameters:
    """The parameters of a draw by lengths; the reporting length is at most the schema's width (R12).

    Raises:
        InternalError: the configured regime draws nothing.
    """
    protection = configuration.privacy
    asked = configuration.reporting_length
    length = schema.width if asked == -1 else min(asked, schema.width)
    all_declared = not any(column.is_open for column in schema.columns)
    return DpParameters(
        epsilon=protection.epsilon,
        delta=protection.delta,
        reporting_length=length,
        accountant=protection.accountant,
        count_share=protection.number_of_records_proportion or COUNT_SHARES[protection.accountant],
        sigma_proportions=_sigma_proportions(protection.sigma_proportions, asked, length),
        threshold_delta_share=0.0 if all_declared else protection.threshold_delta_share,
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
    """The schema with the constraints that every synthetic record holds.

    Under differential privacy they are in the schema of what is drawn, as records are repaired before they
    are counted. Under k-anonymity counts are those of the table as it is, and fitted records alone hold them.

    Args:
        configuration: the run's.
        schema: of what is counted.

    Raises:
        ParameterError: constraints that can't be held.
    """
    path = configuration.input.contract
    if path is None or configuration.draws_workload or not configuration.is_fitted:
        return schema
    return with_constraints(schema, load_contract(Path(path)), fills=False)
