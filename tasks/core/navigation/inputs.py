"""What a release's page is made of, and what it calls things: the operator's words, or defaults."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from tasks.core.aggregates.aggregates import Aggregates, Ranges, as_drawn
from tasks.core.arrays import Json
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.navigation.fidelity import Fidelity
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import AnySynthetic
from tasks.core.unit_words import names_people, names_subjects


@dataclass(frozen=True)
class UnitName:
    """What one record of the table is called.

    >>> UnitName("visit", "visits").a_one, UnitName("admission", "admissions").a_one
    ('a visit', 'an admission')
    """

    one: str
    many: str

    @classmethod
    def of(cls, one: str, many: str = "") -> "UnitName":
        """The name, with its plural where no other is given.

        >>> UnitName.of("visit").many, UnitName.of("delivery").many, UnitName.of("young person").many
        ('visits', 'deliveries', 'young people')
        """
        return cls(one, many or _plural(one))

    @property
    def a_one(self) -> str:
        return f"an {self.one}" if self.one[:1].lower() in "aeio" else f"a {self.one}"


#: Plurals that no ending makes; what a page says of people in another language it knows by these words.
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}


def _plural(one: str) -> str:
    *before, last = one.split(" ")
    if last.casefold() in _IRREGULAR:
        return " ".join([*before, _IRREGULAR[last.casefold()]])
    if one.endswith(("s", "x", "z", "ch", "sh")):
        return f"{one}es"
    return f"{one[:-1]}ies" if one[-1:] == "y" and one[-2:-1] not in "aeiou" else f"{one}s"


#: Where nobody says what a record is: all rows of a subject are a person, rows are rows.
SUBJECTS, ROWS = UnitName("person", "people"), UnitName("row", "rows")


@dataclass(frozen=True)
class Naming:
    """What a page is called and calls things, and how it is laid out.

    Attributes:
        title: of the page; empty for the dataset's name and vintage.
        visuals: SDS's ``report_visuals``: name to attributes ``header:value``.
        pages: SDS's ``report_pages``: page to the visuals and columns on it, in order.
        unit: what a record is called, where `unit_of` can take the word; None: nobody said.
        citation, bibtex: how the release is cited, as a line and as an entry.
        value_names: column to value to what it means, where values are codes.
        ages: columns of ages that were reckoned from dates of birth, whose names are those of the dates.
    """

    title: str = ""
    prefix: str = "my"
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unit: UnitName | None = None
    citation: str = ""
    bibtex: str = ""
    value_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    ages: frozenset[str] = frozenset()

    def title_of(self, statement: Json) -> str:
        return self.title or f"{statement['dataset']}, {statement['vintage']}"

    def page_words(self, statement: Json) -> Json:
        """What every page of a release is told of its names, for the template."""
        unit = self.unit_of(statement)
        return {
            "title": self.title_of(statement),
            "statement": statement,
            "one": unit.one,
            "many": unit.many,
            "a_one": unit.a_one,
            "promised": self.promised(statement),
            "ages": self.ages,
        }

    def unit_of(self, statement: Json) -> UnitName:
        """What is counted is called: by the operator's word, if that can stand for what is protected."""
        protected, unit = protected_unit(statement), self.unit
        if unit is None:
            return protected
        if protected is ROWS:
            is_taken = not (names_people(unit.one) or names_people(unit.many))
        else:
            is_taken = names_subjects(unit.one) and names_subjects(unit.many)
        return unit if is_taken else protected

    def promised(self, statement: Json) -> UnitName:
        """What is protected is called in a sentence that promises something: of rows always a row."""
        protected = protected_unit(statement)
        return protected if protected is ROWS else self.unit_of(statement)


def ages_of(schema: Schema) -> frozenset[str]:
    """The columns of a schema that hold ages and are named after dates.

    >>> from tasks.core.records.cell_reading import CellReading
    >>> from tasks.core.records.columns import Column
    >>> turned = CellReading(cut="age on 2026-01-01")
    >>> ages_of(Schema((Column("birth_date", reading=turned), Column("age", reading=turned), Column("sex"))))
    frozenset({'birth_date'})
    """
    found = (column.name for column in schema.columns if column.reading.is_age)
    return frozenset(name for name in found if not _CALLED_AGE.search(name.casefold()))


#: A name that says already that ages are below it.
_CALLED_AGE = re.compile(r"(?<![^\W\d_])(age|alter)(?![^\W\d_])")


def protected_unit(statement: Json) -> UnitName:
    claim = statement["guarantee"]  # a draw of the seeded test engine has none
    return ROWS if claim is not None and claim["unit"] == "row" else SUBJECTS


@dataclass(frozen=True)
class ReportInputs:
    """Everything a page is made of; None where it was not made.

    Attributes:
        statement, contract: the content of ``privacy.json`` and ``contract.json``.
        measurement: what was drawn; None under k-anonymity.
        fit: of a fitted release, the part ``fit`` of ``evaluation.json``.
        ranges: of a fitted release, of each length the ranges of its counts; empty otherwise.
    """

    statement: Json
    schema: Schema
    aggregates: Aggregates
    measurement: Measurement | WorkloadMeasurement | None = None
    synthetic: AnySynthetic | None = None
    fidelity: Fidelity | None = None
    naming: Naming = field(default_factory=Naming)
    contract: Json | None = None
    fit: Json | None = None
    ranges: Sequence[Ranges] = ()

    @cached_property
    def drawn(self) -> Aggregates:
        """The counts as they were drawn or rounded, without those that were only estimated."""
        return as_drawn(self.aggregates, self.ranges) if self.ranges else self.aggregates

    @property
    def published(self) -> int:
        """How many combinations are published; of a fitted release those that were estimated, too."""
        return sum(len(found) for found in self.aggregates.counts)


#: Reads some columns of a table by its file.
Read = Callable[[str, Sequence[str]], pa.Table]


@dataclass(frozen=True)
class TablePage:
    """Everything a page is made of.

    Attributes:
        bins: public edges by numeric column.
        files: those of the table of all columns, as the page links them.
        tables: likewise of each table of a single question its file, and its columns.
        read: some columns of such a table by its file.
    """

    statement: Json
    table: pa.Table
    read: Read
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    naming: Naming = field(default_factory=Naming)
    contract: Json | None = None
    files: Sequence[str] = ()
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def smallest(self, names: Sequence[str]) -> str | None:
        """The table of a question with the fewest columns that holds these; None: that of all is as small.

        The fewer columns a table has, the less is suppressed in it. Of equally small ones it is the first.
        """
        most = self.table.num_columns
        holding = [file for file, held in self.tables.items() if set(names) <= set(held) and len(held) < most]
        return min(holding, key=lambda file: len(self.tables[file]), default=None)
