"""What a release's page calls things: the operator's own words and layout, and defaults for the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tasks.core.arrays import Json


@dataclass(frozen=True)
class UnitName:
    """What one record of the table is called.

    >>> UnitName("visit", "visits").a_one, UnitName("admission", "admissions").a_one
    ('a visit', 'an admission')

    Attributes:
        one: a single one.
        many: several.
    """

    one: str
    many: str

    @classmethod
    def of(cls, one: str, many: str = "") -> "UnitName":
        """The name, with its regular plural where no other is given.

        >>> UnitName.of("visit").many, UnitName.of("delivery").many, UnitName.of("child", "children").many
        ('visits', 'deliveries', 'children')
        """
        return cls(one, many or _plural(one))

    @classmethod
    def given(cls, one: str, many: str = "") -> "UnitName | None":
        """The same; None where no name is given."""
        return cls.of(one, many) if one else None

    @property
    def a_one(self) -> str:
        """With its article."""
        return f"an {self.one}" if self.one[:1].lower() in "aeio" else f"a {self.one}"


def _plural(one: str) -> str:
    if one.endswith(("s", "x", "z", "ch", "sh")):
        return f"{one}es"
    return f"{one[:-1]}ies" if one[-1:] == "y" and one[-2:-1] not in "aeiou" else f"{one}s"


#: Where nobody says what a record is: all rows of a subject are a person, rows are rows.
SUBJECTS, ROWS = UnitName("person", "people"), UnitName("row", "rows")


@dataclass(frozen=True)
class Citation:
    """How a release is cited. Attributes: text: a line. bibtex: an entry."""

    text: str = ""
    bibtex: str = ""


@dataclass(frozen=True)
class Naming:
    """What a page is called and calls things, and how it is laid out.

    Attributes:
        title: of the page; empty for the dataset's name and vintage.
        prefix: what the names of released files begin with.
        visuals: SDS's ``report_visuals``: name to attributes ``header:value``.
        pages: SDS's ``report_pages``: page to the visuals and columns on it, in order.
        unit: what a record is called; None: what the statement's unit is called otherwise.
        citation: of the release.
        value_names: column to value to what it means, where values are codes.
    """

    title: str = ""
    prefix: str = "my"
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unit: UnitName | None = None
    citation: Citation = Citation()
    value_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def unit_of(self, statement: Json) -> UnitName:
        """What a record of a release is called."""
        if self.unit is not None:
            return self.unit
        claim = statement["guarantee"]  # a draw of the seeded test engine has none
        return ROWS if claim is not None and claim["unit"] == "row" else SUBJECTS
