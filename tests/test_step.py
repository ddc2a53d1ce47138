"""The decorator of steps: zones, safe failures and keys; edges of a run's graph; progress on its page."""

import ast
import importlib
import pkgutil
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from prefect import Flow, Task, flow
from prefect.context import FlowRunContext

import tasks
from tasks.core.errors import InputError, InternalError, ParameterError, ResourceLimit
from tasks.core.queries import QueryResources
from tasks.sensitive.protect import admit_release, protect_records
from tasks.step import (
    Output,
    ProgressArtifact,
    RunStep,
    as_lookup,
    edges_from,
    record_origins,
    results_in,
    skip_if_known,
    step,
    without_edges,
)
from tasks.storage import (
    FULL,
    INTERMEDIATE,
    SENSITIVE,
    HoldsResults,
    Reference,
    RunWorkspace,
    StoredTable,
    Workspace,
)

ROOT = Path(tasks.__file__).parent
#: What may run as a step, and what of Prefect a file of `tasks/` may use beside the decorator.
_DECORATOR, _PREFECT_TASK = "tasks/step.py", ("task", "Task", "flow", "Flow")
#: The decorator, and the parts of a step on the workers of a cluster.
_MAKERS = (_DECORATOR, "tasks/cluster.py")
ZONES = {"tasks.sensitive": SENSITIVE, "tasks.batch": SENSITIVE, "tasks.public": INTERMEDIATE}


def modules() -> list[str]:
    return [found.name for found in pkgutil.walk_packages([str(ROOT)], "tasks.")]


def steps() -> dict[str, RunStep]:
    """Every step, by where it is defined."""
    found = {}
    for name in modules():
        if not name.startswith("tasks.core."):
            for each in vars(importlib.import_module(name)).values():
                assert not isinstance(each, Task | Flow), f"{name}: a task that the decorator did not make"
                if isinstance(each, RunStep):
                    found[f"{each.fn.__module__}.{each.fn.__name__}"] = each
    return found


STEPS = steps()


def test_every_step_is_of_the_zone_of_its_package():
    assert len(STEPS) > 25
    for name, each in STEPS.items():
        (zone,) = [zone for package, zone in ZONES.items() if name.startswith(f"{package}.")]
        assert each.zone == zone, name


def test_no_other_file_makes_tasks():
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT.parent).as_posix()
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if "prefect" in source else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("prefect"):
                made = {alias.name for alias in node.names} & set(_PREFECT_TASK)
                assert not made or place in _MAKERS, f"{place} imports {made}"
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("prefect") for alias in node.names), place


@pytest.mark.parametrize("draw", [admit_release, protect_records])
def test_rule_1_what_asks_the_ledger_is_neither_cached_nor_retried(draw):
    assert not draw._traits.cached
    assert draw._task.cache_policy.compute_key(None, {}, {}) is None and draw._task.persist_result is False
    assert draw._task.retries == 0


