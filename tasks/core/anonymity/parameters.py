"""The public parameters of a k-anonymous release: what names it, and what its statement says."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class AnonymityParameters:
    """Everything public that touches what is reported.

    Attributes:
        resolution: k, at least 1: counts are rounded down to its multiples.
        reporting_length: R; -1 for as long as the records are.
        record_limit: only the first so many rows were read; None: all.
        synthesis: mode and settings where synthesis reads the raw records, without the seed; None where it
            reads the reported counts alone.
    """

    resolution: int
    reporting_length: int
    record_limit: int | None = None
    synthesis: Mapping[str, object] | None = None
