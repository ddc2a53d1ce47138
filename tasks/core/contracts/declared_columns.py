"""One column of the public schema, from what configuration and contract declare of it.

The type that a Parquet file's column has says nothing: it is often inferred from all rows, and then one
person's cell could change the schema, or stop the run (R2 and R6). Both may declare the same
thing only if they say the same: there is no precedence to remember.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.core.contracts.contract import ContractColumn, Forbidden
from tasks.core.listing import some_of
from tasks.core.records.cell_reading import WHOLE, CellReading, has_empty_fraction
from tasks.core.records.columns import (
    Column,
    bin_problems,
    declared_values,
    domain_problems,
    limit_problems,
)
from tasks.core.tables.number_format import PLAIN, NumberFormat

#: Items of one subject in a multi-valued column for which nobody declares a cap (R12).
DEFAULT_MAX_ITEMS = 8


@dataclass(frozen=True)
class Given:
    """What the configuration declares of one column; None: nothing."""

    bins: tuple[float, ...] | None = None
    domain: tuple[str, ...] | None = None
    delimiter: str | None = None
    max_items: int | None = None
    zero_is_value: bool = False
    decimal: str | None = None
    thousands: str | None = None
    negative: str | None = None
    strip: str | None = None
    missing_values: tuple[str, ...] | None = None
    date_formats: tuple[str, ...] | None = None
    cut: str | None = None


@dataclass(frozen=True)
class DeclaredColumn:
    """One column's declarations, before they are known to agree.

    Attributes:
        name: the header, normalised.
        given: the configuration's declarations.
        promised: the contract's; an empty one where it doesn't describe the column.
        described: whether the contract describes the column.
    """

    name: str
    given: Given
    promised: ContractColumn
    described: bool

    @property
    def bins(self) -> tuple[float, ...] | None:
        """Declared edges."""
        return self.given.bins if self.given.bins is not None else self.promised.bins

    @property
    def delimiter(self) -> str | None:
        """Declared delimiter of items."""
        return self.given.delimiter if self.given.delimiter is not None else self.promised.delimiter

    @property
    def domain(self) -> tuple[str, ...] | None:
        """Declared values."""
        return self.given.domain if self.given.domain is not None else self.promised.domain

    @property
    def number_format(self) -> NumberFormat:
        """How numbers of the column are written."""
        given, promised = self.given, self.promised
        return NumberFormat(
            given.decimal or promised.decimal or PLAIN.decimal,
            (promised.thousands or "") if given.thousands is None else given.thousands,
            given.negative or promised.negative or "",
        )

    @property
    def reading(self) -> CellReading:
        """How its cells are read before anything else looks at them."""
        given, promised = self.given, self.promised
        return CellReading(
            strip=given.strip or promised.strip or "",
            missing=given.missing_values or promised.missing_values or (),
            date_formats=given.date_formats or promised.date_formats or (),
            cut=given.cut or promised.cut or "",
            whole=self.number_format.decimal if self._holds_whole_numbers else "",
        )

    @property
    def _holds_whole_numbers(self) -> bool:
        """Whether it is declared to hold some, none of them with zeros behind a decimal mark."""
        if self.bins is not None or self.given.date_formats or self.promised.date_formats:
            return False
        if WHOLE in (self.given.cut, self.promised.cut):
            return True
        listed = self.domain or ()
        if any(has_empty_fraction(value, self.number_format.decimal) for value in listed):
            return False
        is_number = self.promised.is_numeric or self.promised.logical_type == "boolean"
        return is_number or any(re.fullmatch("-?[0-9]+", value) for value in listed)

    def problems(self) -> list[str]:
        """What is wrong with the declarations, one sentence each."""
        subject = f"Column {self.name!r}"
        found = [f"{subject}: {problem}" for problem in (*self._value_problems(), *self.reading.problems)]
        found += [
            f"{subject} is declared otherwise in {key} than in the contract; keep one."
            for key in self._differing()
        ]
        if self.bins is not None and self.domain is not None:
            found.append(f"{subject} has both bins and a domain; keep one.")
        if self.bins is not None and self.delimiter is not None:
            found.append(f"{subject} is multi-valued and can't be binned; remove its bins.")
        if self.given.max_items is not None and self.delimiter is None:
            found.append(f"{subject} is named in max_items, but is not in multi_value_columns; add it there.")
        return found

    @property
    def needs_bins(self) -> bool:
        """Whether it holds numbers, and neither bins nor values are declared."""
        return self.bins is None and self.domain is None and self.promised.is_numeric

    def _value_problems(self) -> list[str]:
        given = self.given
        problems = [
            *(bin_problems(given.bins) if given.bins is not None else []),
            *(domain_problems(given.domain) if given.domain is not None else []),
        ]
        return problems or limit_problems(self.bins, self.promised.minimum, self.promised.maximum)

    def _differing(self) -> list[str]:
        pairs = {
            "bins": (self.given.bins, self.promised.bins),
            "domains": (self.given.domain, self.promised.domain),
            "multi_value_columns": (self.given.delimiter, self.promised.delimiter),
            "max_items": (self.given.max_items, self.promised.max_items),
            "decimal": (self.given.decimal, self.promised.decimal),
            "thousands": (self.given.thousands, self.promised.thousands),
            "negative": (self.given.negative, self.promised.negative),
            "strip": (self.given.strip, self.promised.strip),
            "missing_values": (self.given.missing_values, self.promised.missing_values),
            "date_formats": (self.given.date_formats, self.promised.date_formats),
            "cut": (self.given.cut, self.promised.cut),
        }
        differing = [key for key, (a, b) in pairs.items() if a is not None and b is not None and a != b]
        single = self.described and self.promised.delimiter is None
        if self.given.delimiter is not None and single:
            differing.append("multi_value_columns")
        return differing

    def column(self, searched: Sequence[Forbidden], *, cap_required: bool) -> Column:
        """The column, once its declarations agree.

        Args:
            searched: what the contract forbids in it.
            cap_required: whether a multi-valued column without a declared cap gets the default one.
        """
        promised = self.promised
        domain = declared_values(self.domain, self.bins, promised.minimum, promised.maximum, promised.other)
        patterns = tuple(pattern for rule in searched for pattern in rule.patterns)
        return Column(
            name=self.name,
            domain=domain,
            bins=self.bins,
            delimiter=self.delimiter,
            max_items=self._cap(domain, cap_required),
            zero_is_value=self.given.zero_is_value or bool(promised.zero_is_value) or "0" in (domain or ()),
            other=promised.other if domain is not None else None,
            value_format=promised.value_format,
            forbidden=patterns if domain is None else (),
            number_format=self.number_format if self._reads_numbers() else PLAIN,
            reading=self.reading,
            minimum=promised.minimum,
            maximum=promised.maximum,
            required=promised.max_empty_percent == 0,
        )

    def _reads_numbers(self) -> bool:
        """Whether its text is ever read as numbers: elsewhere a format is not in a release's name."""
        return self.delimiter is None and (self.bins is not None or self.promised.is_numeric)

    def _cap(self, domain: tuple[str, ...] | None, cap_required: bool) -> int:
        if self.delimiter is None:
            return 1
        declared = self.given.max_items or self.promised.max_items
        cap = declared or (DEFAULT_MAX_ITEMS if cap_required else 0)
        return min(cap, len(domain)) if domain is not None else cap


