"""What the files of a release say, read slowly with pandas: the numbers that its page must show.

In: a release's folder. Out: counts of a selection, by column and value as the files have them. Nothing here
reads the page's data, and nothing of it is made with the project's own code.
"""

import functools
import itertools
import json
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

#: Column to the values chosen in it; `MISSING` stands for none.
Chosen = Mapping[str, Sequence[str]]
MISSING = "missing"
#: What the page writes for it; the second in an open column of a fitted release.
NO_VALUE = (MISSING, "missing or too rare")
_NUMBER = r"[-+]?[\d.]+"
#: Standard deviations above a threshold from which on it does not change a range.
_FAR = 8


class Actual(NamedTuple):
    """A count, and where the true one lies: None where there is none, or no line of a file says."""

    value: int | None = None
    low: int | None = None
    high: int | None = None


#: What only sums over noisy tables tell.
UNTOLD = Actual()


def as_shown(value: str) -> str:
    """A bin as the page writes it in English; other values are written as they are."""
    if between := re.fullmatch(rf"\[({_NUMBER}),({_NUMBER})([)\]])", value):
        low, high, end = between.groups()
        return f"{low} to under {high}" if end == ")" else f"{low} to {high}"
    if beyond := re.fullmatch(rf"([<>])({_NUMBER})", value):
        return f"{'under' if beyond[1] == '<' else 'over'} {beyond[2]}"
    return value


def is_within(number: float, shown: str) -> bool:
    """Whether a number is in the bin that is written so.

    >>> [is_within(number, "20 to under 25") for number in (19.9, 20, 25)]
    [False, True, False]
    """
    if between := re.fullmatch(rf"({_NUMBER}) to (under )?({_NUMBER})", shown):
        low, high = float(between[1]), float(between[3])
        return low <= number < high if between[2] else low <= number <= high
    if beyond := re.fullmatch(rf"(under|over) ({_NUMBER})", shown):
        return number < float(beyond[2]) if beyond[1] == "under" else number > float(beyond[2])
    return number == float(shown)


