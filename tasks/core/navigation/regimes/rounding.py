"""What the page has under k-anonymity: statement and reported counts in, its figures by length out."""

from typing import Any

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.charts.charts import ErrorBar
from tasks.core.charts.plots import Limit
from tasks.core.figures import whole
from tasks.core.navigation.distributions import Kinds
from tasks.core.navigation.regimes.regime import Regime
from tasks.core.statement.k_anonymity.words import ROWS_ARE_COUNTED, topics


def regime(statement: Json) -> Regime:
    """How counts are named, and the range that each stands for."""
    claim = statement["guarantee"]
    k, of_rows = claim["resolution"], claim["unit"] == "row"
    unit = "row" if of_rows else "subject"
    bar = ErrorBar(0, k - 1, "where the true count is", f"< {whole(k)}") if k > 1 else None
    return Regime(
        name="k_anonymity",
        units=f"{unit}s",
        count="reported count",
        error_bar=bar,
        spread={},
        limit=Limit(k - 1, f"rounding takes off at most {whole(k - 1)}") if k > 1 else None,
        kinds=Kinds(unit, f"values that at least {whole(k)} {unit}s hold", None if k > 1 else 0),
    )


def context(statement: Json, aggregates: Aggregates) -> Json:
    """The regime's own part of the template's context."""
    k = statement["guarantee"]["resolution"]
    return {
        "private": False,
        "topics": topics(statement),
        "warnings": _warnings(statement),
        "made_from": _made_from(statement["synthesis"]),
        "others": k - 1,
        "attacks": [_headed(sentence) for sentence in statement["not_covered"]],
        "levels": [_level(length, counts, k) for length, counts in enumerate(aggregates.counts, start=1)],
    }


def why_more_records(statement: Json, records: int) -> list[str]:
    """Why a mode makes more and shorter records than the table has, where it does."""
    mode, count, claim = statement["synthesis"]["mode"], statement["count"], statement["guarantee"]
    if mode not in ("row_seeded", "value_seeded") or records <= count["most"]:
        return []
    units = "rows" if claim["unit"] == "row" else "subjects"
    return [
        f"There are more synthetic records than {units}, and shorter ones, because {mode} meets the reported "
        "count of every single attribute exactly, while a record ends where one more attribute would leave a "
        f"combination that fewer than {whole(claim['resolution'])} {units} hold; what is then still owed is "
        "put into further records. Where number and length of the records matter more than exact counts of "
        "single attributes, aggregate_seeded makes as many records as it is asked for, and unseeded about as "
        "many as are reported."
    ]


def _made_from(synthesis: Json) -> str:
    """What the synthetic records are made from, in a few words."""
    if not synthesis["reads_records"]:
        return "drawn from those counts alone"
    if synthesis["mode"] == "aggregate_seeded":
        return "drawn from those counts and held to the raw table"
    return "drawn from the raw table"


def _headed(sentence: str) -> tuple[str, str]:
    """The words before the colon, and the rest as a sentence."""
    name, said = sentence.split(": ", 1)
    return name, said[0].upper() + said[1:]


def _warnings(statement: Json) -> list[str]:
    """What must be seen before anything else."""
    claim = statement["guarantee"]
    found = []
    if claim["resolution"] == 1:
        found.append(claim["holds"][0])
    if claim["unit"] == "row":
        found.append(ROWS_ARE_COUNTED.format(k=whole(claim["resolution"])))
    return found


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
