"""``marginalia check``: what a configuration would do and cost; or, when asked, a proposal.

What describes a run is imported only where there is one, so that a slip in the file is told at once.
"""

import json
from pathlib import Path

from tasks.configuration.flat_file import read_configuration
from tasks.core.errors import ParameterError
from tasks.core.tables.column_names import Encoding
from tasks.core.tables.header import InputFile, find_dialect, is_named_as_table

_PREAMBLE = """\
# This is a draft of two files. It holds values of the table: keep it as confidential as the table. Read
# both files, correct them, and save each under its name. A column's domain stays open until you declare
# it, because a domain that is taken from the data is not public."""

#: What a draft that protects rows asks of its reader: only they know whose rows these are.
_NO_SUBJECT = """\
# No subject_id is in it, so a row would be protected, not a person. If a person may have several rows, add
# the column that says whose row it is: "subject_id": "COLUMN".
"""

#: What a proposal says for k-anonymity in place of the keys of differential privacy: SDS's defaults.
_ANONYMITY = {"dp_aggregates": False, "reporting_resolution": 10, "synthesis_mode": "row_seeded"}


def check(path: Path, *, propose: bool, encoding: Encoding | None = None) -> int:
    """Print the report on a configuration, or a proposal for a table, whose encoding may be given."""
    if propose:
        return _propose(path, encoding)
    if encoding is not None:
        raise ParameterError(
            "--encoding needs --propose, which was not given. Without it put encoding into the configuration."
        )
    configuration = read_configuration(path)
    from flows.command.check import report as checking_report

    checking_report.report(configuration)
    return 0


def _table(path: Path, encoding: Encoding | None) -> InputFile:
    """The table that is named, or the configuration's; its delimiter is found out unless it is declared."""
    if is_named_as_table(path):
        return find_dialect(path, encoding or "utf-8")
    given = read_configuration(path).input
    encoding = encoding or given.encoding
    if given.header or given.delimiter != ",":
        return InputFile(Path(given.path), None, given.delimiter, header=given.header, encoding=encoding)
    return find_dialect(Path(given.path), encoding)


def _propose(path: Path, encoding: Encoding | None) -> int:
    from tasks.core.contracts.proposal import propose

    table = _table(path, encoding)
    configuration, contract = propose(table)
    print(_PREAMBLE)
    print("\n# ---- File 1 of 2: configuration.json begins below this line ----")
    print(json.dumps(configuration, indent=2, ensure_ascii=False))
    print("# ---- configuration.json ends above this line ----\n")
    if "subject_id" not in configuration:
        print(_NO_SUBJECT)
    print("# This configuration is for differential privacy. For k-anonymity, which is not differentially")
    print("# private, replace its keys dp_aggregates, noise_epsilon, delta and privacy by:")
    print(json.dumps(_ANONYMITY, indent=2))
    print("\n# ---- File 2 of 2: contract.yaml begins below this line and goes on to the end ----")
    print(contract)
    return 0
