"""Names of datasets and of releases: public configuration goes in, the words that name a draw come out.

Whether a draw happens depends on this name alone, never on the input's content and never on the code's
version (R1): "nothing was drawn because the data did not change" has infinite epsilon.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import ParameterError
from tasks.core.ledger.entries import Body, Entry


@dataclass(frozen=True)
class ReleaseName:
    """What names one release.

    Attributes:
        dataset: the logical name that the budget is kept under: the same people, whatever the file.
        digest: `configuration_digest` of everything public that touches the noise.
    """

    dataset: str
    vintage: str
    digest: str

    @property
    def key(self) -> str:
        """The name as part of a file's name: 32 hexadecimal digits."""
        return sha256_of(canonical([self.dataset, self.vintage, self.digest]))[:32]

    def as_body(self) -> dict[str, object]:
        return {"dataset": self.dataset, "vintage": self.vintage, "digest": self.digest}

    @classmethod
    def of(cls, body: Body) -> "ReleaseName":
        return cls(str(body["dataset"]), str(body["vintage"]), str(body["digest"]))


def fold_name(name: str) -> str:
    r"""A name without case, blanks, invisible characters and the way its letters are encoded.

    What names of datasets and of columns are compared by.

    >>> fold_name("In\u00adcome\u00a0\u200b") == fold_name("income")
    True
    """
    without_blanks = "".join(unicodedata.normalize("NFKC", name).casefold().split())
    seen = "".join(letter for letter in without_blanks if not _is_invisible(letter))
    # What stood around an invisible character may make one letter without it.
    return seen if seen == name else fold_name(seen)


#: Characters outside the categories Cc and Cf that show nothing: what Unicode calls default-ignorable
#: (DerivedCoreProperties.txt), the empty Braille pattern, hieroglyphic blanks and the musical null notehead.
_SHOW_NOTHING = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x13441, 0x13442),
    (0x1D159, 0x1D159),
    (0xE0000, 0xE0FFF),
)


def _is_invisible(letter: str) -> bool:
    if unicodedata.category(letter) in ("Cc", "Cf"):
        return True
    return any(first <= ord(letter) <= last for first, last in _SHOW_NOTHING)


def registered_names(entries: Iterable[Entry]) -> list[str]:
    """The datasets that have a budget, in order of registration."""
    return [entry.text("dataset") for entry in entries if entry.phase == "register"]


def salted_names(entries: Iterable[Entry]) -> list[str]:
    """The datasets that ever had a salt of SynDiffix's noise, in order."""
    return [entry.text("salt_of") for entry in entries if entry.phase == "salt"]


def refuse_twin(dataset: str, known: Iterable[str]) -> None:
    """Refuse a new name that is a known one by `fold_name`: a slip."""
    names = list(known)
    twins = [name for name in names if fold_name(name) == fold_name(dataset)]
    if twins and dataset not in names:
        raise ParameterError(
            f"A dataset must keep its name to the letter: the ledger knows {twins[0]!r}, and {dataset!r} "
            "would get another budget and another salt of its noise. Give the known name, or one that "
            "differs by more than case, blanks and invisible characters."
        )
