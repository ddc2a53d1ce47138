"""``marginalia ledger``: what it shows, exports, verifies and refuses."""

import json

import pytest

from flows.command import main as command
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.salts import salt_of
from tests.oracles.drawing import write_measurement
from tests.oracles.ledger_runs import gdp_charge, release


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert command.main(["ledger", *arguments]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


@pytest.fixture
def drawn(own_ledger, capsys):
    told(capsys, "people", "--cap", "4", "4e-6", "--population", "all of them")
    draw_once(open_ledger(), release("2026-01", "people"), gdp_charge(), write_measurement)
    return own_ledger


def test_spent_left_and_verified_in_words_and_as_json(drawn, capsys):
    words = told(capsys, "people")
    assert "of the budget (mu^2), epsilon" in words
    assert "more releases at the setting of the latest release, 2026-01 (epsilon 1, delta 1e-06)" in words
    assert "all 5 entries verified" in words
    facts = json.loads(told(capsys, "people", "--json"))
    assert facts["verified_entries"] == 5
    assert facts["left"]["runs"] > 1
    assert facts["left"]["setting"]["epsilon"] == 1
    assert facts["spent"]["releases"] == 1
    assert facts["releases"][0]["phase"] == "commit"
    assert "All 5 entries verified." in told(capsys)
    assert json.loads(told(capsys, "--json"))["datasets"] == [facts]


def test_an_export_is_verified_without_the_ledger(drawn, tmp_path, capsys, monkeypatch):
    file = tmp_path / "export.jsonl"
    assert "to auditors alone" in told(capsys, "people", "--export", str(file))
    assert "name another" in told(capsys, "people", "--export", str(file), code=2)
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "none"))
    assert "all 5 entries verified" in told(capsys, "--verify", str(file))
    assert json.loads(told(capsys, "--verify", str(file), "--json"))["verified_entries"] == 5
    assert not (tmp_path / "none").exists()
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:-2], lines[-1]]))
    assert "must be whole" in told(capsys, "--verify", str(file), code=1)


def test_a_misspelt_dataset_is_not_offered_a_second_budget(drawn, capsys):
    said = told(capsys, "peopel", code=2)
    assert "did you mean 'people'" in said and "--cap" not in said


def test_a_dataset_of_syndiffix_alone_is_told_to_have_a_salt_and_no_account(own_ledger, capsys):
    salt_of(own_ledger, "visits")
    assert "as SynDiffix has none" in told(capsys, "visits")
    assert "keeps the salts of: visits" in told(capsys)
    assert "under differential privacy registers it" in told(capsys, "other", code=2)


def test_every_written_reason_of_a_dataset_is_shown_with_or_without_an_account(own_ledger, capsys):
    told(capsys, "visits", "--reason", "patients of another town")
    for prepare, known_by in (
        (lambda: None, "no budget and no salt yet"),
        (lambda: salt_of(own_ledger, "visits"), "as SynDiffix has none"),
        (lambda: told(capsys, "visits", "--cap", "1", "1e-6", "--reason", "first"), "cap "),
    ):
        prepare()
        shown = told(capsys, "visits")
        assert known_by in shown and shown.count("  reason   patients of another town\n") == 1
    assert shown.index("patients of another town") < shown.index("  reason   first\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("people", "--unit", "row"), "--unit can't be used so: it only counts together with --cap"),
        (("people", "--population", "others"), "--population can't be used so"),
        (("people", "--threshold-delta", "1e-7"), "--threshold-delta can't be used so"),
        (("--cap", "1", "1e-6"), "--cap can't be used so: it is about one dataset"),
        (("--reason", "more"), "--reason can't be used so"),
        (("people", "--verify", "x"), "DATASET can't be used so: --verify reads a file alone"),
        (("people", "--cap", "4", "4e-6", "--population", "others"), "can't change: it is all of them"),
        (("--verify", "missing.jsonl"), "must be a text file that you may read"),
        (("people", "--configuration", "missing.json"), "missing.json"),
    ],
)
def test_options_that_would_be_ignored_are_refused(drawn, capsys, arguments, words):
    head = open_ledger().head()
    assert words in told(capsys, *arguments, code=2)
    assert open_ledger().head() == head
