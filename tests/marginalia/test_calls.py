"""Whole calls: ledger and salt as the command has them, and nothing of the table where it must not be."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import marginalia
from flows.command import main as command
from tests.flows import pipeline
from tests.flows.processes import ROOT, phases
from tests.marginalia.notebooks import TOKEN, people, refusal

ASKED: dict[str, Any] = {
    "dataset": "people",
    "vintage": "2026-11",
    "subject_id": "person",
    "epsilon": 4,
    "releases": 2,
    "bins": {"age": [0, 18, 40, 65]},
}


def texts_below(folder: Path) -> bytes:
    """Every byte of every file."""
    return b"".join(pipeline.tree(folder).values())


class World(NamedTuple):
    """A workspace with a ledger of its own, and the release that was made there of a table."""

    folder: Path
    ledger: Path
    table: pd.DataFrame
    release: marginalia.Release


@pytest.fixture(scope="module")
def world(tmp_path_factory, prefect_server, in_this_process):
    """Made once; the working directory is the workspace."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARGINALIA_LEDGER", str(folder / "ledger"))
        patch.chdir(folder)
        table = people()
        yield World(folder, folder / "ledger", table, marginalia.protect(table, **ASKED))


@pytest.mark.server
def test_records_have_the_dtypes_of_the_table(world):
    records, table = world.release.records, world.table
    assert isinstance(records, pd.DataFrame)
    assert records.columns.tolist() == table.columns.tolist()[1:]
    for name in ("children", "member", "seen", "note"):
        assert records[name].dtype == table[name].dtype
    assert str(records["smoker"].dtype) == ("boolean" if records["smoker"].isna().any() else "bool")
    assert records["sex"].cat.ordered and records["sex"].cat.categories.tolist() == ["m", "f"]
    assert records["age"].cat.ordered
    labels = ["<0", "[0,18)", "[18,40)", "[40,65]", ">65"]
    assert records["age"].cat.categories.tolist() == [each for each in labels if each in set(records["age"])]
    assert set(records["note"].dropna()) == {"a;b", "c:d"}
    assert 0 in records["children"].tolist()  # a value like any other


@pytest.mark.server
def test_a_release_has_counts_a_statement_and_a_page(world):
    release = world.release
    assert release.folder == world.folder / "release/people/2026-11-1"
    assert set(release.counts.columns) >= {"selections", "protected_count", "at_least", "at_most"}
    assert release.statement["private"] is True
    assert release.page is not None and release.page.is_file()
    assert "differential privacy, epsilon 4, delta 1e-06" in repr(release)
    assert 'href="release/people/2026-11-1/people_data_showcase.html"' in release._repr_html_()


@pytest.mark.server
def test_the_same_name_gives_the_same_release_whatever_the_table_holds_now(world):
    charged = phases()
    again = marginalia.protect(people(300, seed=2), **ASKED)
    assert again.folder == world.release.folder and again.records.equals(world.release.records)
    assert phases() == charged


@pytest.mark.server
def test_another_vintage_is_charged_and_an_exhausted_budget_refuses_notebook_and_command(
    world,
):
    charged = phases()
    marginalia.synthesize(world.table, **ASKED | {"vintage": "2026-12"})
    assert phases().count("commit") == charged.count("commit") + 1
    with pytest.raises(marginalia.BudgetExhausted, match="budget"):
        marginalia.protect(world.table, **ASKED | {"vintage": "2027-01"})
    pq.write_table(pa.table({"person": ["a"], "age": [1]}), "people.parquet")
    flat = {"sensitive_microdata_path": "people.parquet", "dp_aggregates": True, "noise_epsilon": 4}
    flat |= {"dataset": "people", "vintage": "2027-02", "subject_id": "person", "bins": ASKED["bins"]}
    Path("configuration.json").write_text(json.dumps(flat), encoding="utf-8")
    assert command.main(["run", "configuration.json"]) == 3
    assert phases().count("commit") == charged.count("commit") + 1


