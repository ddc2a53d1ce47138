"""Fitted synthesis beside dpmm (AIM, its default, and MST) at epsilon 1, both scored by the same formulas."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.data import FOLDER, ROOT
from tests.benchmarks.fitted_scores import learning_scores, marginal_scores
from tests.benchmarks.fitted_tables import CellTable, table_named
from tests.benchmarks.running import measured, number, peer_python, print_line

PEER = "dpmm==0.1.9"
EPSILON = 1.0
#: What dpmm supports.
_PYTHON = "python3.11"


def fitted_beside(name: str) -> str:
    """A table: ours of three seeds, and both models of the peer."""
    table = table_named(name)
    python = peer_python("dpmm", PEER, base=_PYTHON)
    command = [sys.executable, "-m", "tests.benchmarks.fitted", name, str(EPSILON), "--seeds", "3", "--learn"]
    mine = measured(command)
    theirs = {model: _peer(python, table, model) for model in ("AIM", "MST")}
    cpu_s = number(mine, "draw_cpu_s") + number(mine, "fit_cpu_s")
    ratios = {model: round(number(found, "cpu_s") / cpu_s, 1) for model, found in theirs.items()}
    print_line(f"fitted_{name}", epsilon=EPSILON, ours=mine, peers=theirs, cpu_ratio=ratios)
    worse = [model for model, found in theirs.items() if number(found, "tvd3") < number(mine, "tvd3")]
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
    found = measured([python, script, model, *paths[:2], EPSILON, delta, paths[2]])
    made = pd.read_csv(paths[2])[list(table.headers)].fillna(-1).to_numpy(np.int64)
    scores = marginal_scores(table, made) | learning_scores(table, made)
    return found | {key: round(value, 5) for key, value in scores.items()}
