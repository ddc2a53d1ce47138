"""Which columns may say whose row it is: by name, by repetition, and by what never differs within it.

Cells go in; candidates come out, the likeliest first. Only a person knows. The look of texts alone tells
nothing: places have numbers as people do, and what they have in common with people, a number of rows each
and a region that never differs, makes a question of a column and no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.recognition.cells import FEW, SeenColumn, count_strays
from tasks.core.recognition.words import (
    NONE,
    OF_SOMETHING,
    SOME_ID,
    SOMEBODY,
    WHOSE,
    meanings,
    names_household,
    names_nobody,
    subject_likeness,
)

#: Ids have so many values at least, and stand in so many of the rows.
_FEWEST, _FILLED = 5, 0.95
#: What no name speaks for has so many values at least, and at most so many rows each on average.
_FEWEST_UNNAMED, _MOST_ROWS_EACH = 20, 60
#: From this share of rows on that differ, each row has its own.
_UNIQUE = 0.99
#: Texts that only programs write: long hexadecimal ids, of which many hold a letter.
_MADE, _SOME_LETTERS = r"[0-9A-Fa-f]{8,}|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{20,}", 0.2
#: Whole numbers, also as pandas and Excel write those of a column with gaps, and the same behind letters.
_WHOLE = r"[0-9]+(?:[.,]0+)?"
_NUMBERED = rf"{_WHOLE}|[A-Za-z]{{1,6}}[-_ ]?[0-9]{{2,}}"
#: Ids of few digits run evenly over their range; of numbers that count something the small ones are common.
_UNEVEN, _MOST_GAPS = 0.25, 4
#: Of numbers that begin anew in each family so few are commoner than the one before.
_SELDOM_RISES = 0.1
#: Columns that measure or describe are told by their names.
_MEASURED = {"postcode", "code", "money", "date", "share", "age", "birth", "year", "category", "text"}
#: How likely a candidate must be to be proposed.
_PROPOSED = 2.0
#: By how much a name says whose row it is, and in words.
_BY_NAME = {
    WHOSE: (3.0, "its name says whose row it is"),
    SOME_ID: (2.0, "its name says id"),
    SOMEBODY: (1.0, "its name may say whose row it is"),
    OF_SOMETHING: (0.0, "its name says an id of something"),
    NONE: (0.0, "its name says nothing"),
}
#: Rows that are looked at for what never differs: whole people, to so many rows.
_MOST_LOOKED_AT = 50_000


@dataclass(frozen=True)
class Candidate:
    """A column that may say whose row it is, and whether somebody then has several rows."""

    name: str
    likely: float
    reason: str
    several: bool

    @property
    def is_proposed(self) -> bool:
        return self.likely >= _PROPOSED


def candidates(columns: Sequence[SeenColumn]) -> list[Candidate]:
    """All columns that may be the person's id, the likeliest first; a household behind who lives in it."""
    found = [each for cells in columns if (each := _judge_candidate(cells, columns)) is not None]
    return sorted(found, key=lambda each: (not each.is_proposed, names_household(each.name), -each.likely))


def _judge_candidate(cells: SeenColumn, columns: Sequence[SeenColumn]) -> Candidate | None:
    named = subject_likeness(cells.name)
    if cells.distinct < _FEWEST or cells.filled < _FILLED * cells.rows or not _may_be_ids(cells, named):
        return None
    repeated, without = cells.filled - cells.distinct, cells.rows - cells.filled
    if without and not repeated:  # each row is another person, also one without an id
        return None
    is_made = cells.share(cells.matching(_MADE)) > _FILLED and (
        cells.share(cells.matching(".*[A-Fa-f].*")) > _SOME_LETTERS
    )
    fixed = _columns_fixed_within(cells, columns) if repeated >= FEW else []
    if not _is_likely_enough(cells, named, is_made=is_made, fixed=len(fixed)):
        return None
    likely, reason = _BY_NAME[named]
    likely += 1.0 * (named == SOMEBODY and repeated == 0)
    likely += 0.5 * (repeated >= FEW) + 0.5 * bool(fixed) + 0.5 * (len(fixed) > 1) + is_made
    if named <= OF_SOMETHING and not is_made:
        likely = min(likely, _PROPOSED - 0.5)  # a question and no more
    each = cells.filled / cells.distinct
    reason += f"; {cells.distinct:,} different in {cells.filled:,} rows, {each:.1f} rows each"
    if without:
        reason += f"; missing in {without:,} of {cells.rows:,} rows, which k-anonymity and SynDiffix refuse"
    if fixed:
        shown = ", ".join(fixed[:3]) + (", ..." if len(fixed) > 3 else "")
        reason += f"; {shown} hardly ever differ{'s' if len(fixed) == 1 else ''} within it"
    return Candidate(cells.name, likely, reason, repeated > 0)


