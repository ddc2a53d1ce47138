"""``marginalia export``: the bytes that runs wrote before, closed files, and where they must not go."""

import hashlib
import stat

import numpy as np
import pytest

from flows.command import main as command
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Column, Schema
from tasks.sensitive.export import write_sources
from tasks.storage import Workspace
from tests.oracles.marginals import coded
from tests.oracles.synthetic import synthetic

ONE_THREAD = QueryResources(threads=1)
SCHEMA = Schema((Column("b"), Column("M", delimiter=";", max_items=3), Column("A"), Column('c\t"')))
#: Of the files that every run wrote for this table before they were left to be exported.
BEFORE = {
    "sensitive_aggregates.tsv": "0cee21b71315967ce60595ce6f7dc12b6e55fc4d5550a149fad532f822da3812",
    "sensitive_aggregated_data.json": "7e5741a4ddd3bdf5b3acd877c421336b8cd585201e53c0e16604b293af5e6929",
    "synthetic_aggregates.tsv": "f643ae8feed80dcf126ec4d558081a65c1556cb5e049f08afc653f849323ac3e",
    "synthetic_rare_combos_by_length.tsv": "882ba182bd8a5ce55df8e7736702be36e1b53bfded207357111d5e9fdb673807",
}


def people(number: int, seed: int) -> list[list[set[str]]]:
    """Records with gaps, several items, and cells that must be quoted."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        items = {item for item in "pqrs" if draw.random() < 0.4}
        letter = {f"v{draw.integers(0, 4)}"} if draw.random() < 0.9 else set()
        spaced = {"x\ty" if draw.random() < 0.2 else f"w {draw.integers(0, 3)}"}
        found.append([letter, set(sorted(items)[:3]), spaced, {str(draw.integers(1, 30))}])
    return found


@pytest.fixture
def run(tmp_path):
    """A run's folder in ``sensitive/``, as the stages leave it."""
    workspace, label = Workspace(tmp_path / "out"), "people/20260101T000000-abcdef"
    workspace.prepare()
    home, drawn = workspace.sensitive / label, synthetic(SCHEMA, people(100, 2))
    records = workspace.store(home / "records", "coded records", coded(SCHEMA, people(120, 1)).write)
    marginals = workspace.store(
        home / "marginals",
        "exact marginals",
        lambda folder: count_marginals(workspace.path(records), folder, 4, ONE_THREAD) and None,
    )

    def keep_sources(folder, *drawn):
        write_sources(folder, "my", 5, records, marginals, *drawn)

    workspace.store(home / "aggregate", "sensitive aggregates", keep_sources)
    made = workspace.path(workspace.store(home / "drawn", "synthetic records", drawn.write))
    workspace.store(home / "evaluation", "evaluation", lambda folder: keep_sources(folder, made))
    return home


def test_what_is_exported_is_byte_for_byte_what_runs_wrote_before(run):
    assert command.main(["export", str(run)]) == 0
    found = {path.name.removeprefix("my_"): path for path in (run / "export").iterdir()}
    assert set(found) == set(BEFORE)
    for name, digest in BEFORE.items():
        assert hashlib.sha256(found[name].read_bytes()).hexdigest() == digest, name


def test_the_dataset_s_folder_stands_for_its_newest_run_and_names_choose(run, tmp_path):
    (run.parent / "20270101T000000-abcdef").mkdir()
    place = tmp_path / "elsewhere"
    names = ["sensitive_aggregated_data", "synthetic_aggregates.tsv"]
    assert command.main(["export", str(run.parent), "--only", *names, "--output", str(place)]) == 0
    found = {path.name for path in place.iterdir()}
    assert found == {"my_sensitive_aggregated_data.json", "my_synthetic_aggregates.tsv"}


@pytest.mark.parametrize("dataset", ["release", "sensitive"])
def test_a_dataset_may_be_named_as_a_folder_of_the_workspace(run, dataset):
    renamed = run.parent.rename(run.parent.with_name(dataset)) / run.name
    for stage in ("aggregate", "evaluation"):
        sources = renamed / stage / "sources.json"
        sources.write_text(sources.read_text().replace("people/", f"{dataset}/"))
    assert command.main(["export", str(renamed)]) == 0
    assert len(list((renamed / "export").iterdir())) == len(BEFORE)


def test_files_and_folder_are_closed_whatever_the_umask(run, tmp_path):
    place = tmp_path / "mine" / "listings"
    assert command.main(["export", str(run), "--output", str(place)]) == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o600}


@pytest.mark.parametrize("zone", ["release", "measurement", "intermediate"])
def test_a_zone_that_is_read_by_others_is_refused_also_through_a_link(run, zone, tmp_path, capsys):
    (tmp_path / "out" / zone / "people").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "out" / zone / "people")
    for place in (tmp_path / "out" / zone / "new", tmp_path / "link"):
        assert command.main(["export", str(run), "--output", str(place)]) == 2
        assert f"must not be in {zone}/" in capsys.readouterr().err
    assert not list((tmp_path / "out" / zone).rglob("*.tsv"))


@pytest.mark.parametrize("given", ["nowhere", "out/sensitive", "out/release"])
def test_a_folder_without_a_run_is_refused_with_what_to_give(run, given, tmp_path, capsys):
    assert command.main(["export", str(tmp_path / given), "--output", str(tmp_path / "to")]) == 2
    assert "sensitive/DATASET/RUN" in capsys.readouterr().err
    assert not (tmp_path / "to").exists()


def test_a_stage_that_did_not_run_is_named(run, capsys):
    (run / "evaluation" / "sources.json").unlink()
    assert command.main(["export", str(run), "--only", "synthetic_aggregates"]) == 2
    assert "does not give synthetic_aggregates.tsv" in capsys.readouterr().err
    assert command.main(["export", str(run)]) == 0
    found = {path.name.removeprefix("my_") for path in (run / "export").iterdir()}
    assert found == set(list(BEFORE)[:2])


def test_a_name_that_is_none_is_refused_with_what_was_meant(run, capsys):
    assert command.main(["export", str(run), "--only", "sensitive_agregates"]) == 2
    assert "did you mean sensitive_aggregates?" in capsys.readouterr().err


def test_counts_that_are_gone_or_were_changed_are_refused(run, capsys):
    (run / "marginals" / "marginals_2.parquet").write_bytes(b"other")
    assert command.main(["export", str(run)]) != 0
    assert "was changed after it was written" in capsys.readouterr().err
    (run / "marginals").rename(run / "gone")
    assert command.main(["export", str(run)]) == 2
    assert "which is gone" in capsys.readouterr().err
    assert not list((run / "export").iterdir()), "nothing half written"


def test_a_place_that_is_a_file_is_refused(run, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert command.main(["export", str(run), "--output", str(tmp_path / "file")]) == 2
    assert "--output must be a folder that you can write" in capsys.readouterr().err
