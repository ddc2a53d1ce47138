"""What a release says of each column as a whole: a measurement goes in, totals and their error bars come out.

Everything follows from released numbers. A column whose numbers could not be read, or whose domain is another
one, spends its part of epsilon on noise; its total is where that shows.
"""

import math
from dataclasses import dataclass

from tasks.core.dp.workload.measurement import DrawnMeasurement
from tasks.core.figures import format_up, format_whole
from tasks.core.hints import list_some
from tasks.core.normal import WITHIN_95
from tasks.core.sentences import sentences_of

_TEXT = sentences_of("all_protections")
#: So many columns a sentence names; `columns` of the statement has all.
_MOST_NAMED = 40
#: The values of a column of 0 and 1 in which a 0 means absence.
_ONE = {"1"}


@dataclass(frozen=True)
class ColumnTotal:
    """The noisy counts of one column's values, added up.

    Attributes:
        total: the sum over all values that were measured and kept: of an open column, those released.
        half_width: of the noise of that sum, in 95 of 100 draws; 0 where no value was kept.
        expected: half of what the total would be if every record that was looked at had a value; see
            `column_totals`.
    """

    name: str
    total: int
    half_width: int
    expected: float
    values: int

    @property
    def is_nothing(self) -> bool:
        """Whether the total can't be told from that of a column that holds nothing."""
        return self.half_width > 0 and self.total <= self.half_width

    @property
    def is_low(self) -> bool:
        """Whether fewer than half of the records seem to have a value."""
        return not self.is_nothing and self.half_width > 0 and self.total < self.expected


def column_totals(measurement: DrawnMeasurement) -> list[ColumnTotal]:
    """Of every column, by the counts of length 1 as drawn.

    A record with more attributes than the sensitivity of length 1 is counted for so many of them, which
    lowers all totals: half of the records is therefore half of sensitivity / width of them at most.
    """
    first = measurement.length_one
    if first is None:
        return []
    schema = measurement.schema.measured  # what follows from another column has no counts of its own
    counted = min(1.0, first.sensitivity / max(schema.width, 1))
    least = max(measurement.number_of_records, 0) * float(measurement.sampled_share) * counted / 2
    totals = []
    for index, column in enumerate(schema.columns):
        counts = measurement.counts_of(index)
        half_width = math.ceil(WITHIN_95 * math.sqrt(len(counts) * (first.scale**2 + 1 / 12)))
        totals.append(ColumnTotal(column.name, int(counts.sum()), half_width, least, len(counts)))
    return totals


def attention_sentences(measurement: DrawnMeasurement) -> list[str]:
    totals = column_totals(measurement)
    nothing = [total for total in totals if total.is_nothing]
    empty = [place for place, total in enumerate(totals) if _is_empty(measurement, place, total)]
    lacking = [place for place, total in enumerate(totals) if total.is_nothing or total.is_low]
    rare = [place for place in lacking if place not in empty]
    zeros = [place for place in empty if _holds_zeros(measurement, place)]
    told = [_nothing_told(nothing)] if nothing else []
    for key, places in (("empty", empty), ("zeros", zeros), ("rare", rare)):
        if places:
            names = [totals[place].name for place in places]
            told.append(_TEXT.say(f"look_at.{key}", columns=list_some(names, _MOST_NAMED)))
    return told


def mostly_empty_columns(measurement: DrawnMeasurement) -> list[str]:
    """The columns in which half of the records or more seem to hold nothing, by released numbers."""
    totals = column_totals(measurement)
    return [total.name for place, total in enumerate(totals) if _is_empty(measurement, place, total)]


def _is_empty(measurement: DrawnMeasurement, place: int, total: ColumnTotal) -> bool:
    """Whether a column's values are few, and not because they are too rare to be published."""
    column, empties = measurement.schema.measured.columns[place], measurement.empties_of(place)
    if column.is_open and empties is not None:
        return total.expected > 0 and empties >= total.expected
    is_lacking = total.is_nothing or total.is_low
    return is_lacking and (not column.is_open or _holds_zeros(measurement, place))


def _nothing_told(nothing: list[ColumnTotal]) -> str:
    first, names = nothing[0], [total.name for total in nothing]
    total, half_width = format_whole(first.total), format_up(first.half_width)
    if len(names) == 1:
        return _TEXT.say("look_at.nothing.one", columns=repr(first.name), total=total, half_width=half_width)
    return _TEXT.say(
        "look_at.nothing.several",
        number=str(len(names)),
        columns=list_some(names, _MOST_NAMED),
        column=repr(first.name),
        total=total,
        half_width=half_width,
    )


def _holds_zeros(measurement: DrawnMeasurement, place: int) -> bool:
    keeps_zero = measurement.schema.measured.columns[place].keeps_zero
    return not keeps_zero and set(measurement.texts_of(place)) == _ONE
