"""Purge: what is older than the configuration's retention is removed from ``sensitive/``, at any time."""

from pathlib import Path

from prefect import flow

from tasks.configuration.flat_file import read_configuration
from tasks.events import announce_schedule
from tasks.failures import guard_flow
from tasks.sensitive.retention import purge_configured


@flow(name="purge", flow_run_name="purge", on_running=[announce_schedule], persist_result=False)
@guard_flow
def purge(configuration: str, dry_run: bool = False) -> None:
    """Remove what was made of the raw table and is older than retention_days.

    Args:
        configuration: The configuration file.
        dry_run: Only say how much would be removed.
    """
    purge_configured(read_configuration(Path(configuration)), dry=dry_run)
