"""The privacy statement of a release, and the contract's rules judged on released numbers."""

from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.arrays import Json
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.odcs import load_contract
from tasks.core.hints import list_some
from tasks.core.records.columns import Column
from tasks.core.records.dropped import IDENTIFIER_PATTERNS
from tasks.core.statement.column_totals import mostly_empty_columns
from tasks.core.statement.contract_verdicts import contract_json, passed_json
from tasks.messages import tell
from tasks.public.bundles.bundle import CountsBundle
from tasks.public.bundles.opening import open_counts
from tasks.public.release_files import write_contract_files
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable, write_json

_MOST_NAMED = 40
_TOO_MANY_FOR_NOISE = (
    "Most likely there are too many different values, each too rare to be told from noise: give numbers "
    "bins, cut dates to months or years (cut), or declare the list of values (domains)."
)
_TOO_MANY_FOR_K = (
    "Most likely there are too many different values, each too rare for the resolution: give numbers bins, "
    "or cut dates to months or years (cut)."
)


@step(INTERMEDIATE, makes="privacy statement", folder="statement", cached=False)
def state_privacy(
    into: Output, configuration: RunConfiguration, measurement: StoredTable, aggregates: StoredTable
) -> None:
    """Write ``privacy.json`` and, where there is a contract, its verdicts and its suite of expectations."""
    bundle = open_counts(into.run, measurement)
    reported = read_aggregates(into.path(aggregates))
    body = bundle.statement(configuration, reported)
    is_noisy = configuration.protection.is_drawn_once
    for sentence in _missing_value_notes(bundle, reported, is_noisy=is_noisy) + bundle.attentions():
        tell(f"ATTENTION: {sentence}")
    write_json(into.folder / "privacy.json", body)
    if configuration.input.contract:
        contract = load_contract(Path(configuration.input.contract))
        verdicts = _verdicts(bundle, configuration, contract, reported)
        write_contract_files(into.folder, contract, bundle.schema(), verdicts)


def _missing_value_notes(bundle: CountsBundle, reported: Aggregates, *, is_noisy: bool) -> list[str]:
    """What whoever runs it should look at: a release without counts, or columns without a released value."""
    if not reported.attributes:
        return ["only the number of records is released: no value is held by enough of them."]
    held = {attribute.column for attribute in reported.attributes}
    drawn = bundle.drawn()
    told = mostly_empty_columns(drawn) if drawn is not None else []  # of which another sentence tells
    columns = enumerate(bundle.schema().columns)
    missing = [column for place, column in columns if place not in held and column.name not in told]
    if not missing:
        return []
    names = list_some([column.name for column in missing], _MOST_NAMED)
    likeliest = _TOO_MANY_FOR_NOISE if is_noisy else _TOO_MANY_FOR_K
    return [
        f"no value of {names} is released. {likeliest} If that is not it, check that bins, domains, "
        f"sensitive_zeros and delimiters fit what the table holds{_rules(missing)}."
    ]


def _rules(columns: list[Column]) -> str:
    if not any(IDENTIFIER_PATTERNS.intersection(column.forbidden) for column in columns):
        return ""
    return (
        ", and that the contract's rule noPersonalIdentifiers forbids none of these values: "
        "dropped_cells.tsv tells"
    )


def _verdicts(
    bundle: CountsBundle, configuration: RunConfiguration, contract: Contract, reported: Aggregates
) -> Json:
    """The contract's verdicts: those that were drawn with, else from what is released alone."""
    body = bundle.verdicts()
    if body is not None:
        return body
    if bundle.contract_mode == "strict":
        return passed_json(contract, bundle.schema())
    return contract_json(contract, bundle.numbers(configuration, reported), reported)
