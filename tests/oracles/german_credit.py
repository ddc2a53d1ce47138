"""A file of the shape of UCI's german.data: no header, cells split by spaces, invented people."""

from pathlib import Path

import numpy as np

_CODES = {
    0: ("A11", "A12", "A13", "A14"),
    2: ("A30", "A31", "A32", "A33", "A34"),
    3: ("A40", "A41", "A42", "A43", "A44", "A45", "A46", "A48", "A49", "A410"),
    5: ("A61", "A62", "A63", "A64", "A65"),
    6: ("A71", "A72", "A73", "A74", "A75"),
    8: ("A91", "A92", "A93", "A94"),
    9: ("A101", "A102", "A103"),
    11: ("A121", "A122", "A123", "A124"),
    13: ("A141", "A142", "A143"),
    14: ("A151", "A152", "A153"),
    16: ("A171", "A172", "A173", "A174"),
    18: ("A191", "A192"),
    19: ("A201", "A202"),
}
#: Least and most of the columns of whole numbers.
_NUMBERS = {
    1: (4, 72),
    4: (250, 18424),
    7: (1, 4),
    10: (1, 4),
    12: (19, 75),
    15: (1, 4),
    17: (1, 2),
    20: (1, 2),
}


def write_german_credit(path: Path, rows: int = 1000, seed: int = 1) -> None:
    """Write such a file; the same arguments give the same bytes."""
    random = np.random.default_rng(seed)
    columns = []
    for index in range(21):
        if index in _CODES:
            codes = _CODES[index]
            # Falling shares, so that there are common and rare codes.
            shares = 0.5 ** np.arange(len(codes))
            columns.append(random.choice(codes, size=rows, p=shares / shares.sum()).tolist())
        else:
            least, most = _NUMBERS[index]
            # Squared, so that small numbers are common.
            drawn = least + (random.random(rows) ** 2 * (most - least + 1)).astype(int)
            columns.append([str(number) for number in drawn.tolist()])
    lines = (" ".join(row) for row in zip(*columns, strict=True))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
