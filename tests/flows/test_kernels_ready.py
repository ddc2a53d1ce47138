"""After `make kernels`, which `make test` has done, no run of a new user compiles one, of whatever mode."""

import json
import os
import subprocess
import sys

import pytest

from tests.flows import pipeline
from tests.flows.processes import ROOT
from tests.flows.whole_runs import fresh_name

_NAMES = ("MARGINALIA_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
_NOT_OF_SYNDIFFIX = ("multi_value_columns", "domains", "sensitive_zeros")
MODES = (
    {"synthesis_mode": "row_seeded"},
    {"synthesis_mode": "value_seeded"},
    {"synthesis_mode": "value_seeded", "oversampling_ratio": 0.2},
    {"synthesis_mode": "unseeded"},
    {"synthesis_mode": "aggregate_seeded"},
    {"synthesis_mode": "aggregate_seeded", "aggregate_seeded_hold_resolution": True},
)


@pytest.mark.server
def test_a_run_of_each_regime_and_mode_compiles_nothing(tmp_path):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(2000))
    dataset = fresh_name("ready")
    base = {
        key: value
        for key, value in pipeline.anonymous(tmp_path, dataset=dataset).items()
        if key not in ("reporting_resolution", "reporting_length")
    }
    anonymous = {"reporting_resolution": 10, "reporting_length": 3}
    private = {key: pipeline.flat(tmp_path)[key] for key in ("dp_aggregates", "noise_epsilon", "max_items")}
    by_lengths = private | {"synthesis_mode": "aggregate_seeded", "reporting_length": 3}
    cap = {"cap": {"epsilon": 40, "delta": 1e-4}}
    runs = [
        *(anonymous | mode | {"name": f"k-{place}"} for place, mode in enumerate(MODES)),
        private | {"synthesis_mode": "fitted", "privacy": cap, "name": "fitted"},
        by_lengths | {"privacy": cap, "name": "gdp"},
        by_lengths | {"privacy": cap | {"accountant": "zcdp"}, "name": "zcdp"},
        {"synthesis_mode": "syndiffix", "name": "syndiffix"} | dict.fromkeys(_NOT_OF_SYNDIFFIX),
    ]
    path = tmp_path / "batch.json"
    stages = dict.fromkeys(("aggregate", "generate", "evaluate"), True)
    path.write_text(json.dumps({"execute": stages, "base_config": base, "runs": {"all": runs}}))
    kept = {name: value for name, value in os.environ.items() if name not in _NAMES}
    done = subprocess.run(
        [sys.executable, "-m", "flows", "batch", str(path)],
        cwd=ROOT,
        env=kept | {"HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Compiling kernels" not in done.stderr, done.stderr


FITTED = """
from tasks.core.synthesis.fitted import draw_fitted
from tests.core.synthesis.test_fitted import _measured

for number in (300, 30_000):  # one shard, and several
    draw_fitted(_measured(number, 1.0), 7)
"""


def test_fitted_synthesis_compiles_nothing(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in _NAMES}
    done = subprocess.run(
        [sys.executable, "-c", FITTED],
        cwd=ROOT,
        env=kept | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
