"""Whole runs on the judging tables, scored by the judge as it is: table and epsilons in, JSON lines out.

``python -m tests.benchmarks.judged TABLE EPSILON [...] [--runs 3] [--open] [--target COLUMN]``. Each run is
``marginalia run`` on a CSV with declared domains, delta = 1 / (n ln n), one thread, and a ledger of its own.
Needs the judge's folder (score.py, tables.py): ../shared/judge, or $MARGINALIA_JUDGE.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from tests.benchmarks.data import FOLDER, ROOT

_DIGITS = 5


def judge() -> Path:
    """The judge's folder.

    Raises:
        SystemExit: it is not there.
    """
    folder = Path(os.environ.get("MARGINALIA_JUDGE", ROOT.parent / "shared" / "judge"))
    if not (folder / "score.py").is_file():
        raise SystemExit(f"Skipped: {folder} holds no judge. Set MARGINALIA_JUDGE to its folder.")
    return folder


def judging_tables() -> Path:
    """The judging tables, made by the judge when they are missing."""
    folder = FOLDER / "judging"
    if not (folder / "nat20_train.csv").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "tables.py", folder.absolute()], check=True, cwd=judge(), stdout=2)
    return folder


def released(table: str, epsilon: float, options: argparse.Namespace, work: Path) -> Path:
    """The records of one whole run, as the judge reads them."""
    tables = judging_tables()
    frame = pd.read_csv(tables / f"{table}_train.csv")
    sizes = json.loads((tables / f"{table}_domain.json").read_text())
    number = len(frame)
    configuration = {
        "sensitive_microdata_path": str((tables / f"{table}_train.csv").absolute()),
        "sensitive_zeros": list(frame.columns),
        "dp_aggregates": True,
        "noise_epsilon": epsilon,
        "delta": 1 / (number * math.log(number)),
        "reporting_length": 2,
        "dataset": table,
        "vintage": "judged",
        "prefix": "judged",
        "output_dir": str(work),
        "parallel_jobs": 1,
        "evaluate_sensitive": False,
    }
    if not options.open:
        configuration["domains"] = {name: [str(code) for code in range(size)] for name, size in sizes.items()}
    if options.target:
        configuration["target"] = options.target
    path = work / "configuration.json"
    path.write_text(json.dumps(configuration))
    subprocess.run(
        [sys.executable, "-m", "flows", "run", path],
        check=True,
        cwd=ROOT,
        env=os.environ | {"MARGINALIA_LEDGER": str(work / "ledger")},
        stdout=subprocess.DEVNULL,
        stderr=sys.stderr if options.verbose else subprocess.DEVNULL,
    )
    made = pd.read_csv(work / "release" / table / "latest" / "judged_synthetic_microdata.tsv", sep="\t")
    made.reindex(columns=frame.columns).fillna(-1).astype(int).to_csv(work / "made.csv", index=False)
    return work / "made.csv"


def scored(table: str, path: Path) -> dict[str, object]:
    """The judge's line on some records."""
    done = subprocess.run(
        [sys.executable, judge() / "score.py", table, path],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"TABLES": str(judging_tables().absolute()), "OMP_NUM_THREADS": "1"},
    )
    line: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return line


def main() -> int:
    """Parse, run, print; the exit code."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.judged", description=__doc__)
    parser.add_argument("table", choices=("adult13", "natdemo10", "nat20"))
    parser.add_argument("epsilon", type=float, nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--open", action="store_true", help="no domain is declared")
    parser.add_argument("--target", help="a column whose prediction matters")
    parser.add_argument("--verbose", action="store_true", help="let the runs tell what they do")
    options = parser.parse_args()
    for epsilon in options.epsilon:
        lines = []
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as folder:
                lines.append(scored(options.table, released(options.table, epsilon, options, Path(folder))))
            print(json.dumps({"epsilon": epsilon} | lines[-1]), flush=True)
        keys = [key for key, value in lines[0].items() if isinstance(value, int | float)]
        means = {
            key: round(statistics.mean(float(str(line[key])) for line in lines), _DIGITS) for key in keys
        }
        print(
            json.dumps({"table": options.table, "epsilon": epsilon, "mean_of": options.runs} | means),
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
