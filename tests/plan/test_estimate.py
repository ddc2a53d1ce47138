"""What `check` says before a run: the noise that the run will have, and a refusal of what can't fit."""

from pathlib import Path

import pytest

from tasks.core.errors import ResourceLimit
from tasks.plan.describe import describe
from tasks.plan.estimate import Estimate, estimate, require_room
from tests.flows import pipeline


def found(folder: Path, **changes: object) -> Estimate:
    return estimate(describe(pipeline.prepared(folder, **changes)))


def by_lengths(folder: Path, **changes: object) -> Estimate:
    return found(folder, synthesis_mode="aggregate_seeded", **changes)


def test_noise_and_sensitivity_are_those_of_the_release(tmp_path):
    levels = by_lengths(tmp_path, reporting_length=3).levels
    # Six slots: four single columns and two items.
    assert [level.sensitivity for level in levels] == [6, 15, 20]
    for level in levels:
        assert level.scale**2 >= level.sigma**2 * level.sensitivity
        assert level.scale - 1 / 64 <= level.sigma * level.sensitivity**0.5


def test_length_one_has_no_threshold_where_every_domain_is_declared(tmp_path):
    domains = {"sex": ["m", "f"], "town": ["a"], "work": ["b"], "services": ["c", "d"]}
    assert by_lengths(tmp_path, domains=domains).levels[0].threshold is None
    assert by_lengths(tmp_path).levels[0].threshold is not None


def test_lengths_beyond_the_columns_cost_nothing(tmp_path):
    assert len(by_lengths(tmp_path, reporting_length=40).levels) == 6
    all_lengths = by_lengths(tmp_path, reporting_length=-1)
    assert by_lengths(tmp_path, reporting_length=40).levels == all_lengths.levels


@pytest.mark.parametrize(("memory", "disk", "word"), [(10**12, 1, "memory"), (1, 10**12, "disk")])
def test_a_run_beyond_memory_or_disk_is_refused_with_the_figure(memory, disk, word, tmp_path):
    with pytest.raises(ResourceLimit, match=f"{10**12} MB of {word}") as raised:
        require_room(Estimate(1, (), memory, disk, 1.0), tmp_path)
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    ("tables_mb", "shorter_mb", "words"),
    [
        (800, (900, 950), "reporting_length 2, "),
        (800, (900, 5_000), "reporting_length 1, "),
        (
            8_000,
            (8_500, 8_600),
            "a workload that lists the sets of columns that matter; bins or domains of fewer values; a "
            "smaller max_values for open columns; fewer columns (use_columns).",
        ),
        (0, (900, 5_000), "reporting_length 1; fewer columns"),
        (0, (), "fewer columns (use_columns); bins or domains"),
    ],
)
def test_what_would_help_is_what_takes_the_memory(tables_mb, shorter_mb, words, tmp_path, monkeypatch):
    """Of a fitted release the reporting length is only how much is listed; else its tables are too many."""
    found = Estimate(1, (), 9_000, 1, 1.0, tables_mb=tables_mb, shorter_mb=shorter_mb)
    monkeypatch.setattr("tasks.plan.estimate.free_memory_mb", lambda: 1_000)
    with pytest.raises(ResourceLimit) as raised:
        require_room(found, tmp_path)
    assert f"What helps: {words}" in str(raised.value)
    assert ("nothing that is measured changes" in str(raised.value)) == (0 < found.tables_mb < 1_000)


def test_a_shorter_reporting_length_is_estimated_as_such(tmp_path):
    whole = found(tmp_path, reporting_length=3)
    assert whole.shorter_mb == tuple(found(tmp_path, reporting_length=k).memory_mb for k in (1, 2))


def test_all_lengths_of_a_thousand_columns_are_refused_in_words(tmp_path):
    """Their number has 300 digits, beyond floating point."""
    names = [f"answer {place}" for place in range(1_100)]
    (tmp_path / "answers.csv").write_text(",".join(names) + "\n" + ",".join("y" * 1_100) + "\n")
    body = {
        "sensitive_microdata_path": str(tmp_path / "answers.csv"),
        "reporting_length": -1,
        "dataset": "answers",
    }
    wide = estimate(describe(pipeline.from_flat(body)))
    with pytest.raises(ResourceLimit, match="What helps: reporting_length"):
        require_room(wide, tmp_path)


def test_an_ordinary_run_fits(tmp_path):
    require_room(found(tmp_path), tmp_path)
    require_room(by_lengths(tmp_path), tmp_path)


def test_a_fitted_release_is_estimated_with_its_tables(tmp_path):
    few, many = (found(tmp_path, max_values=most) for most in (10, 1000))
    assert few.levels == () and many.memory_mb > few.memory_mb


def test_larger_tables_are_estimated_to_need_more(tmp_path):
    small = found(tmp_path)
    pipeline.write(tmp_path / "people.csv", pipeline.rows(6000))
    grown = estimate(describe(pipeline.from_flat(pipeline.flat(tmp_path))))
    assert grown.records > 5 * small.records
    assert grown.seconds > small.seconds
