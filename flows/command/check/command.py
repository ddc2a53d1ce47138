"""``marginalia check``: what a configuration would do and cost.

What describes a run is imported only where there is one, so that a slip in the file is told at once.
"""

from pathlib import Path

from tasks.configuration.flat_file import read_configuration


def check(path: Path) -> int:
    """Print the report on a configuration."""
    configuration = read_configuration(path)
    from flows.command.check import report as checking_report

    checking_report.report(configuration)
    return 0
