"""What is publicly known of a run before any row is read.

Configuration, contract and the file's header go in; the public schema, the parameters of the release and
its name come out. Every problem with public facts is found here, before the ledger is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.configuration import DifferentialPrivacy, RunConfiguration
from tasks.core.contracts.contract import Contract, load_contract
from tasks.core.dp.accounting import sigma_proportions_named, threshold_values_named
from tasks.core.dp.parameters import DpParameters, Thresholds
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Schema
from tasks.core.records.public_schema import Declarations, build_schema
from tasks.core.records.reading import Headers, InputFile, read_headers

#: Where neither configuration nor schedule gives a label.
UNDATED = "undated"
_DEFAULT_VALUES = {"spurious": 0.1, "adaptive": 1.0, "fixed": 0.0}
_DEFAULT_COUNT_PROPORTION = {"gdp": 0.01, "zcdp": 0.005}


@dataclass(frozen=True)
class Described:
    """The public facts of one run.

    Attributes:
        source: the input file and its dialect.
        contract: the data contract, if there is one.
        schema: the public schema.
        parameters: of the release.
        vintage: the label of the release.
        notes: sentences that the person who runs it should read.
    """

    source: InputFile
    contract: Contract | None
    schema: Schema
    parameters: DpParameters
    vintage: str
    notes: tuple[str, ...]


def describe(configuration: RunConfiguration, scheduled: str | None = None) -> Described:
    """Read the header and the contract, and settle everything that is public.

    Args:
        configuration: the run's.
        scheduled: the scheduled date of a scheduled run: the vintage where none is configured.

    Raises:
        ParameterError: any public fact that makes the run impossible.
    """
    table = configuration.input
    source = InputFile(Path(table.path), delimiter=table.delimiter)
    contract = load_contract(Path(table.contract)) if table.contract else None
    headers = read_headers(source)
    _require_split(headers, source, configuration)
    schema = build_schema(
        headers.names, declarations(configuration), contract, cap_required=True, types=headers.types
    )
    vintage = configuration.vintage or scheduled or UNDATED
    parameters = dp_parameters(configuration, schema)
    return Described(source, contract, schema, parameters, vintage, _notes(configuration, schema, vintage))


#: In a header that is a single column, a sign that the file is split at another character.
_OTHER_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


def _require_split(headers: Headers, source: InputFile, configuration: RunConfiguration) -> None:
    """Refuse a text file that its delimiter does not split, by its header alone."""
    if source.is_parquet or len(headers.names) != 1 or configuration.input.use_columns == headers.names:
        return
    found = [words for sign, words in _OTHER_DELIMITERS.items() if sign in headers.names[0]]
    if found:
        raise ParameterError(
            f"The input's header must be split at its delimiter; split at {source.delimiter!r} it is a "
            f"single column that holds {found[0]}. Give the right one as sensitive_microdata_delimiter."
        )


def declarations(configuration: RunConfiguration) -> Declarations:
    """What the configuration declares of the columns."""
    table = configuration.input
    return Declarations(
        subject_id=table.subject_id,
        use_columns=table.use_columns,
        multi_value_columns=dict(table.multi_value_columns),
        sensitive_zeros=table.sensitive_zeros,
        bins=dict(table.bins),
        domains=dict(table.domains),
        max_items=dict(table.max_items),
    )


def dp_parameters(configuration: RunConfiguration, schema: Schema) -> DpParameters:
    """The release's parameters; the reporting length is at most the schema's width (rule 12)."""
    protection = configuration.protection
    asked = configuration.reporting_length
    length = schema.width if asked == -1 else min(asked, schema.width)
    all_declared = not any(column.is_open for column in schema.columns)
    return DpParameters(
        epsilon=protection.epsilon,
        delta=protection.delta,
        reporting_length=length,
        accountant=protection.accountant,
        count_share=protection.number_of_records_proportion
        or _DEFAULT_COUNT_PROPORTION[protection.accountant],
        sigma_proportions=_sigma_proportions(protection.sigma_proportions, asked, length),
        threshold_delta_share=0.0 if all_declared else protection.threshold_delta_share,
        contribution=protection.contribution,
        percentile_percentage=protection.percentile_percentage,
        percentile_share=protection.percentile_proportion,
        thresholds=_thresholds(protection, length),
        delta_factor=protection.delta_factor,
        record_limit=configuration.input.record_limit,
    )


def _sigma_proportions(given: Sequence[float] | str, asked: int, length: int) -> tuple[float, ...]:
    """One number a length; those of lengths that no record reaches are dropped."""
    if isinstance(given, str):
        return tuple(sigma_proportions_named(given, length))
    if asked == -1 and len(given) != length:
        raise ParameterError(
            f"sigma_proportions must have one number a length, and all lengths are {length} here; it has "
            f"{len(given)}. Give so many, or a reporting_length."
        )
    return tuple(given[:length])


def _thresholds(protection: DifferentialPrivacy, length: int) -> Thresholds:
    given = protection.thresholds
    if isinstance(given, str):
        return Thresholds("adaptive", threshold_values_named(given, length), _DEFAULT_VALUES["adaptive"])
    default = _DEFAULT_VALUES[given.kind] if given.default is None else given.default
    values = {key: value for key, value in given.values.items() if key <= length}
    return Thresholds(given.kind, values, default)


def _notes(configuration: RunConfiguration, schema: Schema, vintage: str) -> tuple[str, ...]:
    notes = []
    if not configuration.dataset_is_named:
        notes.append(
            f"No dataset is named: the budget is kept under the prefix, {configuration.dataset!r}. "
            "Tables about the same people must share one dataset name."
        )
    if vintage == UNDATED:
        notes.append(
            f"No vintage is given: this release is labelled {UNDATED!r}, and a later run of that label "
            "returns it whatever the table then holds. Give each new release a vintage of its own."
        )
    if configuration.reporting_length > schema.width:
        notes.append(
            f"The reporting length {configuration.reporting_length} is more than the {schema.width} values "
            f"a record can hold: {schema.width} is used, and nothing is spent on the rest."
        )
    for key in configuration.unused_keys:
        notes.append(f"{key} is accepted and has no effect here.")
    return tuple(notes)
