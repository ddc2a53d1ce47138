"""Notebooks as Jupyter executes them, calls as they are refused, and a table with a token nobody may see."""

import json
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbclient import NotebookClient

from flows.command.notebook.process import handler_of, to_call_words
from marginalia.process import _plain_setting
from marginalia.tables import to_parquet
from tasks.core.errors import MarginaliaError

#: Of one person, in several columns; it may be in no error, no output and no release.
TOKEN = "tell-nobody-8f1c"


def people(number: int = 400, seed: int = 1) -> pd.DataFrame:
    """A DataFrame of every common dtype; the last person's id and note hold the token."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "person": [f"p{place:05}" for place in range(number)],
            "age": draw.integers(0, 95, number),
            "sex": pd.Categorical(
                draw.choice(["f", "m"], number), categories=["m", "f", TOKEN], ordered=True
            ),
            "children": pd.array(draw.integers(0, 3, number), dtype="Int8"),
            "smoker": draw.random(number) < 0.4,
            "member": pd.array(draw.random(number) < 0.4, dtype="boolean"),
            "seen": pd.Timestamp("2026-03-28 13:05", tz="Europe/Vienna")
            + pd.to_timedelta(draw.integers(0, 3, number), unit="D"),
            "note": draw.choice(["a;b", "c:d"], number),
        }
    )
    frame.loc[::9, "member"] = pd.NA
    frame.loc[number - 1, ["person", "note"]] = TOKEN
    return frame


def executed(notebook: nbformat.NotebookNode, folder: Path, *, allow_errors: bool = False) -> None:
    """Run all cells in a kernel whose folder is this one; their outputs are then in the notebook."""
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        allow_errors=allow_errors,
        resources={"metadata": {"path": str(folder)}},
    ).execute()


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    """What each code cell shows, as text: all of its outputs, whatever they are."""
    return [str(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def answer(request: dict[str, Any], *files: bytes | memoryview) -> dict[str, Any]:
    """What the process of a call answers, asked in this one: none is started."""
    sent = json.loads(json.dumps(request, default=_plain_setting))
    return handler_of(sent.pop("do"))(b"".join(files), **sent)


def refusal(request: dict[str, Any], *tables: Any) -> str:
    """What the process of a call says of a request that it refuses."""
    with pytest.raises(MarginaliaError) as refused:
        answer(request, *(to_parquet(table)[0] for table in tables))
    return to_call_words(str(refused.value))
