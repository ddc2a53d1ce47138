"""Pages of made-up releases of any size, and their counts by slow arithmetic."""

import base64
import hashlib
import html
import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tasks.core.navigation.payload.block import Buffers

BUNDLE = Path(__file__).resolve().parents[2] / "tasks" / "core" / "navigation" / "explorer" / "bundle"
_PAPER = """body { margin: 1rem; background: #fff }
@media (prefers-color-scheme: dark) { body { background: #16191f; color: #e6e9ee } }"""
#: A record: a value a column, None where it has none; several values of a column of items.
Record = Sequence[str | tuple[str, ...] | None]


def html_of(meta: dict[str, Any], data: str) -> str:
    """A page with nothing but the explorer, under the policy of a release's page."""
    program = (BUNDLE / "explorer.js").read_text(encoding="utf-8")
    sheet = (BUNDLE / "explorer.css").read_text(encoding="utf-8") + _PAPER
    described = json.dumps(meta, ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        described = described.replace(letter, f"\\u{ord(letter):04x}")
    policy = (
        f"default-src 'none'; script-src {_hash(program)}; style-src {_hash(sheet)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy, quote=True)}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>A page</title>'
        f"<style>{sheet}</style></head><body><main><h1>A page</h1><h2>Explore</h2>"
        f'<div id="marginalia-explorer"></div></main>'
        f'<script type="application/json" id="marginalia-release">{described}</script>'
        f'<script type="application/octet-stream" id="marginalia-data">{data}</script>'
        f"<script>{program}</script></body></html>"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def meta_of(columns: list[dict[str, Any]], records: int, buffers: Buffers, **changes: Any) -> dict[str, Any]:
    """What a page says of a release under k-anonymity."""
    meta: dict[str, Any] = {
        "format": 1,
        "title": "Invented people",
        "dataset": "people",
        "vintage": "2026-11",
        "prefix": "people",
        "protection": "k_anonymity",
        "unit": {"one": "person", "many": "people"},
        "records": records,
        "number": {"value": records, "low": records, "high": records},
        "columns": columns,
        "reporting_length": 0,
        "counts": [],
        "tables": [],
        "resolution": 1,
        "layout": None,
        "citation": {"text": "Nobody (2026).", "bibtex": "@misc{people}"},
        "buffers": buffers.index(),
    }
    return meta | changes


def column_of(name: str, values: Sequence[str], **changes: Any) -> dict[str, Any]:
    """A column of a page."""
    column: dict[str, Any] = {
        "name": name,
        "kind": "category",
        "values": list(values),
        "slots": 1,
        "type": "u8",
        "open": False,
        "other": False,
        "absent": True,
        "order": "listed",
    }
    return column | changes


def page_of(
    names: Sequence[str], records: Sequence[Record], length: int = 2, resolution: int = 1, **changes: Any
) -> str:
    """The page of a few records: all counts up to a length, rounded down as under k-anonymity.

    A column where a record holds a tuple is one of items, one whose values are all intervals one of bins.
    """
    buffers, columns, first = Buffers(), [], 0
    held: list[list[int]] = [[] for _ in records]
    for place, name in enumerate(names):
        cells = [_cell(record[place]) for record in records]
        values = sorted({value for cell in cells for value in cell})
        items = any(isinstance(record[place], tuple) for record in records)
        slots = max([len(cell) for cell in cells] + [1]) if items else 1
        kind = np.min_scalar_type(len(values))
        bins = bool(values) and all(value[0] in "[<>" for value in values)
        shape = "items" if items else "bins" if bins else "category"
        columns.append(column_of(name, values, kind=shape, slots=slots))
        code = {value: number for number, value in enumerate(values, 1)}
        for slot in range(slots):
            codes = [code[cell[slot]] if slot < len(cell) else 0 for cell in cells]
            buffers.put(f"column/{place}/{slot}", np.array(codes, kind))
        for ids, cell in zip(held, cells, strict=True):
            ids.extend(first + code[value] - 1 for value in cell)
        first += len(values)
    counts = []
    for size in range(1, length + 1):
        found = Counter(ids for each in held for ids in combinations(sorted(each), size))
        kept = sorted((ids, n // resolution * resolution) for ids, n in found.items() if n >= resolution)
        for place in range(size):
            buffers.put(f"counts/{size}/id/{place}", np.array([ids[place] for ids, _ in kept], np.uint16))
        buffers.put(f"counts/{size}/count", np.array([n for _, n in kept], np.uint32))
        counts.append({"n": len(kept)})
    meta = meta_of(
        columns, len(records), buffers, counts=counts, reporting_length=length, resolution=resolution
    )
    return html_of(meta | changes, buffers.text())


def _cell(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if value is None else value if isinstance(value, tuple) else (value,)


def counted(
    names: Sequence[str], records: Sequence[Record], selection: dict[str, set[str | None]], name: str
) -> Counter[str | None]:
    """Records by their value of a column, None for no value, of those that meet the others' choices."""
    found: Counter[str | None] = Counter()
    for record in records:
        cells = {each: set(_cell(value)) or {None} for each, value in zip(names, record, strict=True)}
        if all(cells[other] & chosen for other, chosen in selection.items() if other != name):
            found.update(cells[name])
    return found


def large_page(records: int, columns: int = 20, seed: int = 1) -> str:
    """A page of many records with counts of all values and pairs, for figures of speed and size."""
    generator, buffers = np.random.default_rng(seed), Buffers()
    sizes = [2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 10, 12, 12, 15, 16, 20, 25, 30, 50, 100][:columns]
    described = []
    for place, size in enumerate(sizes):
        shares = generator.dirichlet(np.ones(size + 1))
        buffers.put(f"column/{place}/0", generator.choice(size + 1, records, p=shares).astype(np.uint8))
        described.append(column_of(f"column {place}", [f"value {value} of {place}" for value in range(size)]))
    total = sum(sizes)
    first, second = np.triu_indices(total, 1)
    for length, ids in enumerate(((np.arange(total),), (first, second)), 1):
        for place, each in enumerate(ids):
            buffers.put(f"counts/{length}/id/{place}", each.astype(np.uint16))
        found = generator.integers(0, records // 10**length + 1, len(ids[0]))
        buffers.put(f"counts/{length}/count", (found * 10).astype(np.uint32))
    counts = [{"n": total}, {"n": len(first)}]
    return html_of(
        meta_of(described, records, buffers, counts=counts, reporting_length=2, resolution=10), buffers.text()
    )
