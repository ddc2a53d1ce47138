"""Thirteen messy tables as people have them, this month's and next month's, and what a person would say.

Each function draws a row of a month. Next month's table has other people, other days and new values.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 400
_FIRST_DAY = date(2025, 1, 1)
#: Values that only next month's tables have.
NEW = {"town": "Newhaven", "ward": "Geriatrics", "sport": "rowing"}

Row = list[Any]
#: A month (0 or 1), a row's number, random numbers -> the row.
DrawRow = Callable[[int, int, np.random.Generator], Row]


@dataclass(frozen=True)
class Messy:
    """A messy table.

    Attributes:
        header: the text of its first line.
        draw_row: one of its rows.
        said: what a person would say of each column, as its kind begins; "out": it is left out.
        subject: whose row it is, as a person would say.
        delimiter: also of the header.
        end: of each line.
        encoding: of the file.
        above: lines above the header.
    """

    header: str
    draw_row: DrawRow
    said: dict[str, str]
    subject: str
    delimiter: str = ","
    end: str = "\n"
    encoding: str = "utf-8"
    above: str = ""

    def write(self, folder: Path, name: str, month: int) -> Path:
        """The table of a month."""
        random = np.random.default_rng((17, month))
        rows = [self.draw_row(month, place, random) for place in range(ROWS)]
        lines = [self.header, *(self.delimiter.join(map(self._cell, row)) for row in rows)]
        path = folder / f"{name}-2026-{month + 1:02}.csv"
        path.write_bytes((self.above + self.end.join([*lines, ""])).encode(self.encoding))
        return path

    def _cell(self, value: object) -> str:
        """A cell; one with the delimiter is quoted."""
        text = str(value)
        if any(sign in text for sign in (self.delimiter, '"', "\n")):
            return '"' + text.replace('"', '""') + '"'
        return text


def _day(random: np.random.Generator, month: int, days: int = 300) -> date:
    return _FIRST_DAY + timedelta(days=int(random.integers(0, days)) + 31 * month)


def _german(amount: float, decimals: int = 2) -> str:
    return f"{amount:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def _town(random: np.random.Generator, month: int) -> str:
    towns = ["Aberwick", "Brenmoor", "Caldwell", *([NEW["town"]] if month else [])]
    return str(random.choice(towns))


def _semicolons(month: int, place: int, random: np.random.Generator) -> Row:
    town, age = _town(random, month), random.integers(18, 95)
    return [
        f"K{month}{place:04}",
        town,
        age,
        _german(float(random.lognormal(7, 1))),
        _german(float(random.random()), 3),
    ]


def _visits(month: int, place: int, random: np.random.Generator) -> Row:
    # Two visits of a person each, who are known by their number.
    number = place % (ROWS // 2)
    known = np.random.default_rng((18, month, number))
    sex, born = known.choice(["F", "M"]), known.integers(1930, 2015)
    wards = ["Surgery", "Medicine", "Oncology", *([NEW["ward"]] if month else [])]
    return [f"P{month}{number:03}", sex, born, _day(random, month).isoformat(), random.choice(wards)]


def _four_dates(month: int, place: int, random: np.random.Generator) -> Row:
    admitted, discharged, updated = (_day(random, month) for _ in range(3))
    born = date(1940, 1, 1) + timedelta(days=int(random.integers(0, 25000)))
    return [
        place + 10_000 * (month + 1),
        f"{born:%d/%m/%Y}",
        f"{admitted:%d.%m.%Y}",
        f"{discharged:%b %d, %Y}",
        f"{updated} {random.integers(0, 24):02}:15:00",
    ]


def _accents(month: int, place: int, random: np.random.Generator) -> Row:
    canton, age = random.choice(["Génève", "Zürich", "Neuchâtel"]), random.integers(0, 99)
    return [place, canton, age, random.choice(["oui", "non"])]


def _latin(month: int, place: int, random: np.random.Generator) -> Row:
    town, sex = random.choice(["Köln", "Münster", "Düren"]), random.choice(["männlich", "weiblich"])
    return [f"{place:05}", town, sex, _german(float(random.lognormal(8, 0.5)))]


def _free_text(month: int, place: int, random: np.random.Generator) -> Row:
    words = ["patient", "felt", "better", "after", "rest", "but", "pain", "came", "back", "at", "night"]
    remark = " ".join(random.choice(words, 8))
    return [place, remark, f"person{place}@example.org", random.choice(["low", "middle", "high"])]


def _zeros(month: int, place: int, random: np.random.Generator) -> Row:
    zip_code = f"0{random.integers(1, 9)}{random.integers(0, 999):03}"
    diagnosis = f"{random.choice([*'AEI'])}{random.integers(0, 20):02}.{random.integers(0, 2)}"
    return [f"{place:06}", zip_code, diagnosis, f"{random.integers(1, 8):02}"]


def _sentinels(month: int, place: int, random: np.random.Generator) -> Row:
    def sometimes(value: object, other: str) -> object:
        return other if random.random() < 0.08 else value

    return [
        place,
        sometimes(random.integers(18, 90), "999"),
        sometimes(int(random.lognormal(7.5, 0.8)), "-9"),
        sometimes(random.choice(["own", "rent"]), "NA"),
        sometimes(round(float(random.normal(27, 4)), 1), "."),
    ]


def _wide(month: int, place: int, random: np.random.Generator) -> Row:
    return [place, *random.integers(1, 6, 20)]


def _nested(month: int, place: int, random: np.random.Generator) -> Row:
    sports = ["football", "tennis", "chess", "running", *([NEW["sport"]] if month else [])]
    chosen = random.choice(sports, int(random.integers(0, 4)), replace=False).tolist()
    tags = random.choice(["new", "vip", "late"], int(random.integers(0, 3)), replace=False)
    return [place, json.dumps(chosen), "|".join(tags), random.integers(5, 99)]


def _all_missing(month: int, place: int, random: np.random.Generator) -> Row:
    return [place, "", "NA", random.choice(["a", "b"]), ""]


def _excel(month: int, place: int, random: np.random.Generator) -> Row:
    return [
        f"C-{month}{place:04}",
        f"${random.lognormal(6, 1):,.2f}",
        f"{random.integers(0, 101)}%",
        f"{_day(random, month):%m/%d/%Y}",
        random.choice(["TRUE", "FALSE"]),
        "#N/A" if random.random() < 0.05 else f"{random.normal(70, 9):.1f}",
        "",
        "",
    ]


_FRENCH_MONTHS = (
    "janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."
)  # fmt: skip


def _titled(month: int, place: int, random: np.random.Generator) -> Row:
    """Of a report as it is printed: a title, a blank line, months by their French names, a row of totals."""
    if place == ROWS - 1:
        return ["Total", "", "", "", f"{month + 4},00", ""]
    day, change = _day(random, month, 200), float(random.normal(0, 90))
    return [
        random.bytes(8).hex(),
        f"{day.day} {_FRENCH_MONTHS[day.month - 1]} {day.year}",
        _town(random, month),
        random.choice(["<18", "18-30", "31-50", "51+"]),
        f"({-change:.2f})" if change < 0 else f"{change:.2f}",
        f"FR{place % 60 + 10}3000600001123456789{place % 60 + 10}",
    ]


#: By name; the last one is a newcomer's.
TABLES = {
    "semicolons": Messy(
        "Kundennummer;Stadt;Alter;Umsatz;Anteil",
        _semicolons,
        {"Stadt": "text", "Alter": "age", "Umsatz": "money", "Anteil": "share"},
        "Kundennummer",
        delimiter=";",
    ),
    "visits": Messy(
        "patient_id,sex,birth_year,visited,ward",
        _visits,
        {"sex": "sexes", "birth_year": "year", "visited": "date", "ward": "text"},
        "patient_id",
    ),
    "dates": Messy(
        "person,date of birth,admitted,discharged,updated",
        _four_dates,
        {"date of birth": "date of birth", "admitted": "date", "discharged": "date", "updated": "moment"},
        "person",
    ),
    "accents": Messy(
        "N° dossier,Prénom du canton,Âge,Fumeur·euse",
        _accents,
        {"Prénom du canton": "text", "Âge": "age", "Fumeur·euse": "boolean"},
        "N° dossier",
    ),
    "latin": Messy(
        "Mitglieds-Nr;Straßenort;Geschlecht;Gehalt",
        _latin,
        {"Straßenort": "text", "Geschlecht": "sexes", "Gehalt": "money"},
        "Mitglieds-Nr",
        delimiter=";",
        encoding="latin-1",
    ),
    "remarks": Messy(
        "respondent,remarks,e-mail,satisfaction",
        _free_text,
        {"remarks": "out", "e-mail": "out", "satisfaction": "text"},
        "respondent",
    ),
    "zeros": Messy(
        "member no,zip code,diagnosis code,region key",
        _zeros,
        {"zip code": "postcode", "diagnosis code": "code", "region key": "code"},
        "member no",
    ),
    "sentinels": Messy(
        "respondent,age,income,housing,bmi",
        _sentinels,
        {"age": "age", "income": "money", "housing": "text", "bmi": "number"},
        "respondent",
    ),
    "wide": Messy(
        ",".join(["person", *(f"q{number}" for number in range(1, 21))]),
        _wide,
        {f"q{number}": "number, few" for number in range(1, 21)},
        "person",
    ),
    "nested": Messy(
        "member id,sports,tags,age",
        _nested,
        {"sports": "several items", "tags": "several items", "age": "age"},
        "member id",
    ),
    "missing": Messy(
        "person,income,town,group,remarks",
        _all_missing,
        {"income": "out", "town": "out", "group": "text", "remarks": "out"},
        "person",
    ),
    "excel": Messy(
        "Customer No;Spent;Discount;Date;Member?;Weight;;",
        _excel,
        {"Spent": "money", "Discount": "share", "Date": "date", "Member?": "boolean", "Weight": "number"},
        "Customer No",
        delimiter=";",
        end="\r\n",
        above="\ufeff",
    ),
    "titled": Messy(
        "réf. adhérent;inscrit le;ville;tranche;solde;compte",
        _titled,
        {"inscrit le": "date", "ville": "text", "tranche": "text", "solde": "number", "compte": "out"},
        "réf. adhérent",
        delimiter=";",
        end="\r\n",
        above="Adhérents 2026;;;;;\r\n;;;;;\r\n",
    ),
}
