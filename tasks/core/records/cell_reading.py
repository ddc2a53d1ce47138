"""How a column's cells are read before anything else looks at them: each cell by itself, as was declared.

Texts go in, texts come out: without what stands around them, without words for missing values, dates in one
spelling, dates and codes cut short.

>>> visited = CellReading(missing=("n/a",), date_formats=("%d.%m.%Y",), cut="month")
>>> visited.read(["3.11.2026", " N/A", "soon", None]).texts
['2026-11', '', '', None]

What a cell becomes depends on that cell and on public declarations alone, so no record changes how another
is read (R6): a format that several cells were written in is declared, never found out.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Flags
from tasks.core.tables.timestamps import is_format, written_moments

#: What is left of a date, as strftime writes it.
CUTS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d", "hour": "%H"}
#: What is left of a whole number: it without zeros behind a decimal mark.
WHOLE = "whole"
_AGE = re.compile(r"age on (\d{4}-\d{2}-\d{2})")
_DAY, _MOMENT = "%Y-%m-%d", "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class ReadCells:
    """What cells say.

    Attributes:
        texts: for each cell its text, empty where it stands for a missing value; None where there is no cell.
        unread: which cells hold something that is no date though dates were declared.
    """

    texts: list[str | None]
    unread: Flags


@dataclass(frozen=True)
class CellReading:
    """What is declared of a column's cells.

    Attributes:
        missing: words that stand for a missing value; case doesn't count.
        date_formats: how dates are written, as strptime has it, the first that fits; none: ISO 8601.
        cut: what is left of a date (`CUTS`), or the age in full years (``age on 2026-01-01``); or how many
            characters are left of a code; or ``whole``, which takes zeros behind a decimal mark off whole
            numbers; empty: everything.
        whole: the decimal mark of a column of whole numbers or of listed ones, whose cells may have zeros
            behind it, as spreadsheets write them: they are dropped. Empty: such a cell is a text.
    """

    strip: str = ""
    missing: tuple[str, ...] = ()
    date_formats: tuple[str, ...] = ()
    cut: str = ""
    whole: str = ""

    @property
    def problems(self) -> list[str]:
        found = [
            "date_formats must be made of parts such as %d, %m, %Y, %H and %M, each once, without a zone, "
            f"but hold {format_!r}: correct it."
            for format_ in self.date_formats
            if not is_format(format_)
        ]
        if self.cut and not (self.cut in (*CUTS, WHOLE) or self.cut_length or self._reference_day):
            found.append(
                f"cut must be {', '.join([*CUTS, WHOLE])}, an age such as 'age on 2026-01-01', or the number "
                f"of characters to keep, but is {self.cut!r}: give one of them."
            )
        if self.date_formats and (self.cut_length or self.cut == WHOLE):
            other = "a number in cut is of codes" if self.cut_length else "whole in cut is of numbers"
            found.append(f"date_formats are of dates, and {other}: keep one of the two.")
        return found

    @property
    def cut_length(self) -> int:
        return int(self.cut) if re.fullmatch("[1-9][0-9]{0,3}", self.cut) else 0

    @property
    def _reference_day(self) -> date | None:
        match = _AGE.fullmatch(self.cut)
        try:
            return date.fromisoformat(match[1]) if match else None
        except ValueError:
            return None

    @property
    def is_age(self) -> bool:
        return self._reference_day is not None

    @property
    def holds_dates(self) -> bool:
        return bool(self.date_formats) or (self.cut in CUTS or self.is_age)

    def read(self, texts: Sequence[str | None]) -> ReadCells:
        """The cells, trimmed and read; never fails for a cell."""
        if self == AS_IT_STANDS:
            return ReadCells(list(texts), np.zeros(len(texts), np.bool_))
        words = {normalize("NFC", word.strip()).lower() for word in self.missing}
        words |= {without_fraction(word, ".") for word in words}  # -9.0 is -9 where cells are typed
        found = [None if text is None else self._bare(text, words) for text in texts]
        if mark := self.whole or ("." if self.cut == WHOLE else ""):
            found = [None if text is None else without_fraction(text, mark) for text in found]
        if length := self.cut_length:
            found = [None if text is None else text[:length] for text in found]
        if not self.holds_dates:
            return ReadCells(found, np.zeros(len(texts), np.bool_))
        dates = list(zip(found, self._dates(found), strict=True))
        unread = np.array([bool(text) and not day for text, day in dates], np.bool_)
        return ReadCells([None if text is None else day or "" for text, day in dates], unread)

    def _bare(self, text: str, words: Set[str]) -> str:
        """Without what stands around it; empty for one of the words, which may hold it, too."""
        text = text.strip()
        bare = text.strip(self.strip + " \u00a0\u202f\t") if self.strip else text
        return "" if text.lower() in words or bare.lower() in words else bare

    def _dates(self, texts: list[str | None]) -> list[str | None]:
        moments = written_moments(pa.array(texts, pa.string()), self.date_formats)
        if day := self._reference_day:
            is_ahead = pc.greater(pc.strftime(moments, "%m%d"), f"{day:%m%d}").cast(pa.int64())
            ages = pc.subtract(day.year, pc.add(pc.year(moments), is_ahead))
            return list(ages.cast(pa.string()).to_pylist())
        has_time = any("%H" in format_ or "%I" in format_ for format_ in self.date_formats)
        seconds = pc.floor_temporal(moments, unit="second").cast(pa.timestamp("s"))
        return list(pc.strftime(seconds, CUTS.get(self.cut, _MOMENT if has_time else _DAY)).to_pylist())

    def as_declared(self) -> dict[str, object]:
        """What is not a default, for JSON."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> "CellReading":
        listed = {key: tuple(value) for key, value in declared.items() if isinstance(value, list)}
        return cls(**{**declared, **listed})


def has_empty_fraction(text: str, decimal: str) -> bool:
    """Whether a text is a whole number with zeros behind a decimal mark: one or two behind the other mark.

    Three may be a group of thousands.

    >>> [has_empty_fraction(text, ",") for text in ("2,00", "2.00", "2.000", "2", "2,5")]
    [True, True, False, False, False]
    """
    other = "," if decimal == "." else "."
    return (
        re.fullmatch(rf"[-+]?[0-9]+(?:{re.escape(decimal)}0+|{re.escape(other)}0{{1,2}})", text) is not None
    )


def without_fraction(text: str, decimal: str) -> str:
    """A whole number without zeros behind a decimal mark, 0 without a sign; any other text as it is."""
    bare = re.sub("[.,]0+$", "", text) if has_empty_fraction(text, decimal) else text
    return "0" if bare in ("-0", "+0") else bare


#: As the file has them.
AS_IT_STANDS = CellReading()
