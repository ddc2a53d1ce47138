"""Batch: SDS's batch file in, each of its runs a flow run of its own; one that fails stops no other.

<output_dir>/<group>/<index>_<name>/    links to what the run released and, closed, to what must not leave
<output_dir>/<group>/comparison.html    its runs' releases side by side
<output_dir>/sensitive/batch-<group>/   the same against the raw table, joined statistics, what failed
"""

from pathlib import Path

from flows.showcase import showcase
from flows.steps.guarded_flow import guarded_flow
from tasks.batch.budget import require_budget
from tasks.batch.file import Batch, read_batch, require_inputs
from tasks.batch.group import COMPARISON, Failed, join_group, link_run, require_free_names, write_failures
from tasks.core.errors import BatchFailed, InputError, MarginaliaError
from tasks.failures import log_unexpected
from tasks.messages import say, tell, tell_log
from tasks.request import STAGES, UNCHANGED
from tasks.storage import Workspace


@guarded_flow("batch")
def batch(path: str) -> dict[str, str]:
    """Run a batch file.

    Args:
        path: of the batch file.

    Returns:
        For each group, the place of its comparison in the workspace.

    Raises:
        ParameterError: the file, or an input that it names, can't be used; nothing was run.
        BatchFailed: naming the runs that failed, after all others were run.
    """
    return batch_steps(read_batch(Path(path)))


def batch_steps(asked: Batch) -> dict[str, str]:
    workspace = Workspace.of(asked.runs[0].configuration)
    require_free_names(asked)
    require_inputs(asked)
    for sentence in require_budget([run.configuration for run in asked.runs]):
        tell(sentence)
    last = max(asked.stages, key=STAGES.index)
    finished: dict[str, dict[str, dict[str, str]]] = {run.group: {} for run in asked.runs}
    failed: list[Failed] = []
    for number, run in enumerate(asked.runs, start=1):
        tell(f"Run {number} of {len(asked.runs)}: {run.group}/{run.folder_name}")
        try:
            places = showcase.with_options(flow_run_name=f"{run.group}-{run.folder_name}")(
                run.configuration, last
            )
        except Exception as error:
            known = error if isinstance(error, MarginaliaError) else log_unexpected(workspace, error)
            detail = known.operator_detail if isinstance(known, InputError) else ""
            why = tuple(str(known).splitlines())
            failed.append(Failed(run.group, run.folder_name, known.exit_code, why, detail))
            for line in failed[-1].lines:  # the last may be for the operator alone
                say(f"  {line}")
            tell_log(f"ATTENTION: {failed[-1].name} failed ({failed[-1].kind}): {' '.join(failed[-1].why)}")
            continue
        places.pop(UNCHANGED, None)
        finished[run.group][run.folder_name] = places
        link_run(workspace, run, places)
    prefix = asked.runs[0].configuration.prefix
    failures = {group: [run for run in failed if run.group == group] for group in finished}
    for group, runs in failures.items():
        write_failures(workspace, group, runs)
    joined = {
        group: join_group(workspace, group, places, prefix, [run.folder_name for run in failures[group]])
        for group, places in finished.items()
    }
    if failed:
        raise _batch_failure(workspace, failed, len(asked.runs), list(joined.values()))
    return joined


def _batch_failure(workspace: Workspace, failed: list[Failed], number: int, groups: list[str]) -> BatchFailed:
    """What failed, why, and what there is all the same; Prefect keeps it, so it has no operator's detail."""
    lines = [f"{len(failed)} of {number} {'run' if number == 1 else 'runs'} failed:"]
    for run in failed:
        lines += [f"  {run.name} ({run.kind}):", *(f"    {line}" for line in run.why)]
    homes = [workspace.root / place for place in groups]
    compared = ", ".join(str(home) for home in homes if (home / COMPARISON).is_file())
    if compared:
        lines.append(f"All other runs are done; their comparisons are in {compared}.")
    elif number > len(failed):
        lines.append("All other runs are done.")
    lines.append(
        "Correct what failed and run the batch again: finished runs are kept, and no draw is charged twice."
    )
    return BatchFailed("\n".join(lines))
