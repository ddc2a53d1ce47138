"""What the module's docstrings show runs, one after another, as it would in a notebook."""

import doctest
import re
from typing import Any

import pytest

import marginalia
from marginalia import errors
from tests.flows.processes import ROOT
from tests.marginalia.notebooks import people


@pytest.mark.server
def test_examples_give_what_they_say(tmp_path, own_ledger, prefect_server, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people()[["person", "age", "sex", "smoker"]]
    table["sex"] = table["sex"].astype(str)
    shown = 0
    for name in (
        *("protect", "synthesize", "syndiffix", "build_blob", "open_blob", "stitch"),
        *("open_release", "evaluate"),
    ):
        (test,) = doctest.DocTestFinder(recurse=False).find(
            getattr(marginalia, name), name, extraglobs={**vars(marginalia), "people": table}
        )
        assert test.examples
        shown += len(test.examples)
        found = doctest.DocTestRunner().run(test)
        assert found.failed == 0
    (words,) = doctest.DocTestFinder(recurse=False).find(
        errors.name_misspelt, "misspelt", extraglobs=vars(errors)
    )
    shown += len(words.examples)
    assert doctest.DocTestRunner().run(words).failed == 0
    text = "".join(path.read_text("utf-8") for path in (ROOT / "marginalia").glob("*.py"))
    assert shown == len(re.findall(r"^\s*>>> ", text, re.M))


@pytest.mark.server
def test_the_lines_of_the_readme_run_as_they_are_pasted(tmp_path, own_ledger, prefect_server, monkeypatch):
    workspace = tmp_path / "work"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    people()[["person", "age", "sex", "smoker"]].to_csv("people.csv", index=False)
    (lines,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    assert len(lines.splitlines()) == 10
    found: dict[str, Any] = {}
    exec(lines, found)
    assert found["release"].vintage == "2026-11"
