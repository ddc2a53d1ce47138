"""``marginalia check``: a draft of a table can be accepted as it is, in either regime."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from flows import command
from tests.flows import pipeline


def drafts(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a proposal: the configuration, and what k-anonymity has in place of its keys."""
    return [json.loads(found) for found in re.findall(r"^\{$.*?^\}$", text, re.MULTILINE | re.DOTALL)]


@pytest.mark.parametrize("is_private", [True, False])
def test_a_proposal_is_a_configuration_that_can_be_run(
    is_private: bool,
    tmp_path: Path,
    own_ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    pipeline.write(tmp_path / "people.csv", pipeline.rows(400))
    assert command.main(["check", "--propose", "people.csv"]) == 0
    said = capsys.readouterr().out
    configuration, instead = drafts(said)
    (tmp_path / "contract.yaml").write_text(said.partition("# contract.yaml\n")[2])
    if not is_private:
        for key in ("dp_aggregates", "noise_epsilon", "delta"):
            assert f"{key}" in said.partition("k-anonymity")[2].partition("{")[0], (
                "it is said what to take out"
            )
            del configuration[key]
        configuration |= instead
    (tmp_path / "configuration.json").write_text(json.dumps(configuration))
    assert command.main(["check", "configuration.json"]) == 0
    shown = capsys.readouterr().out
    assert ("k-anonymity" in shown) is not is_private
    assert "The configuration can be run." in shown
    assert not re.search(r"\b0 CPU seconds", shown)
