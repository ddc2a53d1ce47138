"""What a whole run of each protection and mode releases: no trace of a person, all that it promises."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections import Counter
from itertools import combinations
from pathlib import Path

import mlcroissant
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from flows.command import main as command
from flows.publish import publish
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError
from tasks.core.ledger.sqlite import SqliteStore
from tasks.core.statement.released_json import check_released_json
from tests.flows import pipeline, visits
from tests.flows.processes import assert_whole
from tests.flows.server_objects import known, text_of_everything
from tests.flows.whole_runs import (
    CANARIES,
    CONTRACTS,
    KINDS,
    PRIVATE,
    ROUNDED,
    ROWS,
    SEED,
    VISIT_CANARIES,
    assert_no_trace,
    public_places,
    run_again,
    table_of_people,
)
from tests.oracles.payloads import decoded

pytestmark = pytest.mark.server

every_kind = pytest.mark.parametrize("kind", KINDS)
#: Modes that draw synthetic records from raw ones, so that their seed is as sensitive.
READS_RECORDS = ("row_seeded", "value_seeded", "unseeded")
#: Values of the table that nothing public names.
SECRETS = ("Aberwick", "Brenmoor", "Caldwell", "Dunsford", "library", "clinic", "employed", "p00001")
SYNDIFFIX_LABEL = "SynDiffix, not differentially private"
#: Of the whole runs under k-anonymity; `unseeded` counts all lengths.
RESOLUTION, LENGTH = 50, 3


# ------------------------------------------------------------------ the privacy boundary


@every_kind
def test_p1_nothing_of_one_record_appears_anywhere_outside(kind, whole_run, prefect_server):
    run = whole_run(kind)
    tokens = VISIT_CANARIES if kind == "syndiffix" else CANARIES
    told = run.said + text_of_everything(prefect_server, run.dataset)
    assert_no_trace(tokens, public_places(run.folder, run.folder / "ledger"), told)
    assert (run.release / f"{run.configuration.prefix}_data_showcase.html").exists()


@every_kind
def test_nothing_that_prefect_keeps_holds_a_value_or_a_count(kind, whole_run, prefect_server):
    run = whole_run(kind)
    seen = known(prefect_server, run.dataset)
    told = json.dumps(seen._asdict(), ensure_ascii=False)
    assert seen.flow_runs and seen.task_runs
    assert not [secret for secret in SECRETS if secret in told]
    # Whoever has a released file can count its rows; their noise meets ROWS one time in a hundred. And the
    # third part of each random id has four digits that begin with a 4, as the number of rows has.
    told = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|; [0-9,]+ rows|\| [0-9,]+ \|", "", told)
    told = re.sub(r"base64,([A-Za-z0-9+/=]+)", lambda found: b64decode(found[1]).decode(), told)
    assert "<svg" in told
    assert not re.search(rf"(?<![0-9a-f.-]){ROWS}(?![0-9a-f.-])", told)


@pytest.mark.parametrize("kind", [kind for kind in ROUNDED if kind != "held"])
def test_p1_the_number_of_rows_and_a_seed_of_raw_records_appear_nowhere(kind, whole_run, prefect_server):
    run = whole_run(kind)
    assert not (run.folder / "ledger").exists(), "k-anonymity has no budget"
    recorded = pipeline.json_of(run.release / "configuration.json")["synthesis"].get("random_seed")
    assert recorded == (None if kind in READS_RECORDS else SEED)
    assert str(SEED) not in text_of_everything(prefect_server, run.dataset)
    for zone in ("release", "measurement", "intermediate"):
        for path in (run.folder / "out" / zone).rglob("*"):
            if path.suffix in (".json", ".tsv", ".html") and not path.stem.endswith("_long"):
                assert not re.search(rf"\b{ROWS}\b", path.read_text()), path.name
            if kind in READS_RECORDS and path.is_file():
                assert str(SEED).encode() not in path.read_bytes(), path


def test_the_salt_of_syndiffix_appears_nowhere(whole_run, prefect_server):
    run = whole_run("syndiffix")
    secret = SqliteStore(run.folder / "ledger").salt_path(run.dataset)
    salt = secret.read_bytes()
    assert secret.stat().st_mode & 0o777 == 0o600 and len(salt) == 32
    for path in (run.folder / "out").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert salt not in content and salt.hex().encode() not in content, path
    assert salt.hex() not in text_of_everything(prefect_server, run.dataset)


def test_no_rare_cell_is_in_a_table_of_syndiffix(whole_run):
    for path in whole_run("syndiffix").release.rglob("*.parquet"):
        for column in pq.read_table(path).columns:
            texts = column.cast(pa.string()).to_pylist()
            assert not [text for text in texts if text and text.startswith(VISIT_CANARIES)]


@every_kind
def test_p2_a_release_is_rebuilt_without_table_ledger_and_sensitive_folder_byte_for_byte(
    kind, whole_run, tmp_path
):
    run = whole_run(kind)
    shutil.copytree(run.folder / "out" / "measurement", tmp_path / "out" / "measurement")
    where = {"output_dir": str(tmp_path / "out")}
    configuration = run.configuration.model_copy(update=where)
    if kind != "syndiffix":
        gone = run.configuration.input.model_copy(update={"path": str(tmp_path / "gone.csv")})
        configuration = configuration.model_copy(update={"input": gone})
    publish(configuration)
    assert pipeline.tree(pipeline.latest(configuration)) == pipeline.tree(run.release)
    settings = configuration.protection.model_copy(update=OTHER.get(kind, {}))
    other = {"protection": settings, "reporting_resolution": 51}
    with pytest.raises(ParameterError, match="other settings of protection"):
        publish(configuration.model_copy(update=other))


#: A setting of its protection that is not the run's; under k-anonymity it is the resolution.
OTHER = {"fitted": {"epsilon": 5.0}, "by_lengths": {"epsilon": 5.0}, "syndiffix": {"low_threshold": 4}}


@pytest.mark.needs_root
def test_p8_a_user_who_cannot_open_sensitive_can_publish(whole_run):
    if os.geteuid() != 0:
        pytest.skip("needs root, to drop to another user")
    run = whole_run("fitted")
    # Not below pytest's own folder, which every session closes to other users.
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name), Path(name) / "home"
        folder.chmod(0o755)
        for place in ("real", "copy"):
            shutil.copytree(run.folder / "out" / "measurement", folder / place / "measurement")
            paths = {"output_dir": folder / place, "sensitive_microdata_path": folder / "gone.csv"}
            body = pipeline.json_of(run.path) | {key: str(path) for key, path in paths.items()}
            (folder / f"{place}.json").write_text(json.dumps(body))
        shutil.copytree(run.folder / "out" / "sensitive", folder / "real" / "sensitive")
        for made in (folder / "real" / "intermediate", folder / "real" / "release", home):
            made.mkdir()
            shutil.chown(made, user=65534)
        given = [folder / "copy.json", folder / "real.json", folder / "real" / "sensitive"]
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, *map(str, given)],
            env={**os.environ, "HOME": str(home), "PREFECT_HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
            cwd=pipeline.ROOT,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        published = folder / "real" / "release" / run.dataset / "latest"
        assert pipeline.tree(published.resolve()) == pipeline.tree(run.release)


#: The interpreter's own files may be closed to the other user, so everything is imported by a first
#: publication, of a copy, before the process gives up its rights.
AS_NOBODY = """
import os, sys
from flows.command.main import main
copy, real, sensitive = sys.argv[1:]
assert main(["publish", copy]) == 0
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    os.listdir(sensitive)
    sys.exit(9)
