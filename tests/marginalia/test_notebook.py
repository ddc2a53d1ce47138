"""The notebook of the documents, executed in a real kernel, beside a ``tasks.py`` and a ``flows.py``."""

import re

import nbformat
import pandas as pd
import pytest

import marginalia
from tests.flows.processes import ROOT
from tests.marginalia.notebooks import TOKEN, executed, refusal, shown

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.fixture
def folder(tmp_path):
    """A notebook's, in which a person has files of these names."""
    for name in ("tasks.py", "flows.py"):
        (tmp_path / name).write_text(f"raise SystemExit('{name} of the notebook was imported')\n")
    return tmp_path


def test_it_has_ten_cells_and_no_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert len(notebook.cells) == 10
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


@pytest.mark.server
def test_it_goes_from_a_dataframe_to_a_release_and_back(folder, own_ledger, prefect_server):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    executed(notebook, folder)
    _, released, records, counts, statement, again, refused, evaluated, received = shown(notebook)
    assert "differential privacy, epsilon 1" in released and "text/html" in released
    assert "boolean" in records and "category" in records
    assert "at_least" in counts and "How strong is the guarantee?" in statement
    assert "True True" in again
    assert "budget of 'people' does not cover" in refused or "used up" in refused
    assert "not to be shared" in evaluated and "auc" not in evaluated
    assert "2026-11 True" in received
    release = marginalia.open_release(folder / "out/release/people/2026-11-1")
    assert isinstance(release.records, pd.DataFrame) and len(release.records) > 1900
    # What only the person at the terminal may see is not saved with the notebook, nor how fast a step went.
    everything = "".join(shown(notebook))
    assert "dropped_cells" not in everything and not re.search(r"\d+%|\d+ s:", everything)


FAILING = [
    "%xmode Verbose",
    "import pandas as pd, marginalia\n"
    f"people = pd.DataFrame({{'person': ['a', 'b'], '{TOKEN}': ['{TOKEN}', 7]}})\n"
    "protect = lambda table, **more: marginalia.protect(table, dataset='d', vintage='v', k=2, **more)",
    "protect(people, use_columns=['nobody'])",
    "marginalia.syndiffix(people.astype(str), ids=['prson'])",
    "protect(people.rename(columns=lambda name: 'x'))",
    f"marginalia.syndiffix(people.astype(str), ids=['person'], low_threshold=people['{TOKEN}'])",
    "marginalia.evaluate(people, people)",
    "marginalia.open_release(people)",
    "marginalia.protect(people)",
    "protect([people])",
]


def test_a_verbose_traceback_in_a_notebook_shows_nothing_of_the_table(folder, own_ledger):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in FAILING])
    executed(notebook, folder, allow_errors=True)
    for cell in notebook.cells[2:]:
        (error,) = [output for output in cell.outputs if output.output_type == "error"]
        assert error.ename == "ParameterError"
        assert TOKEN not in str(cell.outputs) and len(error.evalue) > 20
    assert "column 'prson'" in str(notebook.cells[3].outputs)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            {"do": "protect", "settings": {"subject_id": "persn", "domains": {TOKEN[:4]: ["a"]}}},
            "persn",
        ),
        ({"do": "protect", "settings": {"use_columns": 6 * [TOKEN]}}, "more texts than there are columns"),
        (
            {"do": "syndiffix", "options": {"aidcolumns": 6 * [TOKEN]}, "output": "none"},
            "more texts than there are columns",
        ),
        (
            {
                "do": "syndiffix",
                "options": {"aidcolumns": ["person"], "low_threshold": "three"},
                "output": "none",
            },
            "low_threshold= must be a whole number",
        ),
    ],
)
def test_what_a_call_refuses_holds_nothing_of_the_table(request_, said, tmp_path, own_ledger):
    table = pd.DataFrame({"person": ["a", "b"], TOKEN: [TOKEN, "7"]})
    flat = {"dataset": "d", "vintage": "v", "reporting_resolution": 2, "output_dir": str(tmp_path)}
    if "settings" in request_:
        request_ = {**request_, "settings": flat | request_["settings"]}
    refused = refusal(request_, table)
    assert said in refused and TOKEN not in refused