def _may_be_ids(cells: SeenColumn, named: int) -> bool:
    if named <= SOMEBODY and (meanings(cells.name) & _MEASURED or names_nobody(cells.name)):
        return False
    whole = cells.matching(_WHOLE)
    numbers = cells.matching(r"[-+]?[0-9]*[.,]?[0-9]+(?:[eE][-+]?[0-9]+)?")
    if cells.share(numbers & ~whole) > 1 - _FILLED:
        return False
    if named == WHOSE and cells.share(whole) > _FILLED:
        return not _restarts_in_groups(cells, whole)
    if named >= SOMEBODY or cells.share(whole) < _FILLED:
        return True
    # Given out one after the other, and not counted or measured.
    return _has_one_length(cells, whole) or _is_even(cells, whole)


def _restarts_in_groups(cells: SeenColumn, whole: Flags) -> bool:
    """Whether few numbers count from one in each family, so that each is rarer than the one before."""
    if cells.distinct > _FEWEST_UNNAMED:
        return False
    numbers, held = _sort_numbers(cells, whole)
    falls = float((np.diff(held) <= 0).mean())
    return bool(numbers[0] <= 1 and held[0] > 1.5 * held[-1] and falls > 1 - _SELDOM_RISES)


def _sort_numbers(cells: SeenColumn, whole: Flags) -> tuple[Floats, Integers]:
    places = np.flatnonzero(whole)
    numbers: Floats = np.array([float(cells.texts[place].replace(",", ".")) for place in places])
    order = np.argsort(numbers)
    return numbers[order], cells.held[places][order]


def _has_one_length(cells: SeenColumn, whole: Flags) -> bool:
    lengths = np.array([len(text) for text in cells.texts])
    counted = np.bincount(lengths[whole], weights=cells.held[whole])
    return int(counted.argmax()) >= 3 and counted.max() > _FILLED * counted.sum()


def _is_even(cells: SeenColumn, whole: Flags) -> bool:
    """Whether numbers run evenly from the lowest to the highest with few gaps, as a register's do."""
    numbers, held = _sort_numbers(cells, whole)
    span = max(numbers[-1] - numbers[0], 1.0)
    if span > _MOST_GAPS * cells.distinct or held.max() > _MOST_GAPS * 2 * held.mean():
        return False
    risen, even = np.cumsum(held) / held.sum(), (numbers - numbers[0]) / span
    return bool(np.abs(risen - even).max() < _UNEVEN + held.max() / held.sum())


def _is_likely_enough(cells: SeenColumn, named: int, *, is_made: bool, fixed: int) -> bool:
    each = cells.filled / cells.distinct
    if named >= SOME_ID:
        return named == WHOSE or fixed > 0 or each <= _MOST_ROWS_EACH
    if named == SOMEBODY:
        whole = cells.matching(_WHOLE)
        is_told = cells.share(whole) < _FILLED or _has_one_length(cells, whole)
        return fixed > 0 or is_told or (each <= 1 / _UNIQUE and _is_even(cells, whole))
    is_repeated = cells.filled - cells.distinct >= FEW and each <= _MOST_ROWS_EACH
    if not is_repeated or cells.distinct < _FEWEST_UNNAMED:
        return False
    if named == OF_SOMETHING or is_made:
        return fixed > 0
    return fixed > 1 and cells.share(cells.matching(_NUMBERED)) > _FILLED


def _columns_fixed_within(cells: SeenColumn, columns: Sequence[SeenColumn]) -> list[str]:
    """Other columns that hardly ever differ between rows of one value; none where all others are so.

    Each is compared with how often it would differ by chance: what nearly always is the same says nothing,
    nor does another name for the same value.
    """
    rows = _sample_rows_of_values(cells)
    codes = cells.codes[rows]
    fixed, is_any_varied = [], False
    for other in columns:
        if other is cells or other.usual < 2:
            continue
        others = other.codes[rows]
        both = (codes >= 0) & (others >= 0)
        if not both.any():
            continue
        differ, people = count_strays(codes[both], others[both]), len(np.unique(codes[both]))
        shares = np.bincount(others[both]) / both.sum()
        by_chance = float((both.sum() - people) * (1 - (shares**2).sum()))
        if by_chance < FEW:
            continue
        is_any_varied = is_any_varied or differ > 0.5 * by_chance
        if differ < 0.1 * by_chance and np.count_nonzero(shares) <= 0.7 * people:
            fixed.append(other.name)
    return fixed if is_any_varied else []


def _sample_rows_of_values(cells: SeenColumn) -> Flags:
    """All rows of as many values as `_MOST_LOOKED_AT` rows hold, whole values alone."""
    order = np.random.default_rng(0).permutation(cells.distinct)
    chosen = np.zeros(cells.distinct + 1, np.bool_)
    chosen[order[np.cumsum(cells.held[order]) <= _MOST_LOOKED_AT]] = True
    return chosen[cells.codes]
