"""What a fitted release is asked to be: public constants, fixed before the data is read (W20).

Also how the budget is shared out, in exact numbers (Theorem W, W19).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats
from tasks.core.dp.accounting import gdp_budget
from tasks.core.dp.sampling.noise import GRID
from tasks.core.dp.thresholds import root_above
from tasks.core.errors import InternalError

_SHARE_GRID = 2**20
_EXPONENT = 2 / 3
#: No table gets less than 1 / (20 #tables) of the budget, before shares are divided by their sum.
_LEAST_PART = 20
#: Of more tables the least share would round down to nothing.
MOST_TABLES = 40_000

#: What a table's share goes by: the cells expected above the noise, all its cells, or nothing.
Allocation = Literal["effective", "size", "equal"]


@dataclass(frozen=True)
class Shares:
    """Shares of mu^2, all public; together at most 1.

    Attributes:
        count: f_0, of the number of records.
        values: f_1, of length 1.
        tables: f_2, of the tables that the workload names.
        scores: f_s, of the choice of longer sets.
        chosen: f_3, of the sets chosen.
    """

    count: Fraction
    values: Fraction
    tables: Fraction
    scores: Fraction = Fraction(0)
    chosen: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        parts = (self.count, self.values, self.tables, self.scores, self.chosen)
        if min(parts) < 0 or sum(parts) > 1:
            raise InternalError("The shares of the budget must not be negative, nor exceed the whole.")


def grid_scale(square_of_sensitivity: int, charge: Fraction) -> Fraction:
    """The least s on the grid with sensitivity^2 / s^2 <= charge: ceil(64 sqrt(sensitivity^2 / charge)) / 64.

    Args:
        square_of_sensitivity: of the L2 sensitivity, >= 1: Delta_T of a table, sum of Delta_T^2 of a vector
            of scores.
        charge: the part of mu^2 that this may cost, > 0.
    """
    if square_of_sensitivity < 1 or charge <= 0:
        raise InternalError("A noise scale needs a sensitivity of at least 1 and a charge above 0.")
    return Fraction(root_above(Fraction(square_of_sensitivity * GRID**2) / charge), GRID)


def effective_sizes(
    margins: Sequence[Floats], tables: Sequence[tuple[int, ...]], scale: float, total: float
) -> list[float]:
    """How many cells of each table are expected to rise above noise of one scale, a cell below it in part.

    Args:
        margins: of each column its estimated counts (released).
        tables: columns of each table; of a column with itself, a pair of items is one cell.
        total: N > 0, the estimated number of records.
    """
    sizes = []
    for columns in tables:
        expected = np.array(total)
        for column in columns:
            expected = np.multiply.outer(expected, margins[column] / total)
        size = float(np.minimum(1.0, expected / scale).sum())
        sizes.append(size / 2 if len(set(columns)) < len(columns) else size)
    return sizes


def table_shares(sizes: Sequence[float], factors: Sequence[float] | None = None) -> list[Fraction]:
    """p_T of each table, together at most 1: its size^(2/3) times a public factor, floored to 2^-20.

    None is below 1 / (20 #tables) before all are divided by their sum.

    >>> [round(float(share), 3) for share in table_shares([8.0, 64.0])]  # 4 and 16 parts of 20
    [0.2, 0.8]
    """
    worth = np.array([max(size, 0.0) ** _EXPONENT for size in sizes])
    worth = worth if factors is None else worth * np.array(factors)
    if not len(worth):
        return []
    whole = float(worth.sum())
    shares = worth / whole if whole > 0 else np.full(len(worth), 1 / len(worth))
    shares = np.maximum(shares, 1 / (_LEAST_PART * len(shares)))
    shares = shares / shares.sum()
    found = [Fraction(math.floor(share * _SHARE_GRID), _SHARE_GRID) for share in shares]
    if sum(found) > 1:
        raise InternalError("The shares of the tables exceed the whole.")
    return found


def shares_of_tables(
    parameters: "WorkloadParameters",
    tables: Sequence[ColumnNumbers],
    margins: Sequence[Floats],
    charge: Fraction,
    total: float,
) -> list[Fraction]:
    """p_T of each table by what the parameters say that its share goes by; arguments as `effective_sizes`.

    Args:
        charge: what all tables together may cost of mu^2, > 0.
    """
    if not tables:
        return []
    if parameters.allocation == "effective":
        sizes = effective_sizes(margins, tables, math.sqrt(len(tables) / float(charge)), total)
    elif parameters.allocation == "size":
        sizes = [float(math.prod(len(margins[column]) for column in columns)) for columns in tables]
    else:
        sizes = [1.0] * len(tables)
    factors = [parameters.target_factor if parameters.target in columns else 1.0 for columns in tables]
    return table_shares(sizes, factors)


def least_share(tables: int) -> Fraction:
    """What `table_shares` gives to each of so many tables at least, at most `MOST_TABLES`."""
    smallest = Fraction(1, (_LEAST_PART + 1) * max(1, tables))
    return Fraction(math.floor(smallest * _SHARE_GRID * (1 - Fraction(1, 10**9))), _SHARE_GRID)


class Spending:
    """What has been drawn so far of one release's mu^2, in fractions.

    >>> spending = Spending(Fraction(1, 4))
    >>> spending.charge([(1, Fraction(4)), (2, Fraction(8))])  # 1/16 and 2/64
    >>> spending.left
    Fraction(5, 32)
    """

    def __init__(self, mu_squared: Fraction) -> None:
        self.left = mu_squared
        self.spent = Fraction(0)

    def charge(self, parts: Sequence[tuple[int, Fraction]]) -> None:
        """Book a stage before a word of it is drawn; of each part the sensitivity's square, and the scale.

        Raises:
            InternalError: it would exceed what is left.
        """
        cost = sum((Fraction(square) / scale**2 for square, scale in parts), Fraction(0))
        if cost > self.left:
            raise InternalError("The noise that would be drawn does not cover the privacy that is charged.")
        self.left -= cost
        self.spent += cost


#: Of more pairs than these some are chosen, unless somebody says otherwise.
MOST_PAIRS = 1_000
#: Of so many sets of three and four columns at most, those of four are scored, too.
_MOST_SCORED = 2_000
_COUNT, _SCORES = Fraction(1, 100), Fraction(3, 100)
#: The least share of single values.
_VALUES = Fraction(5, 100)
#: The same where a domain is open: the first, or the second divided by the number of columns if that is less.
_OPEN_VALUES, _OPEN_COLUMNS = Fraction(50, 100), Fraction(13, 2)


@dataclass(frozen=True)
class LongerSets:
    """Which sets beyond the workload may be measured.

    Attributes:
        lengths: how many columns candidates have, such as (3,) or (3, 4); none for no candidates.
        most: k, the most that are measured.
        most_cells: candidates with more cells than this are left out.
        most_candidates: K, the most candidates; of more, those with the fewest cells stay.
        holding: only sets that hold this column are candidates; None: any.
    """

    lengths: tuple[int, ...] = ()
    most: int = 15
    most_cells: int = 20_000
    most_candidates: int = 5_000
    holding: int | None = None


@dataclass(frozen=True)
class Step:
    """How the budget is shared from a signal on.

    Attributes:
        signal: the least product of the noisy number of records and mu.
    """

    signal: float
    shares: Shares
    longer: LongerSets = field(default_factory=LongerSets)


@dataclass(frozen=True)
class WorkloadParameters:
    """Parameters of one fitted release, all public.

    Attributes:
        epsilon, delta: the claim.
        tables: the sets of columns to measure, each ascending, in order; None: all pairs, a multi-valued
            column with itself among them.
        threshold_delta_share: delta_t / delta where a column is open.
        allocation: what a table's share of the budget goes by.
        target: a column whose tables get ``target_factor`` times the share, or None.
        record_limit: the number of records that are looked at, or None for all (W4).
        filled: columns, each declared and of one value, in which an empty cell counts as the column's
            `other`; they have no cell for `absent` (W1).
        max_values: the most values of an open column that keep a cell of their own (W5).
        most_cells: tables of more cells are left out, and their share goes to the others (W5).
        most_cells_together: so many cells are measured at most; the largest tables are left out (W5).
        most_pairs: where ``tables`` is None and there are more pairs than this, at most so many are chosen
            by noisy scores, for ``pair_scores`` of the tables' share (W14).
        steps: what applies in place of ``shares`` and ``longer``, by ascending signal: the last step whose
            signal the draw reaches. The number of records is drawn before, so all have its share alike.
    """

    epsilon: float
    delta: float
    shares: Shares
    tables: tuple[ColumnNumbers, ...] | None = None
    threshold_delta_share: Fraction = Fraction(1, 10)
    allocation: Allocation = "effective"
    target: int | None = None
    target_factor: float = 3.0
    record_limit: int | None = None
    filled: tuple[int, ...] = ()
    max_values: int = 1_000
    most_cells: int = 2_000_000
    most_cells_together: int = 10_000_000
    most_pairs: int = MOST_PAIRS
    pair_scores: Fraction = Fraction(3, 10)
    longer: LongerSets = field(default_factory=LongerSets)
    steps: tuple[Step, ...] = ()

    def signal(self, count: int, mu_squared: float) -> float:
        """How far the records stand above the noise: the records that are looked at times mu."""
        looked_at = count if self.record_limit is None else min(count, self.record_limit)
        return max(0, looked_at) * math.sqrt(mu_squared)

    def at(self, signal: float) -> "WorkloadParameters":
        """The same with the shares and candidates that apply at a signal, and no steps."""
        reached = [step for step in self.steps if step.signal <= signal]
        if not reached:
            return replace(self, steps=())
        return replace(self, shares=reached[-1].shares, longer=reached[-1].longer, steps=())

    def every(self) -> "list[WorkloadParameters]":
        """The parameters at each signal that makes a difference."""
        return [self.at(signal) for signal in (-1.0, *(step.signal for step in self.steps))]

    @property
    def needs_tags(self) -> bool:
        """Whether records are sampled by a tag of their own."""
        return self.record_limit is not None

    def as_settings(self) -> dict[str, object]:
        """As JSON values, fractions as text: what names a release, and what its statement tells."""
        body: dict[str, object] = json.loads(json.dumps(asdict(self), default=str))
        return body


#: From which signal on so much goes to single values: few records tell nothing of pairs. In units of the root
#: of the number of tables, as each table's noise grows with it.
_FEW = ((0, Fraction(65, 100)), (20, Fraction(40, 100)), (60, Fraction(20, 100)), (120, Fraction(0)))
#: From which signal on longer sets pay for themselves: their share, how many at most, and whether sets of
#: four are among them.
_MANY = (
    (5_000.0, Fraction(8, 100), 5, False),
    (11_000.0, Fraction(15, 100), 15, False),
    (20_000.0, Fraction(15, 100), 15, True),
    (40_000.0, Fraction(30, 100), 60, True),
)


def default_steps(*, all_declared: bool = True, columns: int = 0, tables: int = 1) -> tuple[Step, ...]:
    """Shares that suit a signal: single values for few records, longer sets for many; the first from 0 on.

    Where a column is open, its values must pass a threshold to be known, and values get more.
    """
    least = _VALUES if all_declared else _least_of_open(columns)
    few = [Step(factor * math.sqrt(max(1, tables)), _shares(max(values, least))) for factor, values in _FEW]
    scored = 0 < math.comb(columns, 3) + math.comb(columns, 4) <= _MOST_SCORED
    many = [
        Step(signal, _shares(least, chosen), LongerSets((3, 4) if fours and scored else (3,), most))
        for signal, chosen, most, fours in _MANY
        if signal > few[-1].signal
    ]
    return (*few, *many)


def _least_of_open(columns: int) -> Fraction:
    """Less where columns are many, as their pairs grow in number faster."""
    return max(_VALUES, min(_OPEN_VALUES, _OPEN_COLUMNS / max(1, columns)))


def _shares(values: Fraction, chosen: Fraction = Fraction(0)) -> Shares:
    """The count's share is the same in all; scores and chosen sets come off what tables and values share."""
    scores = _SCORES if chosen else Fraction(0)
    rest = (1 - _COUNT - scores - chosen) / (1 - _COUNT)
    return Shares(_COUNT, rest * values, rest * (1 - _COUNT - values), scores, chosen)


def budget_of(parameters: WorkloadParameters, *, all_declared: bool) -> tuple[Fraction, float]:
    """mu^2, exact, and delta_t, which is spent only where a column is open."""
    delta = Fraction(parameters.delta)
    threshold_delta = 0.0 if all_declared else float(parameters.threshold_delta_share * delta)
    return _budget(parameters.epsilon, delta, threshold_delta), threshold_delta


#: A bisection of some 0.05 s, asked for before the draw and in it.
_budget = lru_cache(maxsize=64)(gdp_budget)
