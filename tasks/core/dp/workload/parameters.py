"""What a fitted release is asked to be: public constants, fixed before the data is read (W20)."""

import json
import math
from dataclasses import asdict, dataclass, field
from fractions import Fraction

from tasks.core.dp.workload.shares import Allocation, Shares
from tasks.core.dp.workload.tables import Columns

#: From this epsilon on sets of four columns are scored beside those of three, where both are so many at most.
_LEAST_EPSILON_OF_FOUR, _MOST_SCORED = 4.0, 2_000
_VALUES, _COUNT, _SCORES = Fraction(5, 100), Fraction(1, 100), Fraction(3, 100)
_OPEN_VALUES = Fraction(30, 100)


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
class WorkloadParameters:
    """Parameters of one fitted release, all public.

    Attributes:
        epsilon, delta: the claim.
        tables: the sets of columns to measure, each ascending, in order; None: all pairs, a multi-valued
            column with itself among them.
        shares: of mu^2.
        threshold_delta_share: delta_t / delta where a column is open.
        allocation: what a table's share of the budget goes by.
        target: a column whose tables get ``target_factor`` times the share, or None.
        target_factor: see above.
        record_limit: the number of records that are looked at, or None for all (W4).
        filled: columns, each declared and of one value, in which an empty cell counts as the column's
            `other`; they have no cell for `absent` (W1).
        max_values: the most values of an open column that keep a cell of their own (W5).
        most_cells: tables of more cells are left out, and their share goes to the others (W5).
        most_cells_together: so many cells are measured at most; the largest tables are left out (W5).
        most_pairs: where ``tables`` is None and there are more pairs than this, at most so many are chosen
            by noisy scores, for ``pair_scores`` of the tables' share (W14).
        pair_scores: see above.
        longer: candidates for longer sets.
    """

    epsilon: float
    delta: float
    shares: Shares
    tables: tuple[Columns, ...] | None = None
    threshold_delta_share: Fraction = Fraction(1, 10)
    allocation: Allocation = "effective"
    target: int | None = None
    target_factor: float = 3.0
    record_limit: int | None = None
    filled: tuple[int, ...] = ()
    max_values: int = 1_000
    most_cells: int = 2_000_000
    most_cells_together: int = 10_000_000
    most_pairs: int = 1_000
    pair_scores: Fraction = Fraction(3, 10)
    longer: LongerSets = field(default_factory=LongerSets)

    @property
    def needs_tags(self) -> bool:
        """Whether records are sampled by a tag of their own."""
        return self.record_limit is not None

    def as_settings(self) -> dict[str, object]:
        """As JSON values, fractions as text: what names a release, and what its statement tells."""
        body: dict[str, object] = json.loads(json.dumps(asdict(self), default=str))
        return body


@dataclass(frozen=True)
class _Step:
    """From ``epsilon`` on, what share of the budget chosen sets get, and how many are chosen at most."""

    epsilon: float
    chosen: Fraction
    most: int


#: Below the first, longer sets than pairs cost more than they tell, whatever hides in them.
_STEPS = (
    _Step(1.0, Fraction(8, 100), 5),
    _Step(2.0, Fraction(15, 100), 15),
    _Step(7.0, Fraction(30, 100), 60),
)


def default_shares(
    epsilon: float, *, all_declared: bool = True, columns: int = 0
) -> tuple[Shares, LongerSets]:
    """Shares and candidates that suit an epsilon: longer sets from 1 on, with more of it the larger it is.

    Sets of four columns join from 4 on, where columns are so few that they are not too many to score. Where
    a column is open, its values must pass a threshold to be known, and values get more.
    """
    values = _VALUES if all_declared else _OPEN_VALUES
    step = next((step for step in reversed(_STEPS) if epsilon >= step.epsilon), None)
    if step is None:
        return Shares(_COUNT, values, 1 - _COUNT - values), LongerSets()
    rest = 1 - step.chosen - _SCORES
    shares = Shares(rest * _COUNT, rest * values, rest * (1 - _COUNT - values), _SCORES, step.chosen)
    few = 0 < math.comb(columns, 3) + math.comb(columns, 4) <= _MOST_SCORED
    lengths = (3, 4) if epsilon >= _LEAST_EPSILON_OF_FOUR and few else (3,)
    return shares, LongerSets(lengths=lengths, most=step.most)