@dataclass(frozen=True, eq=False)
class ReleasedFiles:
    """The files of one release. Attributes: folder: theirs. prefix: of their names. protection: how."""

    folder: Path
    prefix: str
    protection: str

    @functools.cached_property
    def statement(self) -> dict[str, Any]:
        """The privacy statement."""
        found: dict[str, Any] = json.loads((self.folder / "privacy.json").read_text(encoding="utf-8"))
        return found

    @functools.cached_property
    def configuration(self) -> dict[str, Any]:
        """The public settings."""
        found: dict[str, Any] = json.loads((self.folder / "configuration.json").read_text(encoding="utf-8"))
        return found

    @functools.cached_property
    def records(self) -> pd.DataFrame:
        """The synthetic records, every cell a text, empty where there is no value."""
        path = self.folder / f"{self.prefix}_synthetic_microdata.tsv"
        return pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)

    @functools.cached_property
    def multi_valued(self) -> list[str]:
        """Columns of which a record may hold several values."""
        return list(self.configuration["input"].get("multi_value_columns", ()))

    @functools.cached_property
    def columns(self) -> list[str]:
        """As the page has them: one for all items of a multi-valued column."""
        found = {self._column_of(header): None for header in self.records.columns}
        return list(found)

    def _column_of(self, header: str) -> str:
        return next((name for name in self.multi_valued if header.startswith(f"{name}_")), header)

    @functools.cached_property
    def reported(self) -> dict[frozenset[str], dict[str, str]]:
        """Each reported combination, as a set of attributes, with its line of the file."""
        path = self.folder / f"{self.prefix}_reportable_aggregates.tsv"
        table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        return {frozenset(row["selections"].split(";")): row for row in table.to_dict("records")}

    @functools.cached_property
    def reporting_length(self) -> int:
        """R: the longest combination reported."""
        return max(map(len, self.reported)) if self.protection != "syndiffix" else 0

    # Estimated: counted in the synthetic records.

    def estimated(self, chosen: Chosen, column: str, shown: str) -> int:
        """How many synthetic records hold a value, as the page writes it, and what the others choose."""
        others = {name: values for name, values in chosen.items() if name != column}
        return int(self._kept(self._smallest([*others, column]), others | {column: [shown]}).sum())

    def selected(self, chosen: Chosen) -> pd.DataFrame:
        """The synthetic records of a selection."""
        return self.records[self._kept("", chosen)]

    def _kept(self, file: str, chosen: Chosen) -> "pd.Series[bool]":
        kept = pd.Series(True, index=self._table(file).index)
        for name, values in chosen.items():
            kept &= functools.reduce(operator.or_, (self._holds(file, name, value) for value in values))
        return kept

    @functools.cache  # noqa: B019 -- a release's files stay what they are
    def _holds(self, file: str, column: str, shown: str) -> "pd.Series[bool]":
        """Of each record of a table, whether it holds a value as it is written on the page."""
        table = self._table(file)
        if column in self.multi_valued:
            if shown not in NO_VALUE:
                return table[f"{column}_{shown}"] == "1"
            headers = [header for header in table.columns if self._column_of(header) == column]
            return (table[headers] != "1").all(axis=1)
        if shown in NO_VALUE:
            return table[column] == ""
        cells = table[column].unique().tolist()
        labels = {as_shown(cell) for cell in cells}
        return table[column].isin([cell for cell in cells if cell and self._is_written(cell, shown, labels)])

    def _is_written(self, cell: str, shown: str, labels: set[str]) -> bool:
        """SynDiffix releases numbers, which the page sorts into bins; other releases have the bins."""
        if self.protection != "syndiffix" or shown in labels or not re.fullmatch(_NUMBER, cell):
            return as_shown(cell) == shown
        return is_within(float(cell), shown)

    def _smallest(self, names: Sequence[str]) -> str:
        """Of SynDiffix, the table with the fewest columns that has one column, or two; else that of all."""
        tables = self._tables if len(set(names)) < 3 else {}
        fitting = [file for file, held in tables.items() if set(names) <= set(held)]
        return min(fitting, key=lambda file: len(tables[file]), default="")

    @functools.cached_property
    def _tables(self) -> dict[str, list[str]]:
        """Of SynDiffix, the columns of each table of a question."""
        index = self.folder / f"{self.prefix}_tables" / "index.json"
        if self.protection != "syndiffix" or not index.is_file():
            return {}
        found: dict[str, list[str]] = json.loads(index.read_text(encoding="utf-8"))
        return found

    @functools.cache  # noqa: B019
    def _table(self, file: str) -> pd.DataFrame:
        if not file:
            return self.records
        table = pd.read_parquet(self.folder / f"{self.prefix}_tables" / file)
        return table.map(lambda cell: "" if pd.isna(cell) else _plain(cell))

    # Actual: the published counts.

    def actual(self, chosen: Chosen, column: str, shown: str) -> Actual | None:
        """The published count of a value within the others' choices; None where there is none."""
        whole = {name: values for name, values in chosen.items() if name != column} | {column: [shown]}
        if self.protection == "fitted":
            return self._fitted(whole)
        if len(whole) > self.reporting_length or any(MISSING in values for values in whole.values()):
            return None
        if any(name in self.multi_valued and len(values) > 1 for name, values in whole.items()):
            return None
        keys = self._combinations(whole)
        if not all(key in self.reported for key in keys):
            return None
        return {"k_anonymity": self._rounded, "lengths": self._noisy}[self.protection](keys)

    def _combinations(self, chosen: Chosen) -> list[frozenset[str]]:
        """Every combination of one value a column, as lines of the file have it."""
        texts = [self._attributes(name, values) for name, values in chosen.items()]
        return [frozenset(each) for each in itertools.product(*texts)]

    def _attributes(self, column: str, shown: Sequence[str]) -> list[str]:
        if column in self.multi_valued:
            return [f"{column}_{value}:1" for value in shown]
        values = {as_shown(cell): cell for cell in self._reported_values[column]}
        return [f"{column}:{values.get(value, value)}" for value in shown]

    @functools.cached_property
    def _reported_values(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {name: set() for name in self.columns}
        for attributes in self.reported:
            for attribute in attributes if len(attributes) == 1 else ():
                header, colon, value = attribute.partition(":")
                if colon and header in found:
                    found[header].add(value)
        return found

    def _fitted(self, chosen: Chosen) -> Actual | None:
        """What all noisy tables say of one combination; None where it is longer than all of them."""
        if len(chosen) > max(self.reporting_length, self._widest):
            return None
        combinations = self._combinations(chosen)
        row = self.reported.get(combinations[0]) if len(combinations) == 1 else None
        if row is None:
            return UNTOLD
        value = row["least_squares"]
        return Actual(int(value) if value else None, int(row["at_least"]), int(row["at_most"]))

    @functools.cached_property
    def _widest(self) -> int:
        """The most columns of a noisy table."""
        tables = pd.read_parquet(self.folder / f"{self.prefix}_noisy_tables.parquet", columns=["columns"])
        return int(tables["columns"].map(len).max())

    def _count(self, key: frozenset[str]) -> int:
        return int(self.reported[key]["protected_count"])

    def _rounded(self, keys: Sequence[frozenset[str]]) -> Actual:
        """Each count stands for itself to k - 1 more; of a sum, shorter counts may know better."""
        value, k = sum(map(self._count, keys)), int(self.statement["guarantee"]["resolution"])
        return Actual(value, value, value + k - 1) if len(keys) == 1 else Actual(value)

    def _noisy(self, keys: Sequence[frozenset[str]]) -> Actual:
        """The noise of a sum grows with the root of its counts.

        Not told are counts near a threshold, where less is certain, and those that were made equal to a part.
        """
        counts, [length] = [self._count(key) for key in keys], {len(key) for key in keys}
        level = self.statement["levels"][length - 1]
        bar, far = level["error_bar"], (level["threshold"] or 0) + _FAR * level["error_bar"]["sd"]
        parts = [{self._count(key - {each}) for each in key} if length > 1 else set() for key in keys]
        if any(count < far or count in other for count, other in zip(counts, parts, strict=True)):
            return Actual(sum(counts))
        half = bar["half_width_95"] if len(counts) == 1 else 1.96 * bar["sd"] * math.sqrt(len(counts))
        return Actual(sum(counts), math.floor(sum(counts) - half), math.ceil(sum(counts) + half))


def _plain(cell: Any) -> str:
    """A cell of a Parquet table as a text."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
