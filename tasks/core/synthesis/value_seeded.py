"""Value-seeded synthesis: raw rows in, synthetic records out (sds.md 4.3).

Records grow from nothing out of what is available: each attribute as often as its count, rounded down to
the resolution. Availability is that number also under oversampling control.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.errors import ParameterError
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.consolidation import Consolidation
from tasks.core.synthesis.growth import Progress, check_threads
from tasks.core.synthesis.nodes import table_of
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import Rows
from tasks.core.synthesis.shards import Drawn


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
    """Draw synthetic records by sds.md 4.3, in the published order (sds.md 4.0).

    The same arguments give the same records on any machine and any number of threads.

    Args:
        rows: the sensitive records' common attributes, with the resolution.
        seed: any integer; as sensitive as the rows.
        oversampling: how far synthetic counts may exceed the reported ones; None: as far as it comes.
        reported: the reportable aggregates that synthetic counts are compared with; read only with
            ``oversampling``.
        threads: at least 0; 0 for all cores. Under oversampling control records depend on each other, and
            one is used.
        progress: told the share that is done, 0 to 1; the last time 1.

    Returns:
        Records of at least one attribute each; none where no attribute is common enough.

    Raises:
        ParameterError: threads below 0, or oversampling without reported aggregates.
    """
    check_threads(threads)
    report = progress or (lambda share: None)
    drawn = _drawn(rows, seed, Control(oversampling, reported), threads, report)
    synthetic = ordered(rows.headers, rows.attributes, drawn.sizes, drawn.attribute_ids)
    report(1.0)
    return synthetic


class Control(NamedTuple):
    """Oversampling control, if any."""

    oversampling: Oversampling | None
    reported: Aggregates | None


def _drawn(rows: Rows, seed: int, control: Control, threads: int, report: Progress) -> Drawn:
    if control.oversampling is None:
        available = rows.counts // rows.resolution * rows.resolution
        return Consolidation(table_of(rows), available, seed).run(threads, report)
    if control.reported is None:
        raise ParameterError(
            "Oversampling control compares with the reportable aggregates, and none were given: count first."
        )
    # Imported here because it imports `Oversampling` from this module.
    from tasks.core.synthesis.oversampling import draw_oversampled

    return draw_oversampled(rows, control.reported, control.oversampling, seed, report)
