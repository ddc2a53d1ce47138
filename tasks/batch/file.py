"""A batch file in, its runs out: each a `RunConfiguration`, or every problem of every run at once.

The file is SDS's (S7.1): ``execute`` says which stages run, ``base_config`` is a flat configuration, and
``runs`` holds, by group, what each run has otherwise. A run's keys replace the base's as they stand;
``null`` takes a key of the base away.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.configuration.flat_file import from_flat, read_json, unknown_key
from tasks.configuration.model import RunConfiguration, is_label
from tasks.configuration.synthesis import SYNDIFFIX
from tasks.core.contracts.odcs import load_contract
from tasks.core.errors import ParameterError
from tasks.plan.describe import describe, has_committed
from tasks.plan.input_file import input_file, require_arrived
from tasks.request import STAGES

_PARTS = ("execute", "base_config", "runs")
#: A run's label, and what is wrong with it.
_RunProblems = tuple[str, list[str]]
_SAFE = "must be a safe name of a folder (letters, digits, spaces, '.', '_' and '-')"


@dataclass(frozen=True)
class BatchRun:
    """One run of a batch; ``index`` is its place in the group from 0, skipped runs counted."""

    group: str
    index: int
    name: str
    configuration: RunConfiguration

    @property
    def folder_name(self) -> str:
        return f"{self.index}_{self.name}"


@dataclass(frozen=True)
class Batch:
    """What a batch file asks for: stages in their order, and runs, but for those that are skipped."""

    stages: tuple[str, ...]
    runs: tuple[BatchRun, ...]


def is_batch(body: Mapping[str, Any]) -> bool:
    return "runs" in body and "base_config" in body


def read_batch(path: Path, changes: Mapping[str, Any] | None = None) -> Batch:
    """Read and check a batch file, whose ``base_config`` may have changes for this time.

    A ParameterError has all problems of the file and of every run, the latter with group and name in front.
    """
    body = read_json(path)
    if "runs" not in body and "sensitive_microdata_path" in body:
        raise ParameterError(
            f"A batch file must hold runs, but {path} is the configuration of one run: give it to "
            "marginalia run."
        )
    problems = [unknown_key(key, _PARTS) for key in body if key not in _PARTS]
    stages = _stages(body.get("execute"), problems)
    base = body.get("base_config", {})
    if not isinstance(base, dict):
        problems.append("base_config must be an object: a configuration that the runs have in common.")
        base = {}
    runs = list(_runs(body.get("runs"), base | dict(changes or {}), problems))
    if not runs and not problems:
        problems.append("The batch must hold a run that is not skipped, but it holds none: add one.")
    if problems:
        raise ParameterError(problems)
    return Batch(stages, tuple(runs))


def require_inputs(batch: Batch) -> None:
    """Refuse a batch before its first run where any run's table or contract can't be what it should.

    A run whose vintage has a committed release is left to itself: it may return that one without its table.
    """
    problems = problems_by_run(
        [(f"{run.group}/{run.name}", _input_problems(run.configuration)) for run in batch.runs]
    )
    if problems:
        raise ParameterError(problems)


def _input_problems(configuration: RunConfiguration) -> list[str]:
    """What is wrong with a run's table and contract, or else with all that is public of it."""

    def require_header() -> None:
        source = input_file(configuration)
        require_arrived(configuration, source, None)
        _ = source.headers

    def require_contract() -> None:
        if configuration.input.contract is not None:
            load_contract(Path(configuration.input.contract))

    problems = [*_problems_of(require_header), *_problems_of(require_contract)]
    problems = problems or _problems_of(lambda: describe(configuration))
    return [] if problems and has_committed(configuration) else problems


def _problems_of(read: Callable[[], object]) -> list[str]:
    try:
        read()
    except ParameterError as error:
        return error.problems
    return []


def _stages(execute: object, problems: list[str]) -> tuple[str, ...]:
    if execute is None:
        return STAGES
    if not isinstance(execute, dict):
        problems.append(f"execute must be an object of the stages {', '.join(STAGES)}, each true or false.")
        return ()
    before = len(problems)
    problems += [unknown_key(key, STAGES, "execute.") for key in execute if key not in STAGES]
    problems += [
        f"execute.{key} must be true or false, not {json.dumps(answer)}."
        for key, answer in execute.items()
        if not isinstance(answer, bool)
    ]
    stages = tuple(stage for stage in STAGES if execute.get(stage) is True)
    if not stages and len(problems) == before:
        problems.append(
            "execute must set at least one stage to true, but sets none: set one, or remove "
            "execute to run all."
        )
    return stages


def _runs(groups: object, base: dict[str, Any], problems: list[str]) -> Iterator[BatchRun]:
    if not isinstance(groups, dict) or not groups:
        problems.append('runs must be an object of groups, each a list of runs: {"group": [{"name": "a"}]}.')
        return
    folders: dict[str, str] = {}
    noted: list[_RunProblems] = []
    for group, listed in groups.items():
        if not is_label(group):
            problems.append(f"runs: the group {group!r} {_SAFE}.")
        elif folders.setdefault(group.lower(), group) != group:
            problems.append(
                f"runs: the groups {folders[group.lower()]!r} and {group!r} must differ by more than case, "
                "as each gives a folder its name: rename one."
            )
        if not isinstance(listed, list) or not listed:
            problems.append(f"{group}: must be a list of runs, each an object with a name.")
            continue
        for index, entry in enumerate(listed):
            run = _run(group, index, entry, base, noted)
            if run is not None:
                yield run
    problems += problems_by_run(noted)


def problems_by_run(noted: list[_RunProblems]) -> list[str]:
    """What is wrong with the runs, each under its label, and what is wrong with all of them once."""
    shared = [text for text in noted[0][1] if all(text in texts for _, texts in noted)] if noted[1:] else []
    single = [f"{run}: {text}" for run, texts in noted for text in texts if text not in shared]
    return [f"base_config, in every run: {text}" for text in shared] + single


def _run(
    group: str, index: int, entry: object, base: dict[str, Any], noted: list[_RunProblems]
) -> BatchRun | None:
    """One run; None where it is skipped or can't be made. What is wrong with it is noted under its label."""
    if not isinstance(entry, dict):
        noted.append((f"{group}/{index}", ["must be an object with a name and the keys that differ."]))
        return None
    skip = entry.get("skip", False)
    if skip is True:
        return None
    name = entry.get("name")
    label = f"{group}/{name}" if isinstance(name, str) and name else f"{group}/{index}"
    problems = [] if isinstance(skip, bool) else [f"skip must be true or false, not {json.dumps(skip)}."]
    if not isinstance(name, str) or not is_label(name):
        problems.append(f"name {_SAFE}.")
    differing = {key: value for key, value in entry.items() if key not in ("name", "skip")}
    if "output_dir" in differing and differing.pop("output_dir") != base.get("output_dir"):
        problems.append(
            "output_dir must be that of base_config, as each run has a folder in it: remove the "
            "key from the run."
        )
    noted.append((label, problems))
    try:
        configuration = from_flat(base | differing)
    except ParameterError as error:
        problems += [_placed(problem, base, differing) for problem in error.problems]
        return None
    return None if problems else BatchRun(group, index, str(name), configuration)


def _placed(problem: str, base: dict[str, Any], differing: dict[str, Any]) -> str:
    key = problem.partition(" ")[0]
    if key not in base or key in differing or SYNDIFFIX not in problem:
        return problem
    return f"{problem} It is in base_config: put it into the runs that use it, or set it to null in this one."
