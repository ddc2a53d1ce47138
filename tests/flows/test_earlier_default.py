"""W21: a vintage of before fitted was the default is returned to a file that names no mode, never redrawn."""

import json
from pathlib import Path

import pytest

from flows.command import main as command
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
SAID = "this vintage was drawn when aggregate_seeded was the default, and the run returns that release"


@pytest.mark.parametrize(
    "keys",
    [pytest.param({}, id="plain"), pytest.param(OF_LENGTHS, id="keys of lengths", marks=pytest.mark.slow)],
)
def test_w21_a_vintage_of_before_is_returned_by_every_command(
    keys: dict[str, object], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The file that names the mode has the name of before (see test_workload_configuration.py)."""
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
    assert "makes 0 new draws" in capfd.readouterr().err
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


CAP = {"cap": {"epsilon": 60, "delta": 1e-4}}
#: What fitted can't have, as files of before may hold it.
NOT_FITTED: dict[str, dict[str, object]] = {
    "zcdp": {"privacy": {"accountant": "zcdp", **CAP}},
    "profile": {"privacy": {"contribution": "profile", **CAP}},
    "delta_factor": {"delta": 1e-6, "delta_factor": 0.5, "privacy": CAP},
    "thresholds": {"privacy": {"thresholds": "minimize", **CAP}},
}
REFUSED = "can't be used with synthesis_mode fitted (the default): leave it out, or write"


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(keys, id=name, marks=[] if name == "zcdp" else [pytest.mark.slow])
        for name, keys in NOT_FITTED.items()
    ],
)
def test_w21_a_release_that_fitted_can_not_make_is_returned_and_a_new_vintage_is_refused(
    keys: dict[str, object], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from flows.measure import measure

    path = configuration_file(tmp_path, **keys)
    batch = tmp_path / "batch.json"
    batch.write_text(
        json.dumps({"base_config": pipeline.flat(tmp_path, **keys), "runs": {"g": [{"name": "a"}]}})
    )
    commands = [
        ["check", str(path)],
        ["run", "--agg", str(path)],
        ["publish", str(path)],
        ["batch", str(batch)],
    ]
    for words in commands:
        assert command.main(words) == 2
        assert REFUSED in capfd.readouterr().err
    assert phases() == []
    assert command.main(["run", "--agg", str(configured(tmp_path, **BY_LENGTHS, **keys))]) == 0
    (measured,) = (tmp_path / "out" / "measurement" / "people").iterdir()
    configured(tmp_path, **keys)
    for words in commands:
        capfd.readouterr()
        assert command.main(words) == 0, words
        told = capfd.readouterr()
        assert words[0] == "publish" or SAID in told.out + told.err
        assert (
            words[0] == "publish"
            or f"A new vintage needs another file: {key_of(keys)}" in told.out + told.err
        )
    assert measure(pipeline.from_flat(pipeline.flat(tmp_path, **keys))).endswith(measured.name)
    for words in (["run", "--agg"], ["check"]):
        path = configured(tmp_path, vintage="2026-12", **keys)
        assert command.main([*words, str(path)]) == 2
        assert REFUSED in capfd.readouterr().err
    assert phases() == ["commit"]


def key_of(keys: dict[str, object]) -> str:
    """The key that is named in the refusal."""
    section = keys["privacy"]
    assert isinstance(section, dict)
    named = next(iter(section))
    return "delta_factor" if "delta_factor" in keys else f"privacy.{named}"


@pytest.mark.parametrize(
    "order", [("named", "unset"), pytest.param(("unset", "named"), marks=pytest.mark.slow)]
)
def test_w21_in_a_batch_a_run_without_a_mode_means_what_the_ledger_held_before_it(
    order: tuple[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    modes = {"named": BY_LENGTHS, "unset": {}}
    path = configuration_file(tmp_path)
    runs = [{"name": name, **modes[name]} for name in order]
    batch = tmp_path / "batch.json"
    batch.write_text(json.dumps({"base_config": pipeline.flat(tmp_path), "runs": {"g": runs}}))
    assert command.main(["batch", str(batch)]) == 0
    said = capfd.readouterr().err
    assert "makes 2 new draws" in said and SAID not in said
    assert phases() == ["commit", "commit"]
    is_fitted = {
        name: "mu_squared_realised"
        in pipeline.json_of(tmp_path / "out" / "g" / f"{place}_{name}" / "release" / "privacy.json")
        for place, name in enumerate(order)
    }
    assert is_fitted == {"named": False, "unset": True}
    # Afterwards the file means, by itself, what was drawn first; run and publish say the same.
    latest = tmp_path / "out" / "release" / "people" / "latest" / "privacy.json"
    for words in (["run", "--agg"], ["publish"]):
        assert command.main([*words, str(path)]) == 0
        assert ("mu_squared_realised" in pipeline.json_of(latest)) == (order[0] == "unset")
    assert phases() == ["commit", "commit"]


def test_w21_what_a_file_without_a_mode_got_it_gets_whatever_is_drawn_later(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = configuration_file(tmp_path)
    assert command.main(["run", "--agg", str(path)]) == 0
    assert command.main(["run", "--agg", str(configured(tmp_path, **BY_LENGTHS))]) == 0
    latest = tmp_path / "out" / "release" / "people" / "latest" / "privacy.json"
    for words in (["run", "--agg"], ["publish"]):
        configured(tmp_path)
        assert command.main([*words, str(path)]) == 0
        assert "mu_squared_realised" in pipeline.json_of(latest)
    assert SAID not in capfd.readouterr().err
    assert phases() == ["commit", "commit"]
