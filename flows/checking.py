"""``marginalia check``: what a configuration would do and cost; or, when asked, a proposal.

What describes a run is imported only where there is one, so that a slip in the file is told at once.
"""

import json
from pathlib import Path

from tasks.configuration_file import read_configuration
from tasks.core.records.reading import InputFile

_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pq")

#: What a proposal says for k-anonymity in place of the keys of differential privacy: SDS's defaults.
_ANONYMITY = {"dp_aggregates": False, "reporting_resolution": 10, "synthesis_mode": "row_seeded"}


def check(path: Path, *, propose: bool) -> int:
    """Print the report on a configuration, or a proposal for a table."""
    if propose:
        return _propose(path)
    configuration = read_configuration(path)
    from flows import checking_report

    checking_report.report(configuration)
    return 0


def _propose(path: Path) -> int:
    from tasks.core.contracts.proposal import propose

    table: Path | InputFile = path
    if path.suffix.lower() not in _TABLES:
        given = read_configuration(path).input
        table = Path(given.path)
        if given.header:
            table = InputFile(table, delimiter=given.delimiter, header=given.header)
    print("# Drafted from the table's values, for you to read, mend and accept. Domains stay open until you")
    print("# declare them: a domain taken from the data is not public.")
    configuration, contract = propose(table)
    print("\n# configuration.json")
    print(json.dumps(configuration, indent=2, ensure_ascii=False))
    print("\n# For k-anonymity, which is not differentially private, take out dp_aggregates, noise_epsilon,")
    print("# delta and privacy, and put in:")
    print(json.dumps(_ANONYMITY, indent=2))
    print("\n# contract.yaml")
    print(contract)
    return 0