@pytest.mark.server
def test_an_evaluation_stays_in_sensitive_and_shows_no_figure_by_itself(world):
    evaluation = marginalia.evaluate(world.table, world.release, target="smoker")
    assert evaluation.place.is_relative_to(world.folder / "sensitive" / "people")
    assert evaluation.figures["rows"]["raw"] == len(world.table)
    assert evaluation.figures["rows"]["synthetic"] == len(world.release.records)
    assert "must stay on this machine" in evaluation.summary
    assert "not to be shared" in repr(evaluation) and not re.search(r"0\.\d", repr(evaluation))
    asked = {"release": str(world.release.folder), "output_dir": str(world.folder), "contract": None}
    said = refusal({"do": "evaluate", **asked, "target": "tall", "group": None}, world.table)
    assert re.search("target.*'tall'", said)


@pytest.mark.server
def test_a_release_that_is_handed_over_is_opened_and_one_that_was_changed_is_not(world, tmp_path):
    given = tmp_path / "given"
    shutil.copytree(world.release.folder, given)
    received = marginalia.open_release(given)
    made = world.release.records
    assert received.records.columns.tolist() == made.columns.tolist() and len(received.records) == len(made)
    for name in ("age", "note", "member"):
        assert received.records[name].astype(str).tolist() == made[name].astype(str).tolist()
    with pytest.raises(marginalia.ParameterError, match="output_dir"):
        marginalia.evaluate(world.table, received)
    file = given / "people_synthetic_microdata.tsv"
    file.write_bytes(file.read_bytes().replace(b"true", b"false", 1))
    with pytest.raises(marginalia.StoredTableMismatch, match=r"microdata\.tsv was changed"):
        marginalia.open_release(given)
    file.unlink()
    with pytest.raises(marginalia.StoredTableMismatch, match=r"microdata\.tsv is missing"):
        marginalia.open_release(given)
    with pytest.raises(marginalia.ParameterError, match="is none"):
        marginalia.open_release(tmp_path)


@pytest.mark.server
def test_a_withdrawn_release_is_opened_only_by_somebody_who_says_so(world, tmp_path):
    given = tmp_path / "release" / "people" / "2026-11-1"
    shutil.copytree(world.release.folder, given)
    assert command.main(["errata", str(given), "--correct", "Ages were rounded."]) == 0
    assert not marginalia.open_release(given).is_withdrawn
    told = ["--withdraw", "Half of the ages are wrong.", "--replaced-by", "2026-12"]
    assert command.main(["errata", str(given), *told]) == 0
    with pytest.raises(marginalia.ParameterError) as refused:
        marginalia.open_release(given)
    said = str(refused.value)
    assert "Half of the ages are wrong. Take 2026-12 instead." in said and "withdrawn=True" in said
    gone = marginalia.open_release(given, withdrawn=True)
    assert gone.is_withdrawn and "Withdrawn: Nobody should use it any more" in repr(gone)


@pytest.mark.server
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("mode", [pytest.param("row_seeded", marks=pytest.mark.slow), "syndiffix"])
def test_a_release_of_another_protection_is_evaluated_and_opened(mode, tmp_path, own_ledger, prefect_server):
    table = people()[["person", "age", "smoker"]]
    asked: dict[str, Any] = {} if mode == "syndiffix" else {"k": 10, "bins": {"age": [0, 18, 40, 65]}}
    release = marginalia.protect(
        table,
        dataset="people",
        vintage="v",
        subject_id="person",
        synthesis_mode=mode,
        output_dir=tmp_path / "out",
        **asked,
    )
    for each in (release, marginalia.open_release(release.folder)):
        evaluation = marginalia.evaluate(table, each, target="smoker")
        assert evaluation.figures["rows"]["synthetic"] == len(release.records)
    if mode == "syndiffix":
        with pytest.raises(marginalia.ParameterError, match="has no counts"):
            assert release.counts is None


@pytest.mark.server
def test_the_table_is_left_on_no_disk_and_a_rare_value_is_in_nothing_that_may_leave(world):
    left = [path for path in world.folder.rglob("*.parquet") if path.name != "people.parquet"]
    assert left and not any("person" in pq.read_schema(path).names for path in left)
    leaving = texts_below(world.folder / "release") + texts_below(world.ledger)
    assert TOKEN.encode() not in leaving
    release = world.release
    said = repr(release) + release._repr_html_() + "".join(release.owner_notes) + repr(release.records.dtypes)
    assert TOKEN not in said and TOKEN not in str(release.records["sex"].dtype)


