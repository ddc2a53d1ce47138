"""The relations of all pairs of columns in SynDiffix's table beside the published peer's, over some salts.

For three census-like tables, the mean absolute error of all pairs of columns, see `relations`.
The peer's synthetic tables are the same for the same salt, so those of an earlier run are taken again.
"""

import json

import pyarrow.parquet as pq

from tests.benchmarks.data import Table
from tests.benchmarks.relations import mean_error
from tests.benchmarks.syndiffix import ours, output_of, spread, theirs
from tests.benchmarks.syndiffix_tables import census_like

_SALTS = 4


def syndiffix_relations() -> None:
    """Each table: ours beside the peer's, and whether it is as good."""
    for table in census_like():
        a, b = (spread([_error(side, table, salt) for salt in range(_SALTS)]) for side in ("ours", "peer"))
        line = {"name": "syndiffix_relations", "data": table.name, "salts": _SALTS}
        print(json.dumps(line | {"ours": a, "peer": b, "bar": b[0], "as_good": a[0] <= b[0]}), flush=True)


def _error(side: str, table: Table, salt: int) -> float:
    output = output_of(side, table, salt, "default")
    if side == "ours":
        ours(table, salt, "default")
    elif not output.exists():
        theirs(table, salt, "default")
    return mean_error(pq.read_table(table.path), pq.read_table(output))
