"""Fitted synthesis beside dpmm (AIM, its default, and MST) at epsilon 1, both scored by the same formulas."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.data import FOLDER, ROOT
from tests.benchmarks.fitted_scores import learning_scores, marginal_scores
from tests.benchmarks.fitted_tables import CellTable, table_named

PEER = "dpmm==0.1.9"
EPSILON = 1.0
#: What dpmm supports.
_PYTHON = "python3.11"


def peer_python() -> Path:
    """The peer's own environment, made when it is missing.

    Raises:
        SystemExit: there is no Python that it supports.
    """
    python = FOLDER / "dpmm" / "bin" / "python"
    if not python.exists():
        FOLDER.mkdir(exist_ok=True)
        print(f"Making the peer's environment ({PEER})", file=sys.stderr)
        try:
            subprocess.run([_PYTHON, "-m", "venv", FOLDER / "dpmm"], check=True)
        except FileNotFoundError:
            raise SystemExit(f"Skipped: {PEER} needs {_PYTHON}, which is not there. Install it.") from None
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True)
    return python


def fitted_adult13() -> str:
    """13 columns of UCI Adult."""
    return _beside("adult13")


def fitted_natdemo10() -> str:
    """10 columns of NIST's national extract."""
    return _beside("natdemo10")


def _beside(name: str) -> str:
    table = table_named(name)
    python = peer_python()
    command = [sys.executable, "-m", "tests.benchmarks.fitted", name, str(EPSILON), "--seeds", "3", "--learn"]
    mine = json.loads(_printed(command))
    theirs = {model: _peer(python, table, model) for model in ("AIM", "MST")}
    cpu_s = mine["draw_cpu_s"] + mine["fit_cpu_s"]
    line = {
        "name": f"fitted_{name}",
        "epsilon": EPSILON,
        "ours": mine,
        "peers": theirs,
        "cpu_ratio": {model: round(float(found["cpu_s"]) / cpu_s, 1) for model, found in theirs.items()},
    }
    print(json.dumps(line), flush=True)
    worse = [model for model, found in theirs.items() if float(found["tvd3"]) < mine["tvd3"]]
    return f"3-way distance is above that of {', '.join(worse)}" if worse else ""


def _peer(python: Path, table: CellTable, model: str) -> dict[str, object]:
    """One fit of the peer, scored."""
    folder = FOLDER / "dpmm-tables"
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{table.name}{ending}" for ending in (".csv", ".json", f"-{model}.csv")]
    pd.DataFrame(table.cells, columns=list(table.headers)).to_csv(paths[0], index=False)
    paths[1].write_text(json.dumps(dict(zip(table.headers, table.sizes, strict=True))))
    delta = 1 / (len(table.cells) * math.log(len(table.cells)))
    script = ROOT / "tests" / "benchmarks" / "fitted_peer.py"
    found = json.loads(_printed([python, script, model, *paths[:2], EPSILON, delta, paths[2]]))
    made = pd.read_csv(paths[2])[list(table.headers)].fillna(-1).to_numpy(np.int64)
    scores = marginal_scores(table, made) | learning_scores(table, made)
    return found | {key: round(value, 5) for key, value in scores.items()}


def _printed(command: list[object]) -> str:
    """The last line that a command prints."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[1:4]))} failed:\n{done.stderr[-2000:]}")
    return done.stdout.splitlines()[-1]


FIGURES = (fitted_adult13, fitted_natdemo10)
