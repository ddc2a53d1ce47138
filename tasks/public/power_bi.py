"""Navigate stage: what is released in, a Power BI template for it out.

It reads what is published and public configuration. The template holds the records' column names and texts of
the configuration, and no count.
"""

import json

from tasks.configuration.model import Report
from tasks.core.aggregates.aggregates import read_aggregates, read_all_ranges
from tasks.core.arrays import Json
from tasks.core.synthesis.records import open_synthetic_records
from tasks.messages import tell
from tasks.public.bundles.opening import open_counts
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, RunWorkspace, StoredTable

#: The template's name in a release, behind the prefix; and what a step keeps beside it.
TEMPLATE, _LEFT_OUT = "data_showcase.pbit", "left_out.json"


@step(INTERMEDIATE, makes="Power BI template", folder="power_bi")
def write_template(
    into: Output,
    measurement: StoredTable,
    statement: StoredTable,
    released: tuple[StoredTable, StoredTable],
    report: Report,
    prefix: str,
) -> None:
    """Write ``data_showcase.pbit``, and what of the configuration it leaves out.

    Args:
        into: what is filled.
        measurement: what was drawn or counted.
        statement: of its privacy.
        released: the reportable aggregates, and the synthetic records.
        report: the configured layout.
        prefix: of the release's files, which the template reads.
    """
    from tasks.core.navigation.power_bi.package import power_bi_template
    from tasks.core.navigation.power_bi.showcase import ShowcaseInputs, headers_of

    schema = open_counts(into.run, measurement).schema()
    stated: Json = json.loads((into.path(statement) / "privacy.json").read_text(encoding="utf-8"))
    aggregates, records = (
        read_aggregates(into.path(released[0])),
        open_synthetic_records(into.path(released[1])),
    )
    length = aggregates.reporting_length
    template, left_out = power_bi_template(
        ShowcaseInputs(
            title=report.title or f"{stated['dataset']}, {stated['vintage']}",
            prefix=prefix,
            headers=headers_of(records.headers, (*aggregates.attributes, *records.attributes), schema),
            schema=schema,
            statement=stated,
            reporting_length=length,
            has_ranges=bool(read_all_ranges(into.path(released[0]), length)),
            visuals=report.visuals,
            pages=report.pages,
        )
    )
    (into.folder / TEMPLATE).write_bytes(template)
    (into.folder / _LEFT_OUT).write_text(json.dumps(left_out, ensure_ascii=False), encoding="utf-8")


def tell_left_out(run: RunWorkspace, template: StoredTable) -> None:
    for sentence in json.loads((run.path(template) / _LEFT_OUT).read_text(encoding="utf-8")):
        tell(f"The Power BI template: {sentence}")
