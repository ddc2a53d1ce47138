"""SDS's own configurations run as they are, only paths edited; and its example, the German credit data."""

import json
from pathlib import Path

import pytest

from flows.command import main as command
from tests.flows import pipeline

pytestmark = pytest.mark.server

CONFIGURATIONS = pipeline.ROOT / "deployments" / "configurations"
TEMPLATES = sorted(path.stem for path in (CONFIGURATIONS / "templates").glob("*.json"))

RELEASED = {
    "CITATION.cff",
    "MANIFEST.json",
    "croissant.json",
    "lineage.json",
    "methods.md",
    "configuration.json",
    "evaluation.json",
    "privacy.json",
    "example_data_showcase.html",
    "example_data_showcase.pbit",
    "example_reportable_aggregated_data.json",
    "example_reportable_aggregates.parquet",
    "example_reportable_aggregates.tsv",
    "example_synthetic_microdata.tsv",
}
RECOUNTED = "example_synthetic_aggregates.tsv"
KEPT = {
    "aggregate": {
        "sensitive_aggregates_to_length_2.tsv",
        "sensitive_rare_by_length.svg",
        "sensitive_rare_by_length.tsv",
        "sensitive_rarest_combinations.tsv",
    },
    "evaluation": {
        "owner_showcase.html",
        "parameters.tsv",
        "preservation_by_count.svg",
        "preservation_by_count.tsv",
        "preservation_by_length.svg",
        "preservation_by_length.tsv",
        "proportional_error_by_count.svg",
        "sensitive_analysis_by_length.tsv",
        "stats_aggregate_counts.tsv",
        "stats_synthetic_data.tsv",
        "synthetic_aggregates_to_length_2.tsv",
        "synthetic_leakage_by_length.svg",
        "synthetic_leakage_by_length.tsv",
        "synthetic_rare_combos_to_length_2.tsv",
    },
}
#: Of SDS's files, those that are written on request.
EXPORTED = {
    "example_sensitive_aggregated_data.json",
    "example_sensitive_aggregates.tsv",
    RECOUNTED,
    "example_synthetic_rare_combos_by_length.tsv",
}


def test_there_is_a_template_for_each_mode() -> None:
    ours = ["fitted"]
    assert (
        sorted([*ours, "aggregate_seeded", "aggregate_seeded_dp", "row_seeded", "unseeded", "value_seeded"])
        == TEMPLATES
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_each_template_runs_with_only_its_paths_edited_and_writes_every_file_of_sds(
    name: str, tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    table = [
        [town, sex, work, *services.split(";")[:1]] for _, town, _, sex, services, work in pipeline.rows()
    ]
    pipeline.write(tmp_path / "table.csv", table, ["town", "sex", "work", "service"])
    body = json.loads((CONFIGURATIONS / "templates" / f"{name}.json").read_text())
    paths = {"sensitive_microdata_path": tmp_path / "table.csv", "output_dir": tmp_path / "out"}
    assert set(paths) <= set(body)
    path = tmp_path / "configuration.json"
    path.write_text(json.dumps(body | {key: str(value) for key, value in paths.items()}))
    assert command.main(["run", str(path)]) == 0
    release = (tmp_path / "out" / "release" / "example" / "latest").resolve()
    # The reportable counts of a fitted release are those of its records.
    more = {"example_noisy_tables.parquet" if name == "fitted" else RECOUNTED}
    if pipeline.json_of(release / "privacy.json")["private"]:
        more.add("registry.yaml")
    assert {found.name for found in release.iterdir()} == RELEASED | more
    for stage, names in KEPT.items():
        found = {path.name for path in (tmp_path / "out" / "sensitive" / "example").glob(f"*/{stage}/*")}
        assert {f"example_{each}" for each in names} <= found
    assert command.main(["export", str(tmp_path / "out" / "sensitive" / "example")]) == 0
    exported = tmp_path / "out" / "sensitive" / "example" / "export"
    assert {found.name for found in exported.iterdir()} == EXPORTED
    if name != "fitted":
        assert (exported / RECOUNTED).read_bytes() == (release / RECOUNTED).read_bytes()


def test_german_credit_runs_with_one_command_and_no_download(
    tmp_path: Path, own_ledger: Path, prefect_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = CONFIGURATIONS / "german_credit.json"
    body = json.loads(configuration.read_text())
    for folder in ("data", "data_contracts", "deployments"):
        (tmp_path / folder).symlink_to(pipeline.ROOT / folder)
    monkeypatch.chdir(tmp_path)
    assert command.main(["run", str(configuration)]) == 0
    home = tmp_path / body["output_dir"] / "release" / body.get("dataset", body["prefix"])
    release = (home / "latest").resolve()
    assert (release / f"{body['prefix']}_data_showcase.html").is_file()
    statement = pipeline.json_of(release / "privacy.json")
    assert statement["guarantee"]["resolution"] == body["reporting_resolution"] == 2