@pytest.mark.server
@pytest.mark.usefixtures("in_this_process")
def test_an_arrow_table_under_k_anonymity_and_what_a_contract_refuses(tmp_path, own_ledger, prefect_server):
    table = pa.Table.from_pandas(people(), preserve_index=False).replace_schema_metadata(None)
    table = table.drop_columns(["seen", "children"])
    lists = pa.array([["pool", "library"] if place % 2 else ["pool"] for place in range(400)])
    table = table.append_column("services", lists)
    asked: dict[str, Any] = {"dataset": "visitors", "vintage": "v", "subject_id": "person", "k": 10}
    asked |= {"multi_value_columns": {"services": "|"}, "output_dir": tmp_path}
    release = marginalia.protect(table, **asked)
    records = release.records
    assert isinstance(records, pa.Table)
    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    del kinds["person"]
    assert dict(zip(records.column_names, records.schema.types, strict=True)) == kinds
    assert records["sex"].chunk(0).dictionary.to_pylist() in (["m", "f"], ["f"], ["m"])
    assert {item for items in records["services"].to_pylist() if items for item in items} == {
        "pool",
        "library",
    }
    assert "k = 10" in repr(release)
    del asked["multi_value_columns"]
    contract = pipeline.contract(tmp_path, "note", values=["a;b"])
    with pytest.raises(marginalia.ContractViolation) as refused:
        marginalia.protect(table.select(["person", "note"]), **asked | {"vintage": "w"}, contract=contract)
    said = str(refused.value).replace(str(tmp_path), "")
    assert TOKEN not in said and "contract" in said


@pytest.mark.usefixtures("in_this_process")
def test_the_salt_is_the_command_s_and_the_table_that_comes_out_is_too(tmp_path, own_ledger):
    table = people()[["person", "age", "sex", "smoker"]]
    table["joined"] = [f"{1 + row % 28:02}/{1 + row % 3:02}/2026" for row in range(len(table))]
    made = marginalia.syndiffix(table, ids=["person"], date_formats={"joined": "%d/%m/%Y"})
    assert made.dtypes["age"] == "int64" and made.dtypes["smoker"] == "bool"
    assert set(made["joined"].dt.month) <= {1, 2, 3} and max(made["joined"].dt.day) > 12
    assert made["sex"].cat.ordered and made["sex"].cat.categories.tolist() == ["m", "f"]
    table.to_parquet(tmp_path / "people.parquet")
    output = tmp_path / "out.parquet"
    path = str(tmp_path / "people.parquet")
    more = ["--aidcolumns", "person", "--date-format", "joined=%d/%m/%Y", "-o", str(output)]
    assert command.main(["syndiffix", path, *more]) == 0
    assert pq.read_table(output).to_pylist() == pa.Table.from_pandas(made).to_pylist()
    # Another name for the same columns is another salt, and refused as the command refuses it.
    for options, words in (
        ({"dataset": "others"}, "share one salt"),
        ({"low_treshold": 4}, "did you mean 'low_threshold'"),
        ({"date_formats": "joined=%Y"}, "date_formats= must hold texts by column"),
        ({"date_formats": {"joined": 4}}, "date_formats= must hold texts by column"),
    ):
        asked = {"do": "syndiffix", "options": {"aidcolumns": ["person"], **options}, "output": "none"}
        assert words in refusal(asked, table)
    # Names come back as they were, and a position is that of a column to synthesize.
    renamed = table.rename(columns={"age": " age ", "sex": "'sex'"}).drop(columns="joined")
    safe = marginalia.syndiffix(renamed, ids=["person"], value_safe_columns=[0, "smoker"])
    assert list(safe.columns) == [" age ", "'sex'", "smoker"] and set(safe[" age "]) <= set(table["age"])
    with pytest.raises(marginalia.ParameterError, match="count those that are synthesized from 0 to 2"):
        marginalia.syndiffix(renamed, ids=["person"], value_safe_columns=[3])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "one protection"),
        ({"epsilon": 1, "k": 10}, "one protection"),
        ({"k": 10, "sensitive_microdata_path": "x.csv"}, "first argument"),
        ({"k": 10, "use_columns": object()}, "not object"),
        ({"k": 10, "bins": {"age": people(5)["age"]}}, "not Series"),
        ({"k": 10, "noise_epsilon": 1}, "given as epsilon"),
        ({"k": 10, "releases": 2}, "releases is about the budget"),
        ({"k": 10, "dataset": None}, "dataset must be a text"),
    ],
    ids=["none", "two", "a path", "no JSON", "a column", "a key", "releases", "no name"],
)
def test_what_can_t_be_meant_is_refused_before_anything_starts(asked, said):
    with pytest.raises(marginalia.ParameterError, match=said):
        marginalia.protect(people(5), **{"dataset": "d", "vintage": "v"} | asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"domains": {"sex": [TOKEN, "f", TOKEN]}},
        {"report_visuals": {"Who": ["sex:f", TOKEN]}},
        {"report_visuals": {"Who": ["sex:f"]}, "report_pages": {"One": ["Who", TOKEN]}},
    ],
    ids=["values", "a chart", "a page"],
)
def test_of_a_list_made_from_the_table_an_error_names_the_place_alone(asked, tmp_path, own_ledger):
    settings = {"dataset": "d", "vintage": "v", "subject_id": "person", "output_dir": str(tmp_path)}
    said = refusal({"do": "protect", "settings": settings | asked}, people(60)[["person", "age", "sex"]])
    assert re.search("'sex': a list|at place 2", said) and TOKEN not in said


