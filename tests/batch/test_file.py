"""A batch file: which runs it makes, and every way to write it wrongly."""

import json
from pathlib import Path

import pytest

from tasks.batch.file import Batch, read_batch
from tasks.configuration.protections import DifferentialPrivacy
from tasks.configuration.synthesis import ValueSeeded
from tasks.core.errors import ParameterError
from tasks.request import STAGES

BASE = {"sensitive_microdata_path": "people.csv", "reporting_resolution": 5, "output_dir": "out"}
#: As SDS's documents lay it out.
SDS_BATCH = {
    "execute": {"aggregate": True, "generate": True, "evaluate": True, "navigate": False},
    "base_config": BASE | {"cache_max_size": 10000, "oversampling_ratio": None},
    "runs": {
        "by mode": [
            {"name": "rows", "synthesis_mode": "row_seeded"},
            {"name": "left out", "skip": True, "synthesis_mode": "nonsense"},
            {"name": "values", "skip": False, "synthesis_mode": "value_seeded", "oversampling_ratio": 0.1}
            | {"output_dir": "out"},
        ],
        "by_length": [{"name": "two", "reporting_length": 2}],
    },
}


def read(folder: Path, body: object) -> Batch:
    (folder / "batch.json").write_text(json.dumps(body))
    return read_batch(folder / "batch.json")


def problems(folder: Path, **parts: object) -> list[str]:
    with pytest.raises(ParameterError) as caught:
        read(folder, SDS_BATCH | parts)
    return caught.value.problems


def test_runs_are_the_base_with_their_own_keys(tmp_path):
    batch = read(tmp_path, SDS_BATCH)
    assert batch.stages == ("aggregate", "generate", "evaluate")
    assert [(run.group, run.folder_name) for run in batch.runs] == [
        ("by mode", "0_rows"),
        ("by mode", "2_values"),
        ("by_length", "0_two"),
    ]
    first, second, third = (run.configuration for run in batch.runs)
    assert second.synthesis == ValueSeeded(oversampling_ratio=0.1)
    assert (first.reporting_length, third.reporting_length) == (3, 2)
    assert {run.configuration.output_dir for run in batch.runs} == {"out"}
    assert {run.configuration.reporting_resolution for run in batch.runs} == {5}


def test_overrides_are_shallow_and_null_takes_a_key_away(tmp_path):
    base = BASE | {"privacy": {"epsilon": 1, "delta": 1e-9}, "subject_id": "id"}
    runs = {"a": [{"name": "x", "privacy": {"epsilon": 2}, "subject_id": None}]}
    [run] = read(tmp_path, {"base_config": base, "runs": runs}).runs
    protection = run.configuration.protection
    assert isinstance(protection, DifferentialPrivacy)
    assert (protection.epsilon, protection.delta) == (2, 1e-6)
    assert run.configuration.input.subject_id is None


def test_without_execute_every_stage_runs_and_a_missing_stage_does_not(tmp_path):
    assert read(tmp_path, {key: SDS_BATCH[key] for key in ("base_config", "runs")}).stages == STAGES
    assert read(tmp_path, SDS_BATCH | {"execute": {"navigate": True}}).stages == ("navigate",)


def test_problems_of_every_run_are_reported_at_once_with_its_name(tmp_path):
    runs = {
        "a": [
            {"name": "one", "reporting_length": -2},
            {"name": "two", "synthesis_mode": "seeded", "reporting_resolution": 0},
            {"reporting_length": 2},
            "three",
        ],
        "b/c": [{"name": "../x"}],
    }
    found = problems(tmp_path, runs=runs, execute={"aggregate": 1, "generat": True}, base=1)
    starts = [
        "base is not a key",
        "execute.generat is not a key of the configuration: did you mean execute.generate?",
        "execute.aggregate must be true or false",
        "runs: the group 'b/c' must be a safe name",
        "a/one: reporting_length",
        "a/two: synthesis_mode seeded",
        "a/two: reporting_resolution",
        "a/2: name must be a safe name",
        "a/3: must be an object",
        "b/c/../x: name must be a safe name",
    ]
    assert len(found) == len(starts)
    assert all(problem.startswith(start) for problem, start in zip(found, starts, strict=True))


def test_what_is_wrong_with_every_run_is_said_once(tmp_path):
    runs = {"a": [{"name": "one"}, {"name": "two", "synthesis_mode": "seeded"}], "b": [{"name": "one"}]}
    found = problems(tmp_path, runs=runs, base_config=BASE | {"reporting_length": -2})
    assert [problem.partition(": ")[0] for problem in found] == ["base_config, in every run", "a/two"]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"execute": {"aggregate": False}}, "at least one stage"),
        ({"execute": ["aggregate"]}, "execute must be an object"),
        ({"runs": {}}, "runs must be an object of groups"),
        ({"runs": {"a": []}}, "a: must be a list of runs"),
        ({"runs": {"a": {"name": "x"}}}, "a: must be a list of runs"),
        ({"runs": {"a": [{"name": "x", "skip": True}]}}, "not skipped"),
        ({"runs": {"a": [{"name": "x", "skip": "no"}]}}, "a/x: skip must be true or false"),
        ({"runs": {"a": [{"name": "x"}], "A": [{"name": "x"}]}}, "must differ by more than case"),
        (
            {"runs": {"a": [{"name": "x", "output_dir": "elsewhere"}]}},
            "a/x: output_dir must be that of base_config",
        ),
        ({"base_config": []}, "base_config must be an object"),
        ({"base_config": {"name": "x"}, "runs": {"a": [{"name": "x"}]}}, "a/x: name is not a key"),
    ],
)
def test_a_batch_that_cannot_be_meant_is_refused(tmp_path, parts, sentence):
    found = problems(tmp_path, **parts)
    assert any(sentence in problem for problem in found)


def test_a_key_of_other_runs_in_the_base_is_told_where_it_belongs(tmp_path):
    trees = {"name": "trees", "synthesis_mode": "syndiffix", "syndiffix": {"columns": ["age"]}}
    runs = {"a": [{"name": "rows"}, trees]}
    found = problems(tmp_path, runs=runs, base_config=BASE | {"use_columns": ["age"]})
    where = "It is in base_config: put it into the runs that use it, or set it to null in this one."
    assert [problem.partition(" ")[2].partition(" ")[0] for problem in found] == [
        "reporting_resolution",
        "use_columns",
    ]
    assert all(problem.startswith("a/trees: ") and problem.endswith(where) for problem in found)
    runs["a"][1] = trees | {"reporting_resolution": None, "use_columns": None}
    assert len(read(tmp_path, SDS_BATCH | {"runs": runs, "base_config": BASE}).runs) == 2
