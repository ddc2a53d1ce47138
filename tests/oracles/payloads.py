"""A page's data read back, slowly: the text of a page goes in, lists of numbers by name come out."""

import base64
import gzip
import json
import re
import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tasks.core.navigation.payload.release import Payload

_FORMATS = {"u8": "B", "u16": "H", "u32": "I", "i32": "i"}
UNMEASURED = -(2**31)


@dataclass(frozen=True)
class Decoded:
    """What the page's program finds. Attributes: meta: as JSON. arrays: by name."""

    meta: dict[str, Any]
    arrays: dict[str, list[int]]

    def records(self) -> list[list[set[str]]]:
        """Of each record that the page holds the values in each column."""
        number = self.meta.get("records_in_page", self.meta["records"])
        found: list[list[set[str]]] = [[] for _ in range(number)]
        for place, column in enumerate(self.meta["columns"]):
            slots = [self.arrays[f"column/{place}/{slot}"] for slot in range(column["slots"])]
            for record, codes in zip(found, zip(*slots, strict=True), strict=True):
                record.append({column["values"][code - 1] for code in codes if code})
        return found

    def attributes(self) -> list[tuple[int, str]]:
        """What attribute ids stand for: a column and its value."""
        columns = self.meta["columns"]
        return [(place, value) for place, column in enumerate(columns) for value in column["values"]]

    def counts(self, name: str = "count") -> dict[frozenset[tuple[int, str]], int]:
        """Every published combination with its count, or with another of its numbers."""
        attributes, found = self.attributes(), {}
        for length, level in enumerate(self.meta["counts"], start=1):
            ids = [self.arrays[f"counts/{length}/id/{place}"] for place in range(length)]
            rows = list(zip(*ids, strict=True))
            assert len(rows) == level["n"]
            assert all(list(row) == sorted(set(row)) for row in rows), "ids ascend within a row"
            assert all(one < other for one, other in pairwise(rows)), "rows ascend"
            for row, number in zip(rows, self.arrays[f"counts/{length}/{name}"], strict=True):
                found[frozenset(attributes[each] for each in row)] = number
        return found

    def table(self, place: int) -> dict[tuple[str | None, ...], int]:
        """One of the noisy tables by texts; ``other`` is "\\x00other", ``absent`` None."""
        about = self.meta["tables"][place]
        axes = [self._cells(column, about) for column in about["columns"]]
        keys: list[tuple[str | None, ...]] = [()]
        for axis in axes:
            keys = [(*key, cell) for key in keys for cell in axis]
        assert [len(axis) for axis in axes] == about["shape"]
        return dict(zip(keys, self.arrays[f"tables/{place}"], strict=True))

    def _cells(self, column: int, about: dict[str, Any]) -> list[str | None]:
        told = self.meta["columns"][column]
        other = ["\x00other"] if told["other"] and not about.get("without_other") else []
        return [*told["values"], *other, *([None] if told["absent"] else [])]


def decoded(text: str) -> Decoded:
    """The data in a page's text."""
    [release] = re.findall(r'<script type="application/json" id="marginalia-release">([^<]*)</script>', text)
    [data] = re.findall(
        r'<script type="application/octet-stream" id="marginalia-data">([^<]*)</script>', text
    )
    return _read(json.loads(release), data)


def read_back(payload: Payload) -> Decoded:
    """What the page's program finds of a payload."""
    return _read(json.loads(json.dumps(payload.meta)), payload.data)


def _read(meta: dict[str, Any], data: str) -> Decoded:
    """The arrays that an index names, out of the block."""
    block = gzip.decompress(base64.b64decode(data, validate=True))
    arrays, end = {}, 0
    for each in meta["buffers"]:
        kind = _FORMATS[each["type"]]
        assert each["offset"] % 8 == 0 and 0 <= each["offset"] - end < 8, "one after the other, aligned"
        arrays[each["name"]] = [
            struct.unpack_from(f"<{kind}", block, each["offset"] + place * struct.calcsize(kind))[0]
            for place in range(each["length"])
        ]
        end = each["offset"] + each["length"] * struct.calcsize(kind)
    assert len(block) - end < 8
    assert len(arrays) == len(meta["buffers"]), "names are not repeated"
    return Decoded(meta, arrays)
