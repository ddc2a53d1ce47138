"""``marginalia compare``: what it refuses to compare, and what it says to give in its place."""

import json

import pytest

from flows.command import main as command


@pytest.mark.parametrize(
    ("regime", "instead"),
    [("syndiffix", "sensitive/DATASET/RUN/evaluation"), ("k_anonymity", "--evaluate")],
)
def test_releases_without_an_evaluation_are_refused_with_what_can_be_compared(
    regime, instead, tmp_path, capsys
):
    releases = [tmp_path / "first", tmp_path / "second"]
    for each in releases:
        each.mkdir()
        (each / "privacy.json").write_text(json.dumps({"regime": regime}))
    assert command.main(["compare", *map(str, releases), "--output", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert instead in said and ("--evaluate" in said) == (regime == "k_anonymity")
    assert regime != "syndiffix" or all(str(release) in said for release in releases)
    assert not (tmp_path / "out").exists()
