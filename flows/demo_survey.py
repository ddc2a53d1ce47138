"""The survey that the demonstration and the tests run on: invented people, and the same bytes always.

Of about 10,000 respondents some have several rows, cells are missing in most columns, and columns of free
words are declared nowhere. Answers depend on each other: most clearly work on age, travel on district,
satisfaction on health (Cramer's V above 0.5). The weights are in ``demo_survey.toml``.
"""

import csv
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Answers = dict[str, str]

#: Weights of all answers, in the order in which they are drawn.
_WEIGHTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
HEADER: tuple[str, ...] = tuple(_WEIGHTS["header"])


class _Chance:
    """Draws from one fixed stream, by uniform numbers alone, so that no library can change them."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def share(self) -> float:
        return float(self._generator.random())

    def index(self, weights: Sequence[float]) -> int:
        rest = self.share() * sum(weights)
        for index, weight in enumerate(weights):
            rest -= weight
            if rest < 0:
                return index
        return len(weights) - 1

    def one_of(self, weights: dict[str, float]) -> str:
        return tuple(weights)[self.index(tuple(weights.values()))]

    def happens(self, share: float) -> bool:
        return self.share() < share

    def spread(self) -> float:
        return self.share() + self.share() + self.share() - 1.5


def write_survey(path: Path, *, respondents: int = 10_000, seed: int = 20_251) -> None:
    """Write the survey as CSV (UTF-8, comma, header first); the same arguments give the same bytes."""
    chance = _Chance(seed)
    rows = []
    for number in range(1, respondents + 1):
        answers = _answers(chance)
        identity = {"respondent": f"R{number:05d}"}
        rows.append((chance.share(), identity | _with_gaps(answers, chance)))
        if chance.happens(0.025):  # answered twice, the second time not quite the same
            rows.append((chance.share(), identity | _with_gaps(_second_answers(answers, chance), chance)))
    rows.sort(key=lambda row: row[0])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(answers for _, answers in rows)


def _answers(chance: _Chance) -> Answers:
    band = chance.index([share for _, _, share in _WEIGHTS["ages"]])
    first, last, _ = _WEIGHTS["ages"][band]
    work = chance.one_of(_WEIGHTS["work_by_age"][band])
    district = chance.one_of(_WEIGHTS["districts"])
    household = chance.one_of(_WEIGHTS["household_by_age"][band])
    health = _WEIGHTS["health"][chance.index(_WEIGHTS["health_by_age"][band])]
    answers = {
        "district": district,
        "age": str(first + int(chance.share() * (last - first + 1))),
        "household": household,
        "housing": chance.one_of(_WEIGHTS["housing_by_household"][household]),
        "work": work,
        "occupation": chance.one_of(_WEIGHTS["occupations"]) if "employed" in work else "",
        "health": health,
        "satisfaction": chance.one_of(_WEIGHTS["satisfaction_by_health"][health]),
        "concern": chance.one_of(_WEIGHTS["concerns"]),
    }
    answers |= _journey(answers, chance)
    return answers | {"services": ";".join(_services(answers, chance))}


def _journey(answers: Answers, chance: _Chance) -> Answers:
    """How, and how long, somebody who works or studies travels; 0 minutes at home."""
    if "employed" not in answers["work"] and answers["work"] != "student":
        return {"travel": "", "commute_minutes": ""}
    if chance.happens(0.45 if answers["work"] == "self-employed" else 0.07):
        return {"travel": "", "commute_minutes": "0"}
    travel = chance.one_of(_WEIGHTS["travel_by_district"][answers["district"]])
    minutes = max(1, round(_WEIGHTS["minutes"][travel] * (1 + 0.6 * chance.spread())))
    return {"travel": travel, "commute_minutes": str(minutes)}


def _services(answers: Answers, chance: _Chance) -> list[str]:
    likely = {
        "counselling": answers["health"] == "bad",
        "health centre": answers["health"] in ("bad", "fair"),
        "food bank": answers["housing"] == "social",
        "day nursery": answers["household"] in ("couple with children", "single parent"),
        "home help": answers["work"] == "retired",
    }
    used = [
        (chance.share(), name)
        for name, share in _WEIGHTS["services"].items()
        if chance.happens(min(0.9, share * 4) if likely.get(name) else share)
    ]
    return [name for _, name in sorted(used)][:4]


def _with_gaps(answers: Answers, chance: _Chance) -> Answers:
    return {
        name: "" if chance.happens(_WEIGHTS["missing_shares"].get(name, 0)) else text
        for name, text in answers.items()
    }


def _second_answers(answers: Answers, chance: _Chance) -> Answers:
    """The same person some weeks later: the same life, perhaps other services or another mood."""
    used = answers["services"].split(";") if answers["services"] else []
    new = [name for name in _services(answers, chance) if name not in used]
    later = answers | {"services": ";".join([*used[1:], *new[: 4 - len(used)]])}
    if chance.happens(0.2):
        later["satisfaction"] = chance.one_of(_WEIGHTS["satisfaction_by_health"][answers["health"]])
    return later
