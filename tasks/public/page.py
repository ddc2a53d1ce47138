"""What a release of counts says of itself: its privacy statement, its contract's verdicts and its page."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tasks.configuration.model import Report, RunConfiguration
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates, read_all_ranges
from tasks.core.arrays import Json
from tasks.core.contracts.expectations import expectation_suite
from tasks.core.contracts.odcs import load_contract
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.hints import list_some
from tasks.core.metadata.methods import citation_bibtex, citation_text
from tasks.core.metadata.release_facts import DescribedRelease, Publication
from tasks.core.navigation.inputs import Naming, UnitName, ages_of
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import IDENTIFIER_PATTERNS
from tasks.core.statement.column_totals import attention_sentences, mostly_empty_columns
from tasks.core.statement.contract_verdicts import NoisyNumbers, RoundedNumbers, contract_json, passed_json
from tasks.core.statement.differential_privacy.words import unmeasured_pairs_note
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tasks.core.synthesis.records import open_synthetic_records
from tasks.messages import tell
from tasks.public.bundles import Bundle, CountsBundle, DrawnBundle, open_counts
from tasks.public.releases import EXPECTATIONS, PAGE
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable, load_json, write_json

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
    for sentence in _missing_value_notes(bundle, reported) + _notes_on_the_draw(bundle):
        tell(f"ATTENTION: {sentence}")
    write_json(into.folder / "privacy.json", body)
    write_contract_files(into.folder, configuration, bundle, reported)


def _notes_on_the_draw(bundle: CountsBundle) -> list[str]:
    """Columns of which much was dropped, and how many pairs were not measured, by released numbers."""
    drawn = bundle.drawn()
    if drawn is None:
        return []
    found = attention_sentences(drawn)
    if isinstance(drawn, WorkloadMeasurement) and drawn.pair_scores is not None:
        return [*unmeasured_pairs_note(*drawn.measured_pairs), *found]
    return found


def _missing_value_notes(bundle: CountsBundle, reported: Aggregates) -> list[str]:
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
    is_forbidden = any(IDENTIFIER_PATTERNS.intersection(column.forbidden) for column in missing)
    rules = (
        ", and that the contract's rule noPersonalIdentifiers forbids none of these values: "
        "dropped_cells.tsv tells"
    )
    likeliest = _TOO_MANY_FOR_K if drawn is None else _TOO_MANY_FOR_NOISE
    return [
        f"no value of {names} is released. {likeliest} If that is not it, check that bins, domains, "
        f"sensitive_zeros and delimiters fit what the table holds{rules if is_forbidden else ''}."
    ]


def write_contract_files(
    folder: Path, configuration: RunConfiguration, bundle: Bundle, reported: Aggregates | None
) -> None:
    """Write the contract's verdicts and its suite of expectations, where there is a contract.

    Verdicts are those that were drawn with, else from what is released alone; a release that reports no
    counts, or has a strict contract, exists only where all rules are kept.
    """
    if configuration.input.contract is None:
        return
    contract, schema = load_contract(Path(configuration.input.contract)), bundle.schema()
    is_strict = bundle.contract_mode == "strict"
    if is_strict and isinstance(bundle, DrawnBundle):
        verdicts = bundle.verdicts()
    elif is_strict or reported is None:
        verdicts = passed_json(contract, schema)
    else:
        drawn, resolution = bundle.drawn(), configuration.reporting_resolution
        numbers = RoundedNumbers(schema, reported, resolution) if drawn is None else NoisyNumbers(drawn)
        verdicts = contract_json(contract, numbers, reported)
    suite = expectation_suite(contract, schema)
    check_released_json(verdicts, RELEASED_KEYS["manifest"])
    check_released_json(suite, RELEASED_KEYS["expectations"])
    write_json(folder / "contract.json", verdicts)
    write_json(folder / EXPECTATIONS, suite)


@dataclass(frozen=True)
class PageSettings:
    """What a configuration says of the page."""

    report: Report
    publication: Publication
    prefix: str
    descriptions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, configuration: RunConfiguration) -> "PageSettings":
        """The part of a configuration that a page is made with; another one makes another page."""
        contract = configuration.input.contract
        columns = load_contract(Path(contract)).columns if contract else ()
        return cls(
            configuration.report,
            configuration.publication,
            configuration.prefix,
            {column.name: column.description for column in columns if column.description},
        )

    def naming(self, statement: Json, schema: Schema) -> Naming:
        report = self.report
        release = DescribedRelease(statement, self.publication, report.title, self.prefix)
        return Naming(
            title=report.title,
            prefix=self.prefix,
            visuals=report.visuals,
            pages=report.pages,
            unit=UnitName.of(report.unit, report.units) if report.unit else None,
            value_names=report.value_names,
            descriptions=self.descriptions,
            marks={column.name: column.reading.strip for column in schema.columns if column.reading.strip},
            ages=ages_of(schema),
            citation=citation_text(release),
            bibtex=citation_bibtex(release),
        )


@step(INTERMEDIATE, makes="page", folder="page")
def write_page(
    into: Output,
    measurement: StoredTable,
    statement: StoredTable,
    counts: tuple[StoredTable, StoredTable | None],
    evaluated: tuple[StoredTable, StoredTable],
    settings: PageSettings,
) -> None:
    """Write ``data_showcase.html``.

    Args:
        counts: reportable aggregates, and the synthetic records' own; None where they are the same.
    """
    from tasks.core.navigation.fidelity import fidelity
    from tasks.core.navigation.inputs import ReportInputs
    from tasks.core.navigation.payload.columns import describe_unreleased_values
    from tasks.core.navigation.payload.release import payload_of_counts
    from tasks.core.navigation.report import render_page

    bundle = open_counts(into.run, measurement)
    stated, contract = read_statement(into, statement)
    records, evaluation = map(into.path, evaluated)
    reported = read_aggregates(into.path(counts[0]))
    inputs = ReportInputs(
        statement=stated,
        contract=contract,
        schema=bundle.schema(),
        measurement=bundle.drawn(),
        aggregates=reported,
        ranges=read_all_ranges(into.path(counts[0]), reported.reporting_length),
        synthetic=open_synthetic_records(records),
        fit=load_json(evaluation / "evaluation.json").get("fit"),
        naming=settings.naming(stated, bundle.schema()),
    )
    held = reported if counts[1] is None else read_aggregates(into.path(counts[1]))
    if inputs.ranges or counts[1] is not None:
        inputs = replace(inputs, fidelity=fidelity(inputs.drawn, held))
    payload = payload_of_counts(inputs)
    for said in describe_unreleased_values(payload.meta["layout"]):
        tell(said)
    (into.folder / PAGE).write_text(render_page(inputs, payload), encoding="utf-8")


def read_statement(into: Output, statement: StoredTable) -> tuple[Json, Json | None]:
    """The content of ``privacy.json``, and of ``contract.json`` where there was a contract."""
    folder = into.path(statement)
    contract = folder / "contract.json"
    return load_json(folder / "privacy.json"), load_json(contract) if contract.is_file() else None
