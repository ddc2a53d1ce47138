"""The template in a release: made by every run that makes a page, and right on the files beside it."""

import csv
import itertools
import json
from pathlib import Path

import pytest

from tests.flows import pipeline
from tests.oracles.showcases import load, parts_of

TEMPLATE = "people_data_showcase.pbit"


def lines_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))


@pytest.mark.parametrize("regime", ["fitted", "by lengths", "k-anonymity"])
def test_a_release_has_a_template_that_shows_its_own_counts(
    tmp_path: Path, own_ledger: Path, prefect_server: str, capfd: pytest.CaptureFixture[str], regime: str
) -> None:
    changes = {"by lengths": {"synthesis_mode": "aggregate_seeded"}}.get(regime, {})
    prepare = pipeline.prepared_anonymous if regime == "k-anonymity" else pipeline.prepared
    layout = {"report_pages": {"One": ["town", "services"]}, "report_title": "Whose services"}
    configuration = prepare(tmp_path, **layout, **changes)
    release = pipeline.run(configuration)
    assert "The Power BI template: On no page by the configuration: age, sex, work." in capfd.readouterr().err

    entry = next(
        each for each in pipeline.json_of(release / "MANIFEST.json")["files"] if each["file"] == TEMPLATE
    )
    assert "public configuration" in entry["made_from"]
    assert {"people_synthetic_microdata.tsv", "people_reportable_aggregates.tsv"} < set(entry["parents"])
    template = (release / TEMPLATE).read_bytes()
    assert "Whose services" in json.dumps(parts_of(template)["Report/Layout"], ensure_ascii=False)

    model = load(template, str(release), "people")
    header, *records = lines_of(release / "people_synthetic_microdata.tsv")
    names, *counts = lines_of(release / "people_reportable_aggregates.tsv")
    reported = {row[0]: dict(zip(names, row, strict=True)) for row in counts}
    towns = sorted({record[header.index("town")] for record in records} - {""})
    items = [name.removeprefix("services_") for name in header if name.startswith("services_")]
    assert towns and items
    for town, item in itertools.product(towns, items):
        filters = {("Records", "town"): [town], ("services", "Name"): [item]}
        wanted = [
            record[header.index("town")] == town and record[header.index(f"services_{item}")] == "1"
            for record in records
        ]
        assert model.value("Estimated", filters) == (sum(wanted) or None)
        row = reported.get(f"services_{item}:1;town:{town}")
        found = [model.value(name, filters) for name in ("Actual", "At least", "At most")]
        assert found == shown_of(row, regime)

    # A later run that finds everything made says the same.
    again = pipeline.run(configuration)
    assert (again / TEMPLATE).read_bytes() == template
    assert "On no page by the configuration" in capfd.readouterr().err


def shown_of(row: dict[str, str] | None, regime: str) -> list[int | None]:
    """What of a line of the file is shown."""
    if row is None:
        return [None, None, None]
    count = int(row["protected_count"])
    if regime == "by lengths":
        return [count, None, None]
    if regime == "k-anonymity":
        return [count, count, count + 9]
    told = int(row["least_squares"]) if row["least_squares"] else None
    return [told, int(row["at_least"]), int(row["at_most"])]