WAITS = f"""
import sys
import pandas as pd
import marginalia
table = pd.DataFrame({{"person": ["{TOKEN}", "b"], "sex": ["f", "m"]}})
try:
    marginalia.protect(table, dataset="d", vintage="v", k=2, contract=sys.argv[1])
except KeyboardInterrupt as stop:
    print(type(stop).__name__, "{TOKEN}" in repr(stop.__traceback__.tb_next.tb_frame.f_locals))
"""


@pytest.fixture
def waiting(tmp_path, own_ledger):
    """A call in a process of its own that waits for its contract, a pipe; and the pipe, that we write to."""
    pipe = tmp_path / "contract.yaml"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(pipe)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    while True:  # opens as soon as somebody reads
        assert process.poll() is None
        try:
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:
            time.sleep(0.05)
    yield process, descriptor
    os.close(descriptor)
    process.kill()
    process.wait()


def _is_read(descriptor: int) -> bool:
    try:
        os.write(descriptor, b" ")
    except BrokenPipeError:
        return False
    return True


def test_an_interrupt_ends_the_call_and_the_run(waiting):
    process, descriptor = waiting
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=240)[0].strip() == "KeyboardInterrupt False"
    assert not _is_read(descriptor)


def test_a_run_ends_with_the_notebook_that_asked_for_it(waiting):
    process, descriptor = waiting
    process.kill()
    for _ in range(2400):
        if not _is_read(descriptor):
            break
        time.sleep(0.1)
    assert not _is_read(descriptor)


def test_a_folder_with_tasks_and_flows_of_its_own_is_no_hindrance(tmp_path, own_ledger):
    for name in ("tasks", "flows", "errors", "logging_of_mine"):
        (tmp_path / f"{name}.py").write_text(f"answer = '{name} of the notebook'\n")
    script = (
        "import pandas as pd, tasks, flows, marginalia\n"
        "people = pd.DataFrame({'person': range(60), 'sex': ['f', 'm'] * 30})\n"
        "made = marginalia.syndiffix(people, ids=['person'])\n"
        "print(tasks.answer, flows.answer, sorted(set(made['sex'])), sep='; ')\n"
    )
    (tmp_path / "analysis.py").write_text(script)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "analysis.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "tasks of the notebook; flows of the notebook; ['f', 'm']"


def test_it_is_imported_from_any_folder_and_loads_nothing_that_is_slow(tmp_path):
    slow = ("pandas", "pyarrow", "numpy", "prefect", "duckdb", "numba", "IPython", "tasks", "flows")
    script = f"import sys, marginalia; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]" and ROOT.is_dir()