@pytest.fixture
def run(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.prepare()
    return RunWorkspace(tmp_path, "people", "first", QueryResources())


@step(SENSITIVE, makes="a letter", folder="letter", progress="write")
def write_letter(into: Output, letter: str) -> None:
    """Write a letter, or fail as it says."""
    into.progress.of("letters")(1.0)
    if letter.startswith("full"):
        raise OSError(FULL[0], "zqxcell")
    if letter.startswith("ours"):
        raise InputError("The letter must be short.", operator_detail="row 7: zqxcell")
    if letter.startswith("theirs"):
        raise ValueError("zqxcell")
    (into.folder / "letter.txt").write_text(letter)


@step(INTERMEDIATE, makes="a copy", folder="copy")
def copy_letter(into: Output, letter: StoredTable) -> None:
    """Copy a letter."""
    (into.folder / "copy.txt").write_text((into.path(letter) / "letter.txt").read_text())


def test_a_step_stores_what_it_fills_in_its_zone_and_under_its_name(run):
    letter = write_letter.fn(run, "dear all")
    assert (letter.key, letter.zone, letter.stage) == ("sensitive/people/first/letter", SENSITIVE, "a letter")
    copy = copy_letter.fn(run, letter)
    assert (copy.key, copy.zone) == ("intermediate/people/first/copy", INTERMEDIATE)
    assert (run.path(copy) / "copy.txt").read_text() == "dear all"
    assert write_letter.named("letter-2").fn(run, "dear you").key == "sensitive/people/first/letter-2"


@pytest.mark.parametrize(
    ("letter", "kind", "said"),
    [
        ("ours", InputError, "The letter must be short."),
        (
            "theirs",
            InternalError,
            "The step write_letter failed unexpectedly; what happened is in sensitive/logs/",
        ),
        ("full", ResourceLimit, "The run needs room for what it makes"),
    ],
)
def test_what_leaves_a_sensitive_step_holds_no_cell_and_nothing_half_done_is_left(letter, kind, said, run):
    with pytest.raises(kind, match=said) as raised:
        write_letter.fn(run, letter)
    assert "zqxcell" not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__context__ is None
    logs = [path.read_text() for path in (run.sensitive / "logs").glob("*-write_letter-*.log")]
    assert len(logs) == (letter != "full") and all("zqxcell" in log for log in logs)
    assert not list((run.sensitive / "people" / "first").iterdir())


def test_a_sensitive_step_that_makes_no_folder_is_sanitised_too(run):
    @step(SENSITIVE)
    def ask(workspace: Workspace, question: str) -> str:
        if question == "ours":
            raise ParameterError("The question must be another.")
        raise KeyError("zqxcell")

    for question, kind in (("ours", ParameterError), ("theirs", InternalError)):
        with pytest.raises(kind) as raised:
            ask.fn(run, question)
        assert "zqxcell" not in str(raised.value)


def key(made: RunStep, run: RunWorkspace, **inputs: object) -> str:
    """Under which Prefect would look for the step's result."""
    task = skip_if_known(made._task, made.zone, run, [run, inputs])
    return task.cache_policy.compute_key(None, {}, {})


@pytest.mark.parametrize("made", [write_letter, copy_letter])
def test_a_key_follows_from_dataset_and_inputs_and_not_from_the_run(made, run):
    first = key(made, run, letter="dear all")
    assert (
        key(made, replace(run, label="second", resources=QueryResources(threads=2)), letter="dear all")
        == first
    )
    assert key(made, run, letter="dear you") != first
    assert key(made, replace(run, dataset="others"), letter="dear all") != first
    assert key(made, run, letter=Path("a/place")) != key(made, run, letter=Path("another/place"))


def test_only_a_sensitive_key_is_hashed_with_the_secret_of_the_workspace(run, tmp_path):
    other = Workspace(tmp_path / "other")
    other.prepare()
    elsewhere = replace(run, root=other.root)
    letter = StoredTable("a place", "a hash", "measurement", "letter")
    assert key(copy_letter, run, letter=letter) == key(copy_letter, elsewhere, letter=letter)
    assert key(write_letter, run, letter="dear") != key(write_letter, elsewhere, letter="dear")


def test_results_of_sensitive_steps_are_kept_in_the_sensitive_zone(run):
    for made, kept in ((write_letter, run.results), (copy_letter, run.public_results)):
        assert skip_if_known(made._task, made.zone, run, []).result_storage == kept


class Result(Reference):
    """Of a step."""


@dataclass
class Built(HoldsResults):
    """What was built so far."""

    counts: Result
    page: Result | None = None


@dataclass(frozen=True)
class Facts:
    """Public facts."""

    result: Result


@pytest.fixture
def chain():
    """Three results, each made from the one before; the last from all."""
    made = [Result(), Result(), Result()]
    record_origins(made[0], [])
    record_origins(made[1], made[:1])
    record_origins(made[2], made[1:2])
    return made


def test_results_are_found_in_whatever_holds_them(chain):
    first, second, third = chain
    given = ["text", 3, None, [first], {"a": (second,)}, Built(first, third)]
    assert results_in(given) == [first, second, third]
    assert results_in([Facts(first), as_lookup(second), Result()]) == []


def test_a_result_that_another_was_made_from_has_no_edge(chain):
    first, second, third = chain
    other = Result()
    record_origins(other, [first])
    assert edges_from([first, second, third]) == [third]
    assert edges_from([third, other]) == [third, other]
    assert edges_from([first, other]) == [other]


def test_what_holds_a_result_is_hidden_from_prefect_and_nothing_else(chain):
    built = Built(chain[0])
    assert without_edges("text") == "text" and without_edges(as_lookup(3)).unquote() == 3
    assert without_edges(built).unquote() is built


def working(zone: str, folder: str, seconds: float):
    """A step of a zone whose clock says that it takes so long."""

    @step(zone, makes="work", folder=folder, cached=False)
    def work(into: Output) -> None:
        now = [0.0]
        if into.progress._shown is not None:
            into.progress._shown._clock = lambda: now[0]
            into.progress._shown._due = 2.0
        for tenth in range(11):
            now[0] = seconds * tenth / 10
            into.progress("records", tenth / 10)
        (into.folder / "done").touch()

    return work


@pytest.mark.server
def test_a_long_step_shows_how_far_it_is_unless_it_reads_the_table(tmp_path, prefect_server):
    @flow(persist_result=False)
    def three() -> str:
        Workspace(tmp_path).prepare()
        run = RunWorkspace(tmp_path, "people", "first", QueryResources())
        working(INTERMEDIATE, "long_work", 100.0)(run)
        working(INTERMEDIATE, "short_work", 1.0)(run)
        working(SENSITIVE, "closed_work", 100.0)(run)
        context = FlowRunContext.get()
        assert context is not None and context.flow_run is not None
        return str(context.flow_run.id)

    asked = {"artifacts": {"flow_run_id": {"any_": [three()]}}}
    found = httpx.post(f"{prefect_server}/artifacts/filter", json=asked, timeout=60).json()
    assert [(each["key"], each["type"], each["data"]) for each in found] == [
        ("progress-long-work", "progress", 100.0)
    ]


def test_outside_a_run_there_is_none():
    now = [0.0]
    progress = ProgressArtifact("work", lambda: now[0])
    now[0] = 100.0
    progress(0.5)
    progress.close()
    assert progress._artifact is None
