"""W21: a vintage of before fitted was the default is returned to a file that names no mode, never redrawn."""

import json
from pathlib import Path

import pytest

from flows import command
from tests.flows import pipeline
from tests.flows.processes import configuration_file, configured, phases, releases

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("own_ledger", "prefect_server")]

#: Keys that files of before may hold.
OF_LENGTHS = {
    "sigma_proportions": [1.0, 0.5],
    "noise_threshold_type": "adaptive",
    "noise_threshold_values": {"2": 0.1},
    "use_synthetic_counts": True,
    "aggregate_seeded_target_number_of_records": 200,
    "random_seed": 5,
}
BY_LENGTHS = {"synthesis_mode": "aggregate_seeded"}
SAID = "this vintage was drawn when aggregate_seeded was the default; that release is returned"


@pytest.mark.parametrize("keys", [{}, OF_LENGTHS], ids=["plain", "keys of lengths"])
def test_w21_a_vintage_of_before_is_returned_by_every_command(
    keys: dict[str, object], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The file that names the mode has the name of before (tests/test_workload_configuration.py)."""
    from flows.measure import measure

    assert command.main(["run", str(configuration_file(tmp_path, **BY_LENGTHS, **keys))]) == 0
    home = tmp_path / "out" / "release" / "people"
    before = pipeline.tree(home / "2026-11-1")
    (measured,) = (tmp_path / "out" / "measurement" / "people").iterdir()
    path = configured(tmp_path, **keys)
    capfd.readouterr()
    assert command.main(["check", str(path)]) == 0
    assert f"note: {SAID}" in capfd.readouterr().out
    assert command.main(["run", str(path)]) == 0
    assert f"ATTENTION: {SAID}" in capfd.readouterr().err
    assert measure(pipeline.from_flat(pipeline.flat(tmp_path, **keys))).endswith(measured.name)
    batch = {"base_config": pipeline.flat(tmp_path, **keys), "runs": {"g": [{"name": "a"}]}}
    (tmp_path / "batch.json").write_text(json.dumps(batch))
    assert command.main(["batch", str(tmp_path / "batch.json")]) == 0
    assert "make 0 new draws" in capfd.readouterr().err
    assert command.main(["publish", str(path)]) == 0
    assert phases() == ["commit"]
    made = {
        file: text for file, text in before.items() if file.endswith((".tsv", ".parquet", "privacy.json"))
    }
    assert len(made) == 5
    for name in releases(tmp_path):
        again = pipeline.tree(home / name)
        assert {file: again[file] for file in made if file != "privacy.json"} == {
            file: text for file, text in made.items() if file != "privacy.json"
        }


def test_w21_a_new_vintage_is_fitted_and_so_is_one_that_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["run", "--agg", str(configuration_file(tmp_path, **BY_LENGTHS))]) == 0
    for changes in ({"vintage": "2026-12"}, {"synthesis_mode": "fitted"}):
        assert command.main(["run", "--agg", str(configured(tmp_path, **changes))]) == 0
        latest = tmp_path / "out" / "release" / "people" / "latest"
        assert "mu_squared_realised" in pipeline.json_of(latest / "privacy.json")
    assert phases() == ["commit"] * 3
    assert SAID not in capfd.readouterr().err
    # Where both are committed, a file that names no mode gets what it got before.
    before = releases(tmp_path)
    assert command.main(["run", "--agg", str(configured(tmp_path))]) == 0
    assert SAID in capfd.readouterr().err
    assert phases() == ["commit"] * 3 and releases(tmp_path) == before


def test_w21_a_release_that_fitted_can_not_make_is_found_once_its_mode_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    zcdp = {"privacy": {"accountant": "zcdp", "cap": {"epsilon": 20, "delta": 1e-5}}}
    assert command.main(["run", "--agg", str(configuration_file(tmp_path, **BY_LENGTHS, **zcdp))]) == 0
    capfd.readouterr()
    assert command.main(["run", "--agg", str(configured(tmp_path, **zcdp))]) == 2
    assert 'or write "synthesis_mode": "aggregate_seeded"' in capfd.readouterr().err
    assert command.main(["run", "--agg", str(configured(tmp_path, **BY_LENGTHS, **zcdp))]) == 0
    assert phases() == ["commit"] and releases(tmp_path) == ["2026-11-1", "latest"]
