"""The survey that the demonstration and the tests run on: invented people, a fixed seed, no real data.

A path goes in; a CSV of about 10,000 respondents and a little more rows comes out, the same bytes every
time. "The Sound Islands wellbeing survey" has an id with some respondents on several rows, missing cells
in most columns, two numeric columns, a multi-valued one, and columns of free words whose values nobody
declares. Answers depend on each other: most clearly work on age, travel on district, satisfaction on
health (Cramer's V above 0.5). Its contract is ``data_contracts/survey.yaml``.
"""

import csv
from pathlib import Path

import numpy as np

Weights = dict[str, float]
Answers = dict[str, str]

HEADER = (
    "respondent",
    "district",
    "age",
    "household",
    "housing",
    "work",
    "occupation",
    "travel",
    "commute_minutes",
    "health",
    "satisfaction",
    "services",
    "concern",
)

DISTRICTS: Weights = {
    "Old Harbour": 0.19,
    "Northquay": 0.16,
    "Hillside": 0.15,
    "Mill Valley": 0.14,
    "Saltmarsh": 0.11,
    "Garden Suburb": 0.11,
    "Fellside": 0.08,
    "Outer Isles": 0.06,
}

#: Age bands (first and last year) -> share of respondents.
AGES = {(18, 24): 0.12, (25, 34): 0.18, (35, 44): 0.18, (45, 54): 0.17, (55, 64): 0.15, (65, 92): 0.20}

WORK_BY_AGE: tuple[Weights, ...] = (
    {"student": 0.66, "employed": 0.24, "job seeker": 0.08, "carer": 0.02},
    {"employed": 0.76, "self-employed": 0.08, "student": 0.06, "job seeker": 0.06, "carer": 0.04},
    {
        "employed": 0.74,
        "self-employed": 0.13,
        "carer": 0.07,
        "job seeker": 0.04,
        "unwell": 0.02,
    },
    {
        "employed": 0.72,
        "self-employed": 0.15,
        "carer": 0.05,
        "job seeker": 0.04,
        "unwell": 0.04,
    },
    {"employed": 0.55, "self-employed": 0.14, "retired": 0.20, "unwell": 0.07, "carer": 0.04},
    {"retired": 0.92, "employed": 0.04, "self-employed": 0.03, "carer": 0.01},
)

HOUSEHOLD_BY_AGE: tuple[Weights, ...] = (
    {"with parents": 0.52, "shared flat": 0.30, "couple": 0.08, "alone": 0.10},
    {"couple": 0.34, "couple with children": 0.22, "shared flat": 0.16, "alone": 0.20, "with parents": 0.08},
    {"couple with children": 0.55, "couple": 0.16, "single parent": 0.13, "alone": 0.16},
    {"couple with children": 0.50, "couple": 0.21, "single parent": 0.12, "alone": 0.17},
    {"couple": 0.53, "couple with children": 0.16, "alone": 0.28, "single parent": 0.03},
    {"couple": 0.55, "alone": 0.43, "couple with children": 0.02},
)

HOUSING_BY_HOUSEHOLD: dict[str, Weights] = {
    "with parents": {"owned": 0.72, "rented": 0.18, "social": 0.10},
    "shared flat": {"rented": 0.90, "social": 0.06, "owned": 0.04},
    "couple": {"owned": 0.66, "rented": 0.24, "social": 0.10},
    "couple with children": {"owned": 0.68, "rented": 0.19, "social": 0.13},
    "single parent": {"social": 0.42, "rented": 0.38, "owned": 0.20},
    "alone": {"rented": 0.42, "owned": 0.36, "social": 0.22},
}

OCCUPATIONS: Weights = {
    "nurse": 0.09,
    "teacher": 0.09,
    "shop assistant": 0.085,
    "office clerk": 0.085,
    "cook": 0.06,
    "care assistant": 0.06,
    "software developer": 0.055,
    "driver": 0.05,
    "electrician": 0.045,
    "cleaner": 0.045,
    "accountant": 0.04,
    "fisher": 0.04,
    "boat builder": 0.035,
    "engineer": 0.035,
    "farmer": 0.03,
    "receptionist": 0.03,
    "social worker": 0.03,
    "plumber": 0.025,
    "hairdresser": 0.02,
    "doctor": 0.015,
    "librarian": 0.012,
    "journalist": 0.01,
    "harbour pilot": 0.005,
    "lighthouse keeper": 0.004,
    "violin maker": 0.004,
}

TRAVEL_BY_DISTRICT: dict[str, Weights] = {
    "Old Harbour": {"on foot": 0.50, "bicycle": 0.26, "bus": 0.16, "car": 0.06, "ferry": 0.02},
    "Northquay": {"on foot": 0.14, "bicycle": 0.44, "bus": 0.26, "car": 0.12, "ferry": 0.04},
    "Hillside": {"bus": 0.58, "car": 0.28, "bicycle": 0.06, "on foot": 0.08},
    "Mill Valley": {"car": 0.48, "bus": 0.38, "bicycle": 0.08, "on foot": 0.06},
    "Saltmarsh": {"car": 0.74, "bus": 0.18, "bicycle": 0.06, "on foot": 0.02},
    "Garden Suburb": {"bicycle": 0.34, "bus": 0.36, "car": 0.24, "on foot": 0.06},
    "Fellside": {"car": 0.88, "bus": 0.10, "on foot": 0.02},
    "Outer Isles": {"ferry": 0.92, "on foot": 0.08},
}