except PermissionError:
    pass
code = main(["publish", real])
sys.stdout.flush()
os._exit(code)
"""


@every_kind
def test_the_table_is_opened_once(kind, whole_run):
    assert whole_run(kind).times_opened == 1


@every_kind
def test_p5_released_json_holds_allowed_keys_only(kind, whole_run):
    run = whole_run(kind)
    check_released_json(pipeline.json_of(run.release / "privacy.json"))
    for path in run.release.glob("*.json"):
        text = path.read_text().lower()
        for forbidden in ("true_count", "max_sensitivity", "expansion_ratio", str(run.folder).lower()):
            assert forbidden not in text, f"{forbidden} in {path.name}"
        if kind == "syndiffix" and path.name != "configuration.json":
            check_released_json(pipeline.json_of(path))


# ------------------------------------------------------------------ what is in a release


RELEASED = {
    "CITATION.cff",
    "MANIFEST.json",
    "croissant.json",
    "lineage.json",
    "methods.md",
    "configuration.json",
    "evaluation.json",
    "privacy.json",
    "people_data_showcase.html",
    "people_data_showcase.pbit",
    "people_reportable_aggregated_data.json",
    "people_reportable_aggregates.parquet",
    "people_reportable_aggregates.tsv",
    "people_synthetic_microdata.tsv",
}
RECOUNTED = "people_synthetic_aggregates.tsv"
#: What a run under a contract has beside it.
JUDGED = ("contract.json", "expectations.json")
ONLY = {
    "fitted": {"people_noisy_tables.parquet", "registry.yaml"},
    "by_lengths": {RECOUNTED, "registry.yaml"},
    "value_seeded": {RECOUNTED, *JUDGED},
    "aggregate_seeded": {RECOUNTED, *JUDGED},
    "row_seeded": {
        RECOUNTED,
        "people_synthetic_microdata_long.tsv",
        "people_synthetic_microdata_condensed.tsv",
    },
}
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
    "people_sensitive_aggregated_data.json",
    "people_sensitive_aggregates.tsv",
    RECOUNTED,
    "people_synthetic_rare_combos_by_length.tsv",
}


@pytest.mark.parametrize("kind", [*PRIVATE, *ROUNDED])
def test_every_file_of_sds_is_released_kept_or_exported(kind, whole_run, tmp_path):
    run = whole_run(kind)
    assert {path.name for path in run.release.iterdir()} == RELEASED | ONLY.get(kind, {RECOUNTED})
    sensitive = run.folder / "out" / "sensitive" / run.dataset
    for stage, names in KEPT.items():
        found = {path.name for path in sensitive.glob(f"*/{stage}/*")}
        assert {f"people_{name}" for name in names} <= found
    assert command.main(["export", str(sensitive), "--output", str(tmp_path / "export")]) == 0
    assert {path.name for path in (tmp_path / "export").iterdir()} == EXPORTED
    if kind != "fitted":
        assert (tmp_path / "export" / RECOUNTED).read_bytes() == (run.release / RECOUNTED).read_bytes()


@every_kind
def test_every_file_is_in_the_manifest_with_what_protects_it(kind, whole_run):
    run = whole_run(kind)
    assert_whole(run.folder, run.dataset)
    entries = pipeline.json_of(run.release / "MANIFEST.json")["files"]
    said = {entry["protection"]: entry["file"] for entry in entries}
    # A strict contract's verdicts are exact whatever protects the rest.
    exact = said.pop("none: exact verdicts on the raw table (see privacy.json)", None)
    assert exact == ("contract.json" if kind in ("syndiffix", "aggregate_seeded") else None)
    meant = {"syndiffix": SYNDIFFIX_LABEL} | dict.fromkeys(PRIVATE, "differential privacy")
    for words in set(said) - {"none: public"}:
        assert meant.get(kind, "not differential privacy") in words


def test_forms_on_request_hold_the_same_records(whole_run):
    release = whole_run("row_seeded").release
    _, rows = pipeline.microdata(release)
    filled = sum(bool(cell) for row in rows for cell in row)
    long = (release / "people_synthetic_microdata_long.tsv").read_text().splitlines()
    assert long[0] == "Id\tAttribute\tValue\tAttributeValue"
    assert len(long) - 1 == filled
    condensed = (release / "people_synthetic_microdata_condensed.tsv").read_text().splitlines()
    assert condensed[0].split("\t") == ["town", "age", "sex", "services", "work"]
    assert len(condensed) - 1 == len(rows)


def test_a_release_of_syndiffix_says_everywhere_that_it_is_not_differentially_private(
    whole_run, prefect_server
):
    run = whole_run("syndiffix")
    release, columns = run.release, ["town", "age", "income", "visited", "smoker"]
    table = pq.read_table(release / "visits_synthetic_microdata.parquet")
    assert table.column_names == columns
    kinds = ["string", "int64", "double", "timestamp[ms]", "bool"]
    assert [str(kind) for kind in table.schema.types] == kinds
    assert 350 < table.num_rows < 650 and set(table["town"].to_pylist()) == set(visits.TOWNS)
    assert 0 < table["age"].null_count < 200
    lines = (release / "visits_synthetic_microdata.tsv").read_text().splitlines()
    assert lines[0].split("\t") == columns and len(lines) == table.num_rows + 1
    index = pipeline.json_of(release / "visits_tables" / "index.json")
    assert index == {"00001.parquet": ["town", "age"], "00002.parquet": ["smoker"]}
    assert pq.read_table(release / "visits_tables" / "00002.parquet").column_names == ["smoker"]
    stated = pipeline.json_of(release / "privacy.json")
    assert (stated["private"], stated["regime"], stated["label"]) == (False, "syndiffix", SYNDIFFIX_LABEL)
    assert (stated["guarantee"]["ids"], stated["tables"], stated["earlier_releases"]) == (["person"], 2, 0)
    page = (release / "visits_data_showcase.html").read_text()
    files = {"visits_tables/00001.parquet", "visits_tables/00002.parquet"}
    assert {each["file"] for each in decoded(page).meta["tables"]} == files
    assert "Not differentially private" in page and "What this does not protect against" in page
    assert '<a href="visits_tables/00001.parquet">town × age</a>' in page
    assert page.count('<a href="visits_synthetic_microdata.parquet">') == 2
    contract = pipeline.json_of(release / "contract.json")
    assert {rule["verdict"] for rule in contract["rules"]} == {"passed"}
    (evaluation,) = (run.folder / "out" / "sensitive").rglob("evaluation.json")
    assert [each["length"] for each in pipeline.json_of(evaluation)["total_variation"]] == [1, 2]
    page = evaluation.parent / "visits_owner_showcase.html"
    assert (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    owners = page.read_text()
    assert "must not be passed on" in owners and decoded(owners).meta["audience"] == "owner"
    seen = known(prefect_server, run.dataset)
    names = {task["name"] for task in seen.task_runs}
    assert {"locate_table", "cluster-1"} <= names and not any("town" in name for name in names)
    assert any(SYNDIFFIX_LABEL in str(artifact["data"]) for artifact in seen.artifacts)


def test_a_release_under_a_contract_holds_its_verdicts_and_says_what_they_are_of(whole_run):
    found = {}
    for kind in CONTRACTS:
        release = whole_run(kind).release
        body = pipeline.json_of(release / "contract.json")
        assert body["mode"] == CONTRACTS[kind][1]
        entries = {entry["file"]: entry for entry in pipeline.json_of(release / "MANIFEST.json")["files"]}
        assert entries["expectations.json"]["protection"] == "none: public"
        assert "synthetic" not in " ".join(entries["expectations.json"]["parents"])
        found[kind] = {entry["rule"]: entry["verdict"] for entry in body["rules"]}, entries["contract.json"]
    strict, entry = found["aggregate_seeded"]
    assert set(strict.values()) == {"passed"} and "none: exact" in entry["protection"]
    repaired, entry = found["value_seeded"]
    assert repaired == {
        "every record has a subject id": "enforced",
        "at least 50 records": "passed",
        "sex: every value is one of those listed": "enforced",
    }
    assert "released numbers" in entry["made_from"]
    release = whole_run("value_seeded").release
    suite = pipeline.json_of(release / "expectations.json")
    asked = [expectation["kwargs"] for expectation in suite["expectations"]]
    assert {"column": "sex", "value_set": ["m", "f"]} in asked
    assert "sex: every value is one of those listed" in (release / "people_data_showcase.html").read_text()
    assert "blanked or replaced" in pipeline.json_of(release / "privacy.json")["contract"]["sentence"]


def test_releases_and_evaluations_are_compared_each_where_it_may_be(whole_run, tmp_path):
    runs = [whole_run(mode) for mode in ("row_seeded", "value_seeded")]
    home = tmp_path / "side by side"
    assert compare([run.release for run in runs], home) == 0
    assert "row_seeded" in (home / "comparison.html").read_text()
    header = (home / "comparison.tsv").read_text().splitlines()[0].split("\t")
    assert all(run.release.name in label for run, label in zip(runs, header[-2:], strict=True))
    evaluations = [next((run.folder / "out").glob("sensitive/*/*/evaluation")) for run in runs]
    assert compare(evaluations, runs[0].folder / "out" / "release" / "comparison") == 2
    assert compare(evaluations, tmp_path / "closed") == 0
    assert (tmp_path / "closed").stat().st_mode & 0o077 == 0
    copies = [shutil.copytree(each, tmp_path / f"copy {number}") for number, each in enumerate(evaluations)]
    for zone in ("release", "measurement", "intermediate"):
        assert compare(copies, runs[0].folder / "out" / zone / "comparison") == 2
    (tmp_path / "open").mkdir(mode=0o755)
    assert compare(copies, tmp_path / "open") == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "open").iterdir())
    assert command.main(["compare", str(runs[0].release)]) == 2


def compare(folders, output):
    """The exit code of a comparison."""
    return command.main(["compare", *map(str, folders), "--output", str(output)])


# ------------------------------------------------------------------ measured on request


@pytest.mark.parametrize("kind", ["fitted", "row_seeded", "syndiffix"])
def test_utility_is_measured_where_it_is_asked_for_and_no_byte_outside_of_sensitive_changes(
    kind, whole_run, prefect_server
):
    run = whole_run(kind)
    home = run.folder / "out" / "sensitive" / run.dataset
    before = outside_of_sensitive(run)
    target = "smoker" if kind == "syndiffix" else "work"
    asked = {"target": target} | ({} if kind == "syndiffix" else {"group": "town"})
    said = run_again(run, evaluate_utility=asked)
    (place,) = home.glob("*/utility")
    assert f"Must stay on this machine, from the utility stage: {place}" in said
    body = pipeline.json_of(place / "utility.json")
    assert body["prediction"]["target"] == target and body["k_marginal"]["group"] == asked.get("group")
    # Of SynDiffix a row is a visit, else a person.
    rows = len(visits.rows()) + 1 if kind == "syndiffix" else ROWS
    released = run.release / f"{run.configuration.prefix}_synthetic_microdata.tsv"
    synthetic = len(released.read_text().splitlines()) - 1
    assert body["rows"] == {"raw": rows, "synthetic": synthetic}
    assert 0 < body["discriminator"]["auc"] <= 1
    assert (place / f"{run.configuration.prefix}_discriminator_roc.svg").is_file()
    assert (place / f"{run.configuration.prefix}_total_variation_of_columns.tsv").is_file()
    everything = text_of_everything(prefect_server, run.dataset)
    tokens = VISIT_CANARIES if kind == "syndiffix" else CANARIES
    assert_no_trace(tokens, public_places(run.folder, run.folder / "ledger"), said + everything)
    assert f"{body['discriminator']['auc']:.4f}"[:6] not in everything
    # Asked again it is not measured again.
    run_again(run, evaluate_utility=asked)
    assert list(home.glob("*/utility")) == [place] and outside_of_sensitive(run) == before


def outside_of_sensitive(run):
    """Every file of the workspace but those of ``sensitive/``, by its name without a run's label.

    Each run states anew what protects, in a folder of ``intermediate/`` that bears its label.
    """
    files = pipeline.tree(run.folder / "out").items()
    return {
        re.sub(r"/\d{8}T\d{6}-\w+/", "/RUN/", name): content
        for name, content in files
        if not name.startswith("sensitive/")
    }


# ------------------------------------------------------------------ k-anonymity


@functools.cache
def true_combinations(longest: int) -> Counter[tuple[str, ...]]:
    """How many people hold each combination, in the wide form's words."""
    people: Counter[tuple[str, ...]] = Counter()
    labels = ("<0", "[0,18)", "[18,40)", "[40,65]", ">65")
    for _, town, age, sex, services, work in table_of_people():
        years = int(age)
        place = sum(years >= edge for edge in (0, 18, 40)) if years <= 65 else 4
        held = {f"town:{town}", f"age:{labels[place]}", f"sex:{sex}"}
        held |= {f"work:{work}"} if work else set()
        held |= {f"services_{service}:1" for service in services.split(";") if service}
        people[tuple(sorted(held))] += 1
    counted: Counter[tuple[str, ...]] = Counter()
    for held, number in people.items():
        for length in range(1, longest + 1):
            for combination in combinations(held, length):
                counted[combination] += number
    return counted


