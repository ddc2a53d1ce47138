"""A run of a vintage that was withdrawn: refused before anything is drawn, while other vintages go on."""

import pytest

from flows.command import main as command
from tests.flows import pipeline
from tests.flows.processes import configuration_file, configured, phases, releases

pytestmark = pytest.mark.server


def test_a_withdrawn_vintage_is_not_published_again_and_another_is(tmp_path, capfd):
    path = configuration_file(tmp_path)
    assert command.main(["run", "--agg", str(path)]) == 0
    home = tmp_path / "out" / "release" / "people"
    before = pipeline.tree(home / "2026-11-1")
    words = ["--correct", "The region is Norland.", "--replaced-by", "2026-12"]
    assert command.main(["errata", str(home / "latest"), *words]) == 0
    capfd.readouterr()
    # A corrected one is returned as it is, and said to be.
    assert command.main(["run", "--agg", str(path)]) == 0
    assert "2026-11-1 was corrected on" in capfd.readouterr().err
    assert command.main(["errata", str(home / "2026-11-1"), "--withdraw", "It is of a test table."]) == 0
    for action in ("run", "publish"):
        assert command.main([action, str(path)]) == 2
        assert "It is of a test table. Give what is released instead" in capfd.readouterr().err
    configured(tmp_path, noise_epsilon=5.0)  # another draw of the same vintage
    assert command.main(["run", "--agg", str(path)]) == 2
    assert phases() == ["commit"] and not (home / "latest").is_symlink()
    configured(tmp_path, vintage="2026-12")
    assert command.main(["run", "--agg", str(path)]) == 0
    assert (home / "latest").resolve().name == "2026-12-1"
    assert releases(tmp_path) == ["2026-11-1", "2026-12-1", "latest"] and (home / "INDEX.json").is_file()
    after = pipeline.tree(home / "2026-11-1")
    assert {name: after[name] for name in before} == before and set(after) - set(before) == {"ERRATA.md"}
    capfd.readouterr()
    assert command.main(["compare", "--over-time", str(home), "--output", str(tmp_path / "over")]) == 0
    assert "Withdrawn, so shown and not compared: 2026-11-1." in capfd.readouterr().err
