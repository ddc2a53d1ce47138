"""Print the survey of checkouts: none named is this one; of two, the figures stand side by side."""

import sys
from pathlib import Path

from tests.survey.survey import survey

HERE = Path(__file__).parents[2]


def main(named: list[str]) -> None:
    places = [Path(name) for name in named] or [HERE]
    columns = [survey(place) for place in places]
    rows = list(dict.fromkeys(row for column in columns for row in column))
    width = max(map(len, rows))
    cells = [[column.get(row, "-") for column in columns] for row in rows]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    for row, line in zip(rows, cells, strict=True):
        told = "  ".join(cell.rjust(size) for cell, size in zip(line, widths, strict=True))
        print(f"{row.ljust(width)}  {told}")


main(sys.argv[1:])
