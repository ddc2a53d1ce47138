"""Small tables of invented people, as messy as tables are: gaps, odd spellings, rare and wrong values.

They are drawn from fixed seeds and are part of what is frozen: to change one changes most hashes.
"""

import csv
import datetime
import gzip
import io
import random
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[list[str]]

PEOPLE = ("person", "town", "age", "income", "sex", "services", "work", "letter")
VISITS = ("person", "town", "age", "income", "visited", "smoker", "household", "ward")
CODES = ("A", "B", "C", "D", "E", "F")

TOWNS = ("Aberwick", "Brenmoor", "Caldwell, old town", "Düns ford", "Eel", "Fenny", "Gorse")
_TOWN_WEIGHTS = (30, 20, 15, 10, 5, 2, 1)
SERVICES = ("library", "pool", "clinic", "bus")
WARDS = ("north", "south", "maternity")


def people(number: int = 400, seed: int = 1) -> Rows:
    """A row a person: open, declared, binned, multi-valued columns; decimal commas, gaps, misspelt cells."""
    chance, found = random.Random(seed), []
    for person in range(number):
        age, sex = chance.randrange(95), "mf"[chance.randrange(2)]
        town = chance.choices(TOWNS, _TOWN_WEIGHTS)[0]
        income = chance.randrange(500, 9000) + chance.randrange(100) / 100
        services = [name for name in SERVICES if chance.random() < 0.4]
        work = "retired" if age > 64 else "student" if age < 25 else "employed"
        found.append(
            [
                f"p{person:05}",
                _odd(chance, town, ["", f" {town} ", "who@example.org"]),
                _odd(chance, str(age), ["", "n/a", f"{age}.0"]),
                _odd(chance, _comma(income), ["", "0", "unknown"]),
                _odd(chance, sex, ["x", ""]),
                ";".join(services + services[:1] * (chance.random() < 0.1)),
                _odd(chance, work, ["", "employed"]),
                chance.choice("ab") if sex == "m" else chance.choice("bc"),
            ]
        )
    return found


def visits(people: int = 180, seed: int = 3) -> Rows:
    """One to three rows a person, which may differ; numbers, moments, truth values."""
    chance, found = random.Random(seed), []
    start = datetime.datetime(2025, 1, 1)
    for person in range(people):
        town, age = chance.choices(TOWNS, _TOWN_WEIGHTS)[0], chance.randrange(90)
        for _ in range(chance.randrange(1, 4)):
            moment = start + datetime.timedelta(hours=chance.randrange(8000))
            found.append(
                [
                    f"p{person:05}",
                    town,
                    _odd(chance, str(age), [""]),
                    f"{chance.randrange(100000, 900000) / 100:.2f}",
                    _odd(chance, moment.isoformat(" "), [""]),
                    str(age > 50).lower(),
                    f"h{person // 2}",
                    chance.choice(WARDS if age % 2 else WARDS[:2]),
                ]
            )
    return found


def codes(number: int = 500, seed: int = 5) -> Rows:
    """Codes as SDS's examples have them: 0 for absence, columns that go together."""
    chance, found = random.Random(seed), []
    for _ in range(number):
        first = chance.randrange(4)
        row = [first, (first + chance.randrange(2)) % 3, chance.randrange(2), chance.randrange(5)]
        row += [int(row[2] and chance.random() < 0.7), chance.randrange(12)]
        found.append([str(each) for each in row])
    return found


def text(rows: Rows, header: Sequence[str] = (), delimiter: str = ",") -> str:
    """A delimited text."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerows([header, *rows] if header else rows)
    return file.getvalue()


def compressed(words: str) -> bytes:
    """The same as gzip makes it, without the moment."""
    return gzip.compress(words.encode(), mtime=0)


def typed_visits() -> bytes:
    """The visits as Parquet, with types."""
    columns = dict(zip(VISITS, zip(*visits(), strict=True), strict=True))
    read = {
        "age": pa.array([int(each) if each else None for each in columns["age"]], pa.int32()),
        "income": pa.array([float(each) for each in columns["income"]]),
        "smoker": pa.array([each == "true" for each in columns["smoker"]]),
        "visited": pa.array(
            [datetime.datetime.fromisoformat(each) if each else None for each in columns["visited"]],
            pa.timestamp("us"),
        ),
    }
    table = pa.table({name: read.get(name, pa.array(cells)) for name, cells in columns.items()})
    file = io.BytesIO()
    pq.write_table(table, file, compression="none")
    return file.getvalue()


def _odd(chance: random.Random, cell: str, others: Sequence[str]) -> str:
    """The cell, or now and then another one."""
    return chance.choice(others) if chance.random() < 0.05 else cell


def _comma(number: float) -> str:
    """As 1.234,50."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))