@pytest.mark.parametrize("kind", ["row_seeded", "value_seeded", "unseeded", "aggregate_seeded", "held"])
def test_no_combination_of_a_record_has_fewer_holders_than_the_resolution(kind, whole_run):
    release = whole_run(kind).release
    header, rows = pipeline.microdata(release)
    lengths = LENGTH if kind == "aggregate_seeded" else len(header)
    true = true_combinations(len(header))
    for row in set(map(tuple, rows)):
        held = sorted(f"{name}:{value}" for name, value in zip(header, row, strict=True) if value)
        assert held, "no record is empty"
        for length in range(1, min(lengths, len(held)) + 1):
            assert all(true[combination] >= RESOLUTION for combination in combinations(held, length))
    assert pipeline.json_of(release / "privacy.json")["private"] is False


@pytest.mark.parametrize(("kind", "longest"), [("row_seeded", LENGTH), ("unseeded", 8)])
def test_reported_counts_are_the_true_ones_rounded_down_and_nothing_else(kind, longest, whole_run):
    release = whole_run(kind).release
    first, second, *lines = (release / "people_reportable_aggregates.tsv").read_text().splitlines()
    rounded = ROWS // RESOLUTION * RESOLUTION
    assert (first, second) == ("selections\tprotected_count", f"record_count\t{rounded}")
    reported = {tuple(sorted(name.split(";"))): int(count) for name, count in (x.split("\t") for x in lines)}
    assert reported == {
        names: count // RESOLUTION * RESOLUTION
        for names, count in true_combinations(longest).items()
        if count >= RESOLUTION
    }