def declared_column(name: str, given: Given, promised: ContractColumn | None) -> DeclaredColumn:
    """Everything declared of the column with this (normalised) header."""
    described = promised is not None
    return DeclaredColumn(name, given, promised or ContractColumn(name=name), described)


def without_bins(names: Sequence[str]) -> list[str]:
    """What is wrong with columns that need bins, in one sentence. Args: names: theirs; may be none."""
    if not names:
        return []
    example = '"' + names[0].replace('"', '\\"') + '"'
    one = len(names) == 1
    holds = (
        f"Column {names[0]!r} holds numbers and needs"
        if one
        else (f"{len(names)} columns hold numbers and need")
    )
    which = "" if one else f": {some_of(names, 40)}"
    return [
        f"{holds} public bins{which}: give their edges in bins "
        f'(such as "bins": {{{example}: [0, 10, 20]}}), or {"its" if one else "their"} values in domains.'
    ]


def without_collisions(columns: Sequence[Column], *, under_dp: bool) -> tuple[list[Column], list[str]]:
    """Columns whose wide headers can't collide, and the declared ones that do (S1.2).

    Item ``x`` of a multi-valued column ``A`` is published as the header ``A_x``, which may be another
    column's header. Where A's items are declared that is a problem to report. Where they are open, an
    item that would collide is forbidden under differential privacy, so that it becomes absent; otherwise
    `require_distinct_headers` refuses the table.

    >>> columns = [Column("speaks", delimiter=";"), Column("speaks_French")]
    >>> without_collisions(columns, under_dp=True)[0][0].forbidden
    ('^French$',)
    """
    problems: list[str] = []
    result = []
    for column in columns:
        prefix = f"{column.name}_"
        rivals = [rival for rival in columns if column.is_multi_valued and rival.name.startswith(prefix)]
        for rival in rivals:
            pattern = f"^{_escaped(rival.name[len(prefix) :])}{'_' if rival.is_multi_valued else '$'}"
            if column.domain is not None and any(re.search(pattern, item) for item in column.domain):
                problems.append(
                    f"Column {column.name!r} has an item that is published under the same header as the "
                    f"column {rival.name!r}; rename one."
                )
            elif column.domain is None and under_dp:
                column = replace(column, forbidden=(*column.forbidden, pattern))
        result.append(column)
    return result, problems


def _escaped(text: str) -> str:
    """Text as a regular expression that RE2 and Python read alike."""
    return re.sub(r"([^\w\s])", r"\\\1", text)
