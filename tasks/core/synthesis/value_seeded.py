"""Value-seeded synthesis: raw rows in, synthetic records out (sds.md 4.3).

Records grow from nothing out of what is available: each attribute as often as its count, rounded down to
the resolution. Availability is that number also under oversampling control.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.errors import ParameterError
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.blocks import cells_of, held_by, indexed
from tasks.core.synthesis.consolidation import consolidated
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import Rows

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Oversampling:
    """How far synthetic counts may exceed the reported ones.

    Attributes:
        ratio: a combination that is reported with count a is synthesised at most a (1 + ratio) times; at
            least 0.
        tries: how often in a row an attribute may be drawn in vain before the record ends; at least 1.

    Raises:
        ParameterError: a parameter is out of its range.
    """

    ratio: float
    tries: int = 1

    def __post_init__(self) -> None:
        """Refuse what is out of range, all problems at once."""
        problems = []
        if not (math.isfinite(self.ratio) and self.ratio >= 0):
            problems.append(f"oversampling_ratio must be a finite number of at least 0, not {self.ratio}.")
        if not isinstance(self.tries, int) or isinstance(self.tries, bool) or self.tries < 1:
            problems.append(f"oversampling_tries must be a whole number of at least 1, not {self.tries}.")
        if problems:
            raise ParameterError(problems)


def synthesize(
    rows: Rows,
    seed: int,
    *,
    oversampling: Oversampling | None = None,
    reported: Aggregates | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> SyntheticRecords:
    """Draw synthetic records by sds.md 4.3, in the published order (sds.md 4.0)."""
    report = progress or (lambda share: None)
    if oversampling is not None:
        if reported is None:
            raise ParameterError(
                "Oversampling control needs the reportable aggregates that it compares with."
            )
        from tasks.core.synthesis.oversampling import draw_oversampled

        drawn = draw_oversampled(rows, reported, oversampling, seed, report)
    else:
        cells = cells_of(rows)
        index = indexed(cells, held_by(cells, len(rows.attributes)), rows.resolution)
        wanted = rows.counts // rows.resolution * rows.resolution
        drawn = consolidated(index, wanted, rows.resolution, seed, report)
    report(1.0)
    return ordered(rows.headers, rows.attributes, drawn.sizes, drawn.attribute_ids)
