"""Purge: what is older than the configuration's retention is removed from ``sensitive/``, at any time."""

from pathlib import Path

from flows.steps.guarded_flow import guarded_flow
from tasks.configuration.flat_file import read_configuration
from tasks.sensitive.retention import purge_configured


@guarded_flow("purge")
def purge(configuration: str, dry_run: bool = False) -> None:
    """Remove what was made of the raw table and is older than retention_days.

    Args:
        configuration: The configuration file.
        dry_run: Only say how much would be removed.
    """
    purge_configured(read_configuration(Path(configuration)), dry=dry_run)
