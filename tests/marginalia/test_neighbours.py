"""Runs of two tables that differ in one person, whose cells change the type of every column (R6)."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from marginalia.tables import to_parquet
from tests.frozen.running import Answer, Runner

pytestmark = [pytest.mark.slow, pytest.mark.server]

ASKED: dict[str, Any] = {
    "sensitive_microdata_path": "people.parquet",
    "dataset": "people",
    "vintage": "2026-11",
    "dp_aggregates": True,
    "noise_epsilon": 4,
    "privacy": {"releases": 2},
    "domains": {"kids": ["1", "2", "3"]},
    "bins": {"income": [0, 10, 20, 30]},
    "multi_value_columns": {"speaks": ";"},
    "sensitive_zeros": ["*"],
}


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Without and with the person."""
    draw, rows = np.random.default_rng(5), 1_500
    frame = pd.DataFrame(
        {
            "kids": draw.integers(1, 4, rows),
            "smokes": draw.random(rows) < 0.4,
            "income": draw.integers(0, 40, rows),
            "dose": draw.integers(1, 5, rows) / 2,
            "seen": pd.Series(np.array(["2026-03-01", "2026-03-02"], "M8[s]")[draw.integers(0, 2, rows)]),
            "town": pd.Categorical(draw.choice(["Lyon", "Nice"], rows)),
            "nothing": [None] * rows,
            "speaks": [[["fr"], ["fr", "de"]][place] for place in draw.integers(0, 2, rows)],
        }
    )
    row = [np.nan, "?", 0.5, "x", pd.NaT, 7, {"a": [1]}, 5]
    person = pd.DataFrame({name: pd.Series([cell]) for name, cell in zip(frame.columns, row, strict=True)})
    return frame, pd.concat([frame, person], ignore_index=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder and the answer of each."""
    runner = Runner(tmp_path_factory.mktemp("home"))
    try:
        made = []
        for frame in tables():
            folder = tmp_path_factory.mktemp("run")
            (folder / "people.parquet").write_bytes(to_parquet(frame)[0])
            (folder / "people.json").write_text(json.dumps(ASKED))
            made.append((folder, runner.run(folder, ["run", "people.json"])))
        yield made
    finally:
        runner.close()


#: Of a statement, what the draw decides.
DRAWN = {
    "disclosed_uniques",
    "measurement_sha256",
    "mu_squared_realised",
    "noisy_count",
    "tables",
    "values",
    "columns",
}


def told(answer: Answer, folder: Path) -> list[str]:
    """What was said and printed, but for numbers: of what was drawn, of seconds and of a run's own folder."""
    lines = (answer.said + answer.printed).replace(folder.name, "").splitlines()
    words = [re.sub(r"[0-9][0-9a-fT,.-]*", "0", line) for line in lines]
    return [line for line in words if not line.startswith(("Starting the local Prefect", "The run and its"))]


def test_exit_code_and_words_are_the_same(runs):
    (one, without), (both, together) = runs
    assert without.code == together.code == 0, without.said + together.said
    assert told(without, one) == told(together, both)


def test_digest_statement_and_charge_are_the_same(runs):
    one, both = (json.loads(next(at.glob("release/*/*/privacy.json")).read_text()) for at, _ in runs)
    assert one["ledger"]["charges"] == both["ledger"]["charges"]
    assert one.keys() == both.keys()
    left_out = {*DRAWN, "ledger"}
    assert {key: one[key] for key in one if key not in left_out} == {
        key: both[key] for key in both if key not in left_out
    }


def test_what_was_drawn_of_everybody_else_is_told_apart_by_noise_alone(
    runs,
):
    """An open column's own noise is drawn value by value, so the person's values move it on."""
    one, both = (
        json.loads(next(at.glob("release/*/*/privacy.json")).read_text())["columns"] for at, _ in runs
    )
    for without, together in zip(one, both, strict=True):
        before, after = without["noisy_total"], together["noisy_total"]
        assert before["survivors"] == after["survivors"]
        assert abs(before["value"] - after["value"]) <= before["half_width_95"] + after["half_width_95"]
