"""Names of runs, and the date that a schedule gives them."""

import datetime
import secrets

from prefect.runtime import flow_run


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


def is_scheduled() -> bool:
    """Whether a schedule created this run."""
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    return bool(context and context.flow_run and context.flow_run.auto_scheduled)