@pytest.mark.parametrize("kind", ["row_seeded", "aggregate_seeded"])
def test_a_random_seed_gives_the_same_records_in_another_workspace_and_none_gives_others(
    kind, whole_run, tmp_path
):
    run = whole_run(kind)
    made = pipeline.microdata(run.release)[1]
    for seed, is_same in ((SEED, True), (None, False)):
        body = pipeline.json_of(run.path) | {"random_seed": seed, "output_dir": str(tmp_path / str(seed))}
        release = pipeline.run(from_flat(body), "generate")
        assert (pipeline.microdata(release)[1] == made) is is_same


# ------------------------------------------------------------------ for readers


@every_kind
def test_statement_methods_and_page_say_that_declarations_were_drafted(kind, whole_run):
    release = whole_run(kind).release
    assert pipeline.json_of(release / "privacy.json")["drafted_from_table"] is True
    configuration = pipeline.json_of(release / "configuration.json")
    assert configuration["input"]["drafted_from_table"] is True
    assert configuration["publication"]["license"] == "CC-BY-4.0"
    assert "drafted by looking at the table itself" in (release / "methods.md").read_text().replace("\n", " ")
    (page,) = release.glob("*_data_showcase.html")
    assert "were drafted by looking at the table itself" in page.read_text()


def test_a_private_release_has_an_entry_for_the_registry(whole_run):
    entry = yaml.safe_load((whole_run("fitted").release / "registry.yaml").read_text())["deployment"]
    assert entry["basic"]["data_curators"] == ["Office of Numbers"]
    assert entry["basic"]["publication_date"] == "2026-11-01"
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 6.0, "delta": 1e-6}


@pytest.mark.parametrize(("kind", "protection"), [("row_seeded", "k-anonymous"), ("syndiffix", "SynDiffix")])
def test_another_release_says_nowhere_that_it_is_differentially_private(kind, protection, whole_run):
    release = whole_run(kind).release
    assert not (release / "registry.yaml").exists()
    for name in ("methods.md", "CITATION.cff", "croissant.json"):
        text = (release / name).read_text()
        assert protection in text and "ot differentially private" in text
        assert "epsilon" not in text.replace("privacy.json", "")


@pytest.mark.parametrize("kind", ["fitted", "row_seeded", "syndiffix"])
def test_machines_read_each_table_by_its_description(kind, whole_run):
    release = whole_run(kind).release
    dataset = mlcroissant.Dataset(jsonld=str(release / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    manifest = {each["file"]: each["sha256"] for each in pipeline.json_of(release / "MANIFEST.json")["files"]}
    described = {each.name: each.sha256 for each in dataset.metadata.file_objects}
    assert described.items() <= manifest.items()
    rows = {each.name: sum(1 for _ in dataset.records(each.uuid)) for each in dataset.metadata.record_sets}
    assert all(rows.values()) and f"{whole_run(kind).configuration.prefix}_synthetic_microdata" in rows
