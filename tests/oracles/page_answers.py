"""What the page's answers are held against: draws as the page reads them, and slow obvious arithmetic.

`ask` runs the page's own JavaScript under Node. A selection is a list of columns with codes: 0 is missing, v
the value ``values[v - 1]``, one more than there are any value that was not released.
"""

import functools
import itertools
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tasks.core.dp.sampling.stream import SeededStream

_HERE = Path(__file__).resolve()
SOURCE = _HERE.parents[2] / "tasks/core/navigation/explorer/source"
UNMEASURED = -(2**31)


@functools.cache
def _program():
    """The page's own program under Node, which answers line by line; it ends with its input."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node (Debian: nodejs)")
    command = [node, str(_HERE.with_name("ask.mjs")), SOURCE.as_uri() + "/"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", errors="surrogatepass"
    )


def ask(releases, asked):
    """One answer for each question, by the page's own program."""
    program = _program()
    print(json.dumps({"releases": releases, "asked": asked}), file=program.stdin, flush=True)
    line = program.stdout.readline()
    if not line:
        _program.cache_clear()
        raise AssertionError(f"the page's program failed: {program.wait()}")
    return json.loads(line)


def answer(release, selection):
    return {"what": "answer", "release": release, "selection": selection}


def difference(release, selection, to, other):
    return {"what": "difference", "release": release, "selection": selection, "to": to, "other": other}


def shares(release, selection, base, to, other, other_base):
    """Two groups, each a part of its base."""
    about = {"release": release, "selection": selection, "base": base}
    return {"what": "shares", **about, "to": to, "other": other, "otherBase": other_base}


# ---- releases, as the page reads them ---------------------------------------------------------------------


def column(name, values, *, opened=False, kind="category", other=False, absent=True):
    return {
        "name": name,
        "kind": kind,
        "values": list(values),
        "slots": 1,
        "open": opened,
        "other": other,
        "absent": absent,
        "order": "listed",
    }


def payload(protection, columns, number, *, tables=(), counts=(), **meta):
    """A release without records."""
    about = {
        "protection": protection,
        "unit": {"one": "person", "many": "people"},
        "number": number,
        "records": 0,
    }
    about |= {"reporting_length": len(counts), **meta}
    return {"meta": about, "records": 0, "columns": columns, "tables": list(tables), "counts": list(counts)}


def fitted_payload(drawn):
    """The noisy tables of a fitted draw."""
    columns = [
        column(
            about.name,
            cells.values,
            opened=about.is_open,
            kind="items" if cells.cap > 1 else "category",
            other=cells.has_other,
            absent=cells.has_absent,
        )
        for about, cells in zip(drawn.schema.columns, drawn.cells, strict=True)
    ]
    tables = [
        {
            "columns": list(table.columns),
            "shape": list(table.counts.shape),
            "scale": table.scale,
            "cells": table.counts.ravel().tolist(),
            "without_other": place < len(drawn.values) and drawn.cells[table.columns[0]].has_other,
        }
        for place, table in enumerate((*drawn.values, *drawn.tables))
    ]
    number = {"value": max(0, drawn.number_of_records), "low": 0, "high": 0, "sd": drawn.count_scale}
    return payload("fitted", columns, number, tables=tables, sampled_share=float(drawn.sampled_share))


def published(values, rows, *, noisy=None, estimate=None, low=None, high=None):
    """The counts of one length. Args: values: of each column. rows: {((column, code), ...): count}."""
    firsts = np.cumsum([0, *map(len, values)])
    ids = {cell: tuple(int(firsts[c]) + code - 1 for c, code in cell) for cell in rows}
    order = sorted(rows, key=lambda cell: ids[cell])
    length = len(order[0]) if order else 0
    return {
        "n": len(order),
        "ids": [[ids[cell][place] for cell in order] for place in range(length)],
        "count": [rows[cell] for cell in order],
        **{
            name: given and [given[cell] for cell in order]
            for name, given in (("noisy", noisy), ("estimate", estimate), ("low", low), ("high", high))
        },
    }


# ---- the truth --------------------------------------------------------------------------------------------


def texts_of(records):
    """Of each record the texts that it holds in each column."""
    columns = [[set() for _ in range(records.number_of_records)] for _ in records.values]
    for codes, place in zip(records.slots, records.slot_columns, strict=True):
        for record, code in enumerate(codes.tolist()):
            if code:
                columns[place][record].add(records.values[place][code - 1])
    return columns


def true_count(texts, columns, selection):
    """How many records meet a selection of a release's columns."""
    return sum(
        all(_meets(texts[place][record], columns[place]["values"], codes) for place, codes in selection)
        for record in range(len(texts[0]))
    )


def _meets(held, values, codes):
    known = {values.index(text) + 1 for text in held if text in values}
    if not held:
        return 0 in codes
    return bool(known & set(codes)) or (len(values) + 1 in codes and len(known) < len(held))


# ---- slow arithmetic --------------------------------------------------------------------------------------


def least_squares(release, weights):
    """Estimate and standard deviation of a weighted sum of cells, of all noisy tables over the joint table.

    Args:
        release: of columns with one value a record, whose tables have all of their cells.
        weights: of a joint cell.
    """
    sizes = [len(c["values"]) + c["other"] + c["absent"] for c in release["columns"]]
    joint = list(itertools.product(*map(range, sizes)))
    rows, seen, precisions = [[1.0] * len(joint)], [release["meta"]["number"]["value"]], []
    precisions.append(1 / (release["meta"]["number"]["sd"] ** 2 + 1 / 12))
    for table in release["tables"]:
        cells = itertools.product(*(range(sizes[place]) for place in table["columns"]))
        for cell, count in zip(cells, table["cells"], strict=True):
            rows.append([all(x[p] == v for p, v in zip(table["columns"], cell, strict=True)) for x in joint])
            seen.append(count)
            precisions.append(1 / (table["scale"] ** 2 + 1 / 12))
    design, precision = np.array(rows, float), np.array(precisions)
    covariance = np.linalg.pinv(design.T @ (design * precision[:, None]), rcond=1e-9)
    solution = covariance @ (design.T @ (precision * np.array(seen, float)))
    wanted = np.array([weights(x) for x in joint], float)
    return float(wanted @ solution), math.sqrt(max(0.0, float(wanted @ covariance @ wanted)))


def cells_of(about, codes):
    """The cells of a column that codes stand for."""
    size = len(about["values"])
    last = size + about["other"] + about["absent"] - 1
    return {last if code == 0 else code - 1 for code in codes if code or about["absent"]}


def weights_of(release, selection):
    """1 for each joint cell that a selection takes."""
    wanted = {place: cells_of(release["columns"][place], codes) for place, codes in selection}
    return lambda cell: float(all(cell[place] in cells for place, cells in wanted.items()))


def most_misses(number, share, false_alarm):
    """The least m with P(Binomial(number, share) > m) <= false_alarm."""
    tail, most, chance = 1.0, -1, (1 - share) ** number
    while tail > false_alarm:
        most += 1
        tail -= chance
        chance *= (number - most) / (most + 1) * share / (1 - share)
    return most


def is_within(found, true):
    """Whether a true count lies in an answer's range."""
    return found["low"] <= true and (found["high"] == "inf" or true <= found["high"])


def stream(seed):
    return SeededStream(seed)
