"""What ``marginalia init`` proposes for 50,018 visits by 20,000 people, accepted as it is, and its first run.

The table has semicolons, decimal commas, German dates and codes, in the encoding of Windows. People have
one to nine visits each. Figures are CPU seconds of the command, without the server's.
"""

import csv
import tempfile
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from tests.benchmarks.overhead import installed_server
from tests.benchmarks.running import print_line, seconds_of_children

PEOPLE, VISITS = 20_000, 50_018
#: Of the run, and how far the number of its records may be from the number of people.
BAR_CPU, MOST_OFF = 30.0, 0.02
_HEADER = "Patient-Nr;Geschlecht;Geburtsdatum;PLZ;Besuch;Abteilung;Diagnose;Kosten in €"
_WARDS = ("Chirurgie", "Innere", "Notaufnahme", "Geburtshilfe", "Röntgen", "Onkologie")


def write_visits(path: Path) -> None:
    """The table."""
    random = np.random.default_rng(1)
    born = [date(1935, 1, 1) + timedelta(days=int(days)) for days in random.integers(0, 30_000, PEOPLE)]
    homes = [
        f"{random.choice(['01', '04', '10', '20'])}{number:03}" for number in random.integers(0, 999, PEOPLE)
    ]
    rest = random.integers(0, PEOPLE, VISITS - PEOPLE)
    with path.open("w", newline="", encoding="cp1252") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(_HEADER.split(";"))
        for person in random.permutation(np.append(np.arange(PEOPLE), rest)).tolist():
            day = date(2024, 1, 1) + timedelta(days=int(random.integers(0, 600)))
            cost = f"{random.lognormal(6, 1.3):,.2f}".translate(str.maketrans(",.", ".,"))
            code = f"{'ABCEGIJKM'[int(random.integers(0, 9))]}{int(random.integers(0, 100)):02}.{person % 10}"
            writer.writerow(
                [
                    f"P{person:06}",
                    "FM"[person % 2],
                    f"{born[person]:%d.%m.%Y}",
                    homes[person],
                    f"{day:%d.%m.%Y}",
                    _WARDS[int(random.integers(0, len(_WARDS)))],
                    code,
                    cost,
                ]
            )


def init_visits() -> str:
    """CPU seconds of `init` and of the run of its draft, and the records that come out."""
    with installed_server() as installed, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_visits(folder / "visits-2026-11.csv")
        words = ("init", folder / "visits-2026-11.csv", "--output", folder, "--yes")
        looked, _ = seconds_of_children(lambda: installed.command(*words))
        cpu, wall = seconds_of_children(lambda: installed.command("run", folder / "visits.json"))
        [released] = (folder / "workspace/release/visits/2026-11-1").glob("*_synthetic_microdata.tsv")
        records = len(released.read_text(encoding="utf-8").splitlines()) - 1
    figures = {"init_cpu_s": round(looked, 2), "run_cpu_s": round(cpu, 2), "run_wall_s": round(wall, 1)}
    print_line("init_visits", **figures, records=records, people=PEOPLE)
    if abs(records - PEOPLE) > MOST_OFF * PEOPLE:
        return f"{records} records are not as many as the {PEOPLE} people"
    return f"{cpu:.1f} CPU seconds are above the bar of {BAR_CPU}" if cpu > BAR_CPU else ""
