"""What the runs of a batch mean that name no mode: settled once, before the first of them begins (W21).

Asked run by run, a run that names the earlier default would be the past of the next one that names none, and
the order of the two in the file would decide what that one releases.
"""

from dataclasses import replace

from tasks.batch.file import Batch, BatchRun, by_run
from tasks.configuration.model import RunConfiguration
from tasks.core.errors import ParameterError
from tasks.messages import tell
from tasks.sensitive.recall import as_committed, drawn_before


def settle_modes(batch: Batch) -> Batch:
    """The batch with each run as what the ledger held before it began makes of it.

    Raises:
        ParameterError: fitted records can't be had of a run, and it was not drawn before they were the
            default; all of them, with group and name of the run in front.
    """
    problems: list[tuple[str, list[str]]] = []
    runs = [replace(run, configuration=_settled(run, problems)) for run in batch.runs]
    if any(found for _, found in problems):
        raise ParameterError(by_run(problems))
    return replace(batch, runs=tuple(runs))


def _settled(run: BatchRun, problems: list[tuple[str, list[str]]]) -> RunConfiguration:
    """What a run's file means now; what is wrong with that is noted under its label."""
    given = run.configuration
    found = as_committed(given, None)
    if found is not given:
        problems.append((run.label, []))
        for sentence in drawn_before(given):
            tell(f"ATTENTION: {run.label}: {sentence}")
        return found
    problems.append((run.label, list(given.not_fitted)))
    return given if given.not_fitted else given.as_now()
