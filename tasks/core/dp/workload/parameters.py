"""What a fitted release is asked to be: public constants, fixed before the data is read (W20)."""

from dataclasses import dataclass, field
from fractions import Fraction

from tasks.core.dp.workload.shares import Shares
from tasks.core.dp.workload.tables import Columns

#: Below this epsilon longer sets than pairs cost more than they tell.
_LEAST_EPSILON_OF_LONGER_SETS = 2.0
_VALUES, _COUNT, _SCORES = Fraction(5, 100), Fraction(1, 100), Fraction(3, 100)


@dataclass(frozen=True)
class LongerSets:
    """Which sets beyond the workload may be measured.

    Attributes:
        length: how many columns a candidate has; 0 for no candidates.
        most: k, the most that are measured.
        most_cells: candidates with more cells than this are left out.
        states: of how many states of the first fit the expected counts are the mean.
    """

    length: int = 0
    most: int = 15
    most_cells: int = 20_000
    states: int = 4


@dataclass(frozen=True)
class WorkloadParameters:
    """Parameters of one fitted release, all public.

    Attributes:
        epsilon, delta: the claim.
        tables: the sets of columns to measure, each ascending, in order; None: all pairs.
        shares: of mu^2.
        threshold_delta_share: delta_t / delta where a column is open.
        target: a column whose tables get ``target_factor`` times the share, or None.
        target_factor: see above.
        max_values: the most values of an open column that keep a cell of their own (W5).
        most_cells: tables of more cells are left out, and their share goes to the others (W5).
        longer: candidates for longer sets.
    """

    epsilon: float
    delta: float
    shares: Shares
    tables: tuple[Columns, ...] | None = None
    threshold_delta_share: Fraction = Fraction(1, 10)
    target: int | None = None
    target_factor: float = 3.0
    max_values: int = 1_000
    most_cells: int = 2_000_000
    longer: LongerSets = field(default_factory=LongerSets)


def default_shares(epsilon: float) -> tuple[Shares, LongerSets]:
    """Shares and candidates that suit an epsilon: triples from 2 on, with a larger share the larger it is."""
    if epsilon < _LEAST_EPSILON_OF_LONGER_SETS:
        return Shares(_COUNT, _VALUES, 1 - _COUNT - _VALUES), LongerSets()
    chosen = Fraction(15, 100) if epsilon < 7 else Fraction(30, 100)
    rest = 1 - chosen - _SCORES
    shares = Shares(rest * _COUNT, rest * _VALUES, rest * (1 - _COUNT - _VALUES), _SCORES, chosen)
    return shares, LongerSets(length=3, most=15 if epsilon < 7 else 30)
