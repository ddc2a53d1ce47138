"""What the page has under k-anonymity: statement and reported counts in, its figures by length out."""

from typing import Any, ClassVar

import numpy as np

from tasks.core.arrays import Json
from tasks.core.charts.bars import ErrorBar
from tasks.core.charts.plot import Limit
from tasks.core.figures import whole
from tasks.core.navigation.associations import PairCounts
from tasks.core.navigation.page import headed
from tasks.core.navigation.regimes.regime import Regime
from tasks.core.navigation.released_associations import ReportedPairs
from tasks.core.statement.k_anonymity import RoundedWords


class RoundedCounts(Regime):
    """Counts rounded down to multiples of a resolution."""

    count: ClassVar[str] = "reported count"
    template: ClassVar[str] = "rounding.html.j2"

    @property
    def _resolution(self) -> int:
        return int(self.statement["guarantee"]["resolution"])

    @property
    def error_bar(self) -> ErrorBar | None:
        """The range that each count stands for."""
        k = self._resolution
        return ErrorBar(0, k - 1, "range of the true count", f"< {whole(k)}") if k > 1 else None

    @property
    def true_range(self) -> ErrorBar | None:
        """The same range."""
        return self.error_bar

    @property
    def limit(self) -> Limit | None:
        """What rounding takes off."""
        k = self._resolution
        return Limit(k - 1, f"rounding removes at most {whole(k - 1)}") if k > 1 else None

    def pair_counts(self) -> PairCounts:
        """Those of length 2."""
        return ReportedPairs(self.inputs.drawn, len(self.inputs.schema.columns), self._resolution)

    def sections(self) -> Json:
        """What does not protect, and what is reported."""
        k, statement = self._resolution, self.statement
        counts = self.inputs.drawn.counts
        return {
            "private": False,
            "topics": RoundedWords(statement).topics(),
            "warnings": RoundedWords(statement).warnings(),
            "made_from": _MADE_FROM[_made_of(statement["synthesis"])],
            "made_of": _made_of(statement["synthesis"]),
            "others": k - 1,
            "attacks": [headed(sentence) for sentence in statement["not_covered"]],
            "levels": [_level(length, each, k) for length, each in enumerate(counts, start=1)],
        }

    def record_words(self, records: int) -> list[str]:
        """Why a mode makes more and shorter records than the table has, where it does."""
        mode, most = self.statement["synthesis"]["mode"], self.statement["count"]["most"]
        if mode not in ("row_seeded", "value_seeded") or records <= most:
            return []
        few = f"fewer than {whole(self._resolution)} {self.promised.many}"
        return [
            f"There are more synthetic records than {self.unit.many}, and they are shorter. The reason is "
            f"that {mode} meets the reported count of every single attribute exactly, but ends a record "
            f"where one more attribute would make a combination that {few} hold. "
            "It puts what is then still owed into further records. If the number and length of the records "
            "matter more to you than exact counts of single attributes, use aggregate_seeded, which makes as "
            "many records as you ask for, or unseeded, which makes about as many as are reported."
        ]


#: What the synthetic records are made from, in a few words.
_MADE_FROM = {
    "counts": "drawn from those counts alone",
    "held": "drawn from those counts and held to the raw table",
    "raw": "drawn from the raw table",
}


def _made_of(synthesis: Json) -> str:
    """What the synthetic records are made from: a key of `_MADE_FROM`, and the end of a sentence's."""
    if not synthesis["reads_records"]:
        return "counts"
    return "held" if synthesis["mode"] == "aggregate_seeded" else "raw"


def _level(length: int, counts: np.ndarray[Any, np.dtype[np.int64]], k: int) -> Json:
    """How many combinations of a length are reported, and how large their counts are."""
    if not len(counts):
        return {"length": length, "combinations": 0}
    return {
        "length": length,
        "combinations": len(counts),
        "smallest": int(np.count_nonzero(counts == k)),
        "median": int(np.sort(counts)[(len(counts) - 1) // 2]),
        "largest": int(counts.max()),
    }
