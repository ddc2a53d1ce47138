"""Dependences as stored: all of one selection, and those of single pairs that any later selection can use.

<workspace>/sensitive/<dataset>/dependence/<keyed hash>.json    one for each table, way of measuring and code
"""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tasks.core.syndiffix.dependence import ColumnRelations
from tasks.sensitive.syndiffix.trees import Part, kept_at
from tasks.storage import StoredTable, Workspace

_FILE = "dependence.json"


class KnownDependence:
    """The pairs of a table that were measured in one way; a pair's value follows from the pair alone."""

    def __init__(self, workspace: Workspace, table: StoredTable, part: Part, sample: int) -> None:
        """Find them.

        Args:
            workspace: where they are.
            table: typed.
            part: all that is synthesized of it.
            sample: rows that are measured by; 0: all.
        """
        self._columns = part.columns
        self._safe = frozenset(part.settings.value_safe_columns)
        self._path = kept_at(workspace, "dependence", table, part, sample).with_suffix(".json")

    def pairs(self) -> Mapping[tuple[str, str], float]:
        """By headers."""
        return {
            (one, other): value
            for one, other, safe_one, safe_other, value in self._rows()
            if (one in self._safe, other in self._safe) == (safe_one, safe_other)
        }

    def add(self, relations: ColumnRelations) -> None:
        """Keep what was measured, beside what is known."""
        rows = {(one, other, a, b): value for one, other, a, b, value in self._rows()}
        for place, one in enumerate(self._columns):
            for other_place, other in enumerate(self._columns[:place]):
                key = (other, one, other in self._safe, one in self._safe)
                rows[key] = float(relations.dependence[other_place, place])
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_name(f".{self._path.name}-{secrets.token_hex(4)}.part")
        part.write_text(json.dumps([[*key, value] for key, value in sorted(rows.items())]), encoding="utf-8")
        part.replace(self._path)

    def _rows(self) -> list[tuple[str, str, bool, bool, float]]:
        try:
            found: list[tuple[str, str, bool, bool, float]] = json.loads(
                self._path.read_text(encoding="utf-8")
            )
        except (OSError, ValueError):
            return []
        return found


def write_relations(relations: ColumnRelations, folder: Path) -> None:
    """Into an empty folder."""
    body = {"dependence": relations.dependence.tolist(), "entropies": relations.entropies.tolist()}
    (folder / _FILE).write_text(json.dumps(body), encoding="utf-8")


def read_relations(folder: Path) -> ColumnRelations:
    """What `write_relations` wrote."""
    body = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    return ColumnRelations(np.array(body["dependence"], np.float64), np.array(body["entropies"], np.float64))