#: Typical minutes by means of travel.
MINUTES = {"on foot": 14, "bicycle": 18, "bus": 34, "car": 27, "ferry": 62}

#: Share in bad, fair, good and very good health, by age band.
HEALTH = ("bad", "fair", "good", "very good")
HEALTH_BY_AGE = (
    (0.04, 0.14, 0.42, 0.40),
    (0.05, 0.16, 0.44, 0.35),
    (0.07, 0.20, 0.45, 0.28),
    (0.10, 0.25, 0.43, 0.22),
    (0.15, 0.30, 0.39, 0.16),
    (0.22, 0.36, 0.32, 0.10),
)

SATISFACTION_BY_HEALTH: dict[str, Weights] = {
    "bad": {"low": 0.86, "medium": 0.12, "high": 0.02},
    "fair": {"medium": 0.76, "low": 0.16, "high": 0.08},
    "good": {"high": 0.70, "medium": 0.27, "low": 0.03},
    "very good": {"high": 0.93, "medium": 0.06, "low": 0.01},
}

#: Share of respondents who use each service, before what follows from their other answers.
SERVICES = {
    "library": 0.34,
    "health centre": 0.30,
    "sports hall": 0.22,
    "community garden": 0.09,
    "food bank": 0.06,
    "counselling": 0.07,
    "day nursery": 0.04,
    "home help": 0.03,
}

CONCERNS: Weights = {
    "rents": 0.24,
    "ferry prices": 0.17,
    "loneliness": 0.14,
    "noise": 0.10,
    "street lights": 0.08,
    "flooding": 0.07,
    "schools": 0.07,
    "waiting times": 0.06,
    "litter": 0.04,
    "parking": 0.02,
    "dogs": 0.006,
    "seagulls": 0.004,
}

#: Share of cells left empty.
MISSING_SHARES = {
    "age": 0.03,
    "household": 0.04,
    "housing": 0.06,
    "work": 0.03,
    "occupation": 0.10,
    "commute_minutes": 0.08,
    "health": 0.05,
    "satisfaction": 0.04,
    "concern": 0.22,
}


class _Chance:
    """Draws from one fixed stream, by uniform numbers alone, so that no library can change them."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def share(self) -> float:
        return float(self._generator.random())

    def index(self, weights: tuple[float, ...]) -> int:
        rest = self.share() * sum(weights)
        for index, weight in enumerate(weights):
            rest -= weight
            if rest < 0:
                return index
        return len(weights) - 1

    def one_of(self, weights: Weights) -> str:
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
    band = chance.index(tuple(AGES.values()))
    first, last = tuple(AGES)[band]
    work = chance.one_of(WORK_BY_AGE[band])
    district = chance.one_of(DISTRICTS)
    household = chance.one_of(HOUSEHOLD_BY_AGE[band])
    health = HEALTH[chance.index(HEALTH_BY_AGE[band])]
    answers = {
        "district": district,
        "age": str(first + int(chance.share() * (last - first + 1))),
        "household": household,
        "housing": chance.one_of(HOUSING_BY_HOUSEHOLD[household]),
        "work": work,
        "occupation": chance.one_of(OCCUPATIONS) if "employed" in work else "",
        "health": health,
        "satisfaction": chance.one_of(SATISFACTION_BY_HEALTH[health]),
        "concern": chance.one_of(CONCERNS),
    }
    answers |= _journey(answers, chance)
    return answers | {"services": ";".join(_services(answers, chance))}


def _journey(answers: Answers, chance: _Chance) -> Answers:
    """How, and how long, somebody who works or studies travels; 0 minutes at home."""
    if "employed" not in answers["work"] and answers["work"] != "student":
        return {"travel": "", "commute_minutes": ""}
    if chance.happens(0.45 if answers["work"] == "self-employed" else 0.07):
        return {"travel": "", "commute_minutes": "0"}
    travel = chance.one_of(TRAVEL_BY_DISTRICT[answers["district"]])
    minutes = max(1, round(MINUTES[travel] * (1 + 0.6 * chance.spread())))
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
        for name, share in SERVICES.items()
        if chance.happens(min(0.9, share * 4) if likely.get(name) else share)
    ]
    return [name for _, name in sorted(used)][:4]


def _with_gaps(answers: Answers, chance: _Chance) -> Answers:
    return {
        name: "" if chance.happens(MISSING_SHARES.get(name, 0)) else text for name, text in answers.items()
    }


def _second_answers(answers: Answers, chance: _Chance) -> Answers:
    """The same person some weeks later: the same life, perhaps other services or another mood."""
    used = answers["services"].split(";") if answers["services"] else []
    new = [name for name in _services(answers, chance) if name not in used]
    later = answers | {"services": ";".join([*used[1:], *new[: 4 - len(used)]])}
    if chance.happens(0.2):
        later["satisfaction"] = chance.one_of(SATISFACTION_BY_HEALTH[answers["health"]])
    return later
