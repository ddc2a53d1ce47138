"""Names of runs, and what Prefect knows of how one was started."""

import datetime
import secrets

from prefect.runtime import flow_run

from tasks.configuration.model import RunConfiguration
from tasks.core.errors import ParameterError


def run_label() -> str:
    """Of a run's folder in ``sensitive/``: when it began, and something unique."""
    now = datetime.datetime.now(datetime.UTC)
    return f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def scheduled_date() -> str | None:
    """The date (UTC) that a scheduler set for this run; None for a run that somebody started.

    A retry keeps the date of the run that it retries, so it names the same release.
    """
    if flow_run.get_id() is None or not is_scheduled():
        return None
    return f"{flow_run.get_scheduled_start_time():%Y-%m-%d}"


def require_seed_stays(configuration: RunConfiguration) -> None:
    """Refuse a deployment's run that is given the seed of a mode that reads raw records.

    Prefect keeps the parameters of such a run as they were given; a seed must not leave ``sensitive/``.

    Raises:
        ParameterError: it is given one.
    """
    from prefect.context import FlowRunContext

    context, synthesis = FlowRunContext.get(), configuration.synthesis
    is_deployed = bool(context and context.flow_run and context.flow_run.deployment_id)
    if is_deployed and synthesis.reads_records and synthesis.random_seed is not None:
        raise ParameterError(
            f"random_seed must not be a parameter of a deployment where synthesis_mode is {synthesis.mode}: "
            "Prefect stores it in the clear, and it is as sensitive as the records. Take it out: each "
            "run then draws its own. Use another seed from now on."
        )


def is_scheduled() -> bool:
    """Whether a schedule created this run."""
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    return bool(context and context.flow_run and context.flow_run.auto_scheduled)
