"""``marginalia compare``: what it refuses to compare, and what it says to give in its place."""

import json
from pathlib import Path

from flows.command import main as command


def folders(folder: Path, statement: dict[str, object]) -> list[str]:
    """Two releases without an evaluation."""
    found = [folder / "first", folder / "second"]
    for each in found:
        each.mkdir()
        (each / "privacy.json").write_text(json.dumps(statement))
    return list(map(str, found))


def test_releases_of_syndiffix_are_refused_with_the_folders_that_can_be_compared(tmp_path, capsys):
    releases = folders(tmp_path, {"regime": "syndiffix"})
    assert command.main(["compare", *releases, "--output", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert all(release in said for release in releases)
    assert "sensitive/DATASET/RUN/evaluation" in said and "--evaluate" not in said
    assert not (tmp_path / "out").exists()


def test_other_releases_are_sent_to_the_evaluate_stage(tmp_path, capsys):
    releases = folders(tmp_path, {"regime": "k_anonymity"})
    assert command.main(["compare", *releases, "--output", str(tmp_path / "out")]) == 2
    assert "--evaluate" in capsys.readouterr().err
