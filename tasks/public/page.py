"""Navigate stage: everything that is released in, one self-contained page out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tasks.configuration.model import Report, RunConfiguration
from tasks.core.aggregates.aggregates import read_aggregates, read_all_ranges
from tasks.core.arrays import Json
from tasks.core.contracts.odcs import load_contract
from tasks.core.metadata.methods import citation_bibtex, citation_text
from tasks.core.metadata.release_facts import DescribedRelease, Publication
from tasks.core.navigation.inputs import Naming, UnitName, ages_of
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import open_synthetic_records
from tasks.messages import tell
from tasks.public.bundles.opening import open_counts
from tasks.public.releases import PAGE
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable, load_json


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
