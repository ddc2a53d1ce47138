"""Thirteen messy tables as people have them, this month's and next month's, and what a person would say.

Each function draws the rows of a month. Next month's table has other people, other days and new values.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np

ROWS = 400
_FIRST_DAY = date(2025, 1, 1)
#: Values that only next month's tables have.
NEW = {"town": "Newhaven", "ward": "Geriatrics", "sport": "rowing"}


@dataclass(frozen=True)
class Messy:
    """A messy table.

    Attributes:
        draw: month (0 or 1) and random numbers to the text of the file.
        said: what a person would say of each column, as its kind begins; "out": it is left out.
        encoding: of the file.
        subject: whose row it is, as a person would say; None: each row is another person.
        options: what a person answers, beside what is proposed.
    """

    draw: Callable[[int, np.random.Generator], str]
    said: dict[str, str]
    encoding: str = "utf-8"
    subject: str | None = None
    options: tuple[str, ...] = field(default=())

    def write(self, folder: Path, name: str, month: int) -> Path:
        """The table of a month."""
        text = self.draw(month, np.random.default_rng((17, month)))
        path = folder / f"{name}-2026-{month + 1:02}.csv"
        path.write_bytes(text.encode(self.encoding))
        return path


def _lines(header: list[str], rows: list[list[object]], delimiter: str = ",", end: str = "\n") -> str:
    """Text of a table; a cell with the delimiter is quoted."""

    def cell(value: object) -> str:
        text = str(value)
        if any(sign in text for sign in (delimiter, '"', "\n")):
            return '"' + text.replace('"', '""') + '"'
        return text

    return end.join(delimiter.join(map(cell, row)) for row in [header, *rows]) + end


def _day(random: np.random.Generator, month: int, days: int = 300) -> date:
    return _FIRST_DAY + timedelta(days=int(random.integers(0, days)) + 31 * month)


def _german(amount: float, decimals: int = 2) -> str:
    return f"{amount:,.{decimals}f}".replace(",", "x").replace(".", ",").replace("x", ".")


def _town(random: np.random.Generator, month: int) -> str:
    towns = ["Aberwick", "Brenmoor", "Caldwell", *([NEW["town"]] if month else [])]
    return str(random.choice(towns))


def _semicolons(month: int, random: np.random.Generator) -> str:
    rows: list[list[object]] = [
        [
            f"K{month}{place:04}",
            _town(random, month),
            int(random.integers(18, 95)),
            _german(float(random.lognormal(7, 1))),
            _german(float(random.random()), 3),
        ]
        for place in range(ROWS)
    ]
    return _lines(["Kundennummer", "Stadt", "Alter", "Umsatz", "Anteil"], rows, ";")


def _visits(month: int, random: np.random.Generator) -> str:
    people = [
        (f"P{month}{place:03}", str(random.choice(["F", "M"])), int(random.integers(1930, 2015)))
        for place in range(ROWS // 2)
    ]
    wards = ["Surgery", "Medicine", "Oncology", *([NEW["ward"]] if month else [])]
    rows: list[list[object]] = []
    for number in range(ROWS):
        person, sex, born = people[
            number % len(people) if number < len(people) else int(random.integers(0, 99))
        ]
        rows.append([person, sex, born, _day(random, month).isoformat(), random.choice(wards)])
    return _lines(["patient_id", "sex", "birth_year", "visited", "ward"], rows)


def _four_dates(month: int, random: np.random.Generator) -> str:
    rows: list[list[object]] = []
    for place in range(ROWS):
        days = [_day(random, month) for _ in range(3)]
        born = date(1940, 1, 1) + timedelta(days=int(random.integers(0, 25000)))
        rows.append(
            [
                f"{place + 10_000 * (month + 1)}",
                born.strftime("%d/%m/%Y"),
                days[0].strftime("%d.%m.%Y"),
                days[1].strftime("%b %d, %Y"),
                f"{days[2].isoformat()} {int(random.integers(0, 24)):02}:15:00",
            ]
        )
    return _lines(["person", "date of birth", "admitted", "discharged", "updated"], rows)


def _accents(month: int, random: np.random.Generator) -> str:
    rows: list[list[object]] = [
        [
            place,
            random.choice(["Génève", "Zürich", "Neuchâtel"]),
            int(random.integers(0, 99)),
            random.choice(["oui", "non"]),
        ]
        for place in range(ROWS)
    ]
    return _lines(["N° dossier", "Prénom du canton", "Âge", "Fumeur·euse"], rows)


def _latin(month: int, random: np.random.Generator) -> str:
    rows: list[list[object]] = [
        [
            f"{place:05}",
            random.choice(["Köln", "Münster", "Düren"]),
            random.choice(["männlich", "weiblich"]),
            _german(float(random.lognormal(8, 0.5))),
        ]
        for place in range(ROWS)
    ]
    return _lines(["Mitglieds-Nr", "Straßenort", "Geschlecht", "Gehalt"], rows, ";")


def _free_text(month: int, random: np.random.Generator) -> str:
    words = ["patient", "felt", "better", "after", "rest", "but", "pain", "came", "back", "at", "night"]
    rows: list[list[object]] = [
        [
            place,
            f"{random.choice(words)} {' '.join(random.choice(words, 7))}",
            f"person{place}@example.org",
            random.choice(["low", "middle", "high"]),
        ]
        for place in range(ROWS)
    ]
    return _lines(["respondent", "remarks", "e-mail", "satisfaction"], rows)


def _zeros(month: int, random: np.random.Generator) -> str:
    icd = [f"{letter}{number:02}.{digit}" for letter in "AEI" for number in range(20) for digit in (0, 1)]
    rows: list[list[object]] = [
        [
            f"{place:06}",
            f"0{int(random.integers(1, 9))}{int(random.integers(0, 999)):03}",
            random.choice(icd),
            f"{int(random.integers(1, 8)):02}",
        ]
        for place in range(ROWS)
    ]
    return _lines(["member no", "zip code", "diagnosis code", "region key"], rows)


def _sentinels(month: int, random: np.random.Generator) -> str:
    def sometimes(value: object, other: str) -> object:
        return other if random.random() < 0.08 else value

    rows: list[list[object]] = [
        [
            place,
            sometimes(int(random.integers(18, 90)), "999"),
            sometimes(int(random.lognormal(7.5, 0.8)), "-9"),
            sometimes(random.choice(["own", "rent"]), "NA"),
            sometimes(round(float(random.normal(27, 4)), 1), "."),
        ]
        for place in range(ROWS)
    ]
    return _lines(["respondent", "age", "income", "housing", "bmi"], rows)


def _wide(month: int, random: np.random.Generator) -> str:
    header = ["person", *(f"q{number}" for number in range(1, 41))]
    rows: list[list[object]] = [[place, *map(int, random.integers(1, 6, 40))] for place in range(ROWS)]
    return _lines(header, rows)


def _nested(month: int, random: np.random.Generator) -> str:
    sports = ["football", "tennis", "chess", "running", *([NEW["sport"]] if month else [])]
    rows: list[list[object]] = []
    for place in range(ROWS):
        chosen = [str(each) for each in random.choice(sports, int(random.integers(0, 4)), replace=False)]
        tags = [
            str(each)
            for each in random.choice(["new", "vip", "late"], int(random.integers(0, 3)), replace=False)
        ]
        rows.append([place, json.dumps(chosen), "|".join(tags), int(random.integers(5, 99))])
    return _lines(["member id", "sports", "tags", "age"], rows)


def _all_missing(month: int, random: np.random.Generator) -> str:
    rows: list[list[object]] = [[place, "", "NA", random.choice(["a", "b"]), ""] for place in range(ROWS)]
    return _lines(["person", "income", "town", "group", "remarks"], rows)


def _excel(month: int, random: np.random.Generator) -> str:
    rows: list[list[object]] = []
    for place in range(ROWS):
        amount = float(random.lognormal(6, 1))
        rows.append(
            [
                f"C-{month}{place:04}",
                f"${amount:,.2f}",
                f"{random.integers(0, 101)}%",
                _day(random, month).strftime("%m/%d/%Y"),
                random.choice(["TRUE", "FALSE"]),
                "#N/A" if random.random() < 0.05 else f"{random.normal(70, 9):.1f}",
                "",
                "",
            ]
        )
    text = _lines(
        ["Customer No", "Spent", "Discount", "Date", "Member?", "Weight", "", ""], rows, ";", "\r\n"
    )
    return "\ufeff" + text


def _titled(month: int, random: np.random.Generator) -> str:
    """A report as it is printed: a title, a blank line, months by their French names, and a row of totals."""
    names = [
        "janv.",
        "févr.",
        "mars",
        "avr.",
        "mai",
        "juin",
        "juil.",
        "août",
        "sept.",
        "oct.",
        "nov.",
        "déc.",
    ]
    rows: list[list[object]] = []
    for place in range(ROWS):
        day, change = _day(random, month, 200), float(random.normal(0, 90))
        rows.append(
            [
                f"{random.bytes(8).hex()}",
                f"{day.day} {names[day.month - 1]} {day.year}",
                _town(random, month),
                random.choice(["<18", "18-30", "31-50", "51+"]),
                f"({-change:.2f})" if change < 0 else f"{change:.2f}",
                f"FR{place % 60 + 10}3000600001123456789{place % 60 + 10}",
            ]
        )
    title = [["Adhérents 2026", *[""] * 5], [""] * 6]
    header = ["réf. adhérent", "inscrit le", "ville", "tranche", "solde", "compte"]
    total = ["Total", "", "", "", f"{month + 4},00", ""]
    return _lines(title[0], [*title[1:], header, *rows[:-1], total], ";", "\r\n")


#: By name, in the order of the issue; the last one is a newcomer's.
TABLES = {
    "semicolons": Messy(
        _semicolons,
        {"Stadt": "text", "Alter": "age", "Umsatz": "money", "Anteil": "share"},
        subject="Kundennummer",
    ),
    "visits": Messy(
        _visits,
        {"sex": "sexes", "birth_year": "year", "visited": "date", "ward": "text"},
        subject="patient_id",
    ),
    "dates": Messy(
        _four_dates,
        {"date of birth": "date of birth", "admitted": "date", "discharged": "date", "updated": "moment"},
        subject="person",
    ),
    "accents": Messy(
        _accents,
        {"Prénom du canton": "text", "Âge": "age", "Fumeur·euse": "boolean"},
        subject="N° dossier",
    ),
    "latin": Messy(
        _latin,
        {"Straßenort": "text", "Geschlecht": "sexes", "Gehalt": "money"},
        encoding="latin-1",
        subject="Mitglieds-Nr",
    ),
    "remarks": Messy(
        _free_text,
        {"remarks": "out", "e-mail": "out", "satisfaction": "text"},
        subject="respondent",
    ),
    "zeros": Messy(
        _zeros,
        {"zip code": "postcode", "diagnosis code": "code", "region key": "code"},
        subject="member no",
    ),
    "sentinels": Messy(
        _sentinels,
        {"age": "age", "income": "money", "housing": "text", "bmi": "number"},
        subject="respondent",
    ),
    "wide": Messy(_wide, {f"q{number}": "number, few" for number in range(1, 41)}, subject="person"),
    "nested": Messy(
        _nested, {"sports": "several items", "tags": "several items", "age": "age"}, subject="member id"
    ),
    "missing": Messy(
        _all_missing,
        {"income": "out", "town": "out", "group": "text", "remarks": "out"},
        subject="person",
    ),
    "excel": Messy(
        _excel,
        {"Spent": "money", "Discount": "share", "Date": "date", "Member?": "boolean", "Weight": "number"},
        subject="Customer No",
    ),
    "titled": Messy(
        _titled,
        {"inscrit le": "date", "ville": "text", "tranche": "text", "solde": "number", "compte": "out"},
        subject="réf. adhérent",
    ),
}
