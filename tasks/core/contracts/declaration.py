"""What a configuration or a contract declares of a column, and of all columns of a table.

Both may declare the same thing only if they say the same: there is no precedence to remember. Another
property of a column is a field here, a key of the configuration's model (`tasks.configuration.model.Input`),
and whatever reads it.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from tasks.core.tables.column_names import matching_name, output_spelling
from tasks.core.tables.number_format import EVERY_COLUMN, canonical_thousands

Decimal = Literal[".", ","]
Thousands = Annotated[Literal["", ".", ",", " ", "'"], BeforeValidator(canonical_thousands)]
Negative = Literal["bookkeeping"]
#: One text stands for a list of it alone.
Words = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    Field(min_length=1),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]


class ColumnProperties(BaseModel):
    """What a contract declares of a column by custom properties of the same names; None: nothing.

    Attributes:
        bins: increasing public edges.
        zero_is_value: whether the text ``0`` is a value. In bins it is one whatever is said.
        decimal, thousands, negative: how its numbers are written (see `NumberFormat`).
        strip, missing_values, date_formats, cut: how its cells are read (see `CellReading`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    bins: tuple[FiniteFloat, ...] | None = None
    delimiter: str | None = Field(None, min_length=1)
    zero_is_value: bool | None = None
    decimal: Decimal | None = None
    thousands: Thousands | None = None
    negative: Negative | None = None
    strip: str | None = Field(None, min_length=1)
    missing_values: Words | None = None
    date_formats: Words | None = None
    cut: str | None = Field(None, min_length=1)


class ColumnDeclaration(ColumnProperties):
    """All that is declared of a column."""

    domain: tuple[str, ...] | None = None
    max_items: int | None = None

    @classmethod
    def of(cls, source: object) -> "ColumnDeclaration":
        return cls.model_construct(**{name: getattr(source, name) for name in cls.model_fields})

    def over(self, other: "ColumnDeclaration") -> "ColumnDeclaration":
        """What is said here, and of the other what is not said here."""
        silent = [name for name in type(self).model_fields if getattr(self, name) is None]
        return self.model_copy(update={name: getattr(other, name) for name in silent})

    def differing(self, other: "ColumnDeclaration") -> list[str]:
        """The keys of a configuration that both declare by, and otherwise."""
        return [
            key
            for key, name in FIELD_OF_KEY.items()
            if name != "zero_is_value"
            and None not in (one := getattr(self, name), another := getattr(other, name))
            and one != another
        ]


_OTHER_KEYS = {"domain": "domains", "delimiter": "multi_value_columns", "zero_is_value": "sensitive_zeros"}
#: What each part of a list of such a key is kept as.
_KEPT_AS: dict[str, Callable[[Any], object]] = {"domains": output_spelling, "bins": float}
#: The keys of a configuration that declare something by column, each with the declaration's field.
FIELD_OF_KEY: dict[str, str] = {
    _OTHER_KEYS.get(name, name): name for name in (*ColumnDeclaration.model_fields,)
}


class Declarations:
    """What a configuration declares of a table.

    Attributes:
        subject_id: the column that says whose row it is, as written; None: not said.
        written: by key, the names as written, but `EVERY_COLUMN`.
    """

    def __init__(
        self,
        *,
        subject_id: str | None = None,
        use_columns: Collection[str] = (),
        **by_key: Mapping[str, Any] | Collection[str],
    ) -> None:
        """Args: by_key: keys of `FIELD_OF_KEY`; names stand for all columns where one is `EVERY_COLUMN`."""
        self.subject_id, self.use_columns = subject_id, tuple(use_columns)
        self.written = {key: [n for n in names if n != EVERY_COLUMN] for key, names in by_key.items()}
        said: dict[str, dict[str, Any]] = {}
        for key, values in by_key.items():
            by_name: Mapping[str, Any] = (
                values if isinstance(values, Mapping) else dict.fromkeys(values, True)
            )
            for name, value in by_name.items():
                kept = tuple(map(_KEPT_AS[key], value)) if key in _KEPT_AS else value
                column = said.setdefault(name if name == EVERY_COLUMN else matching_name(name), {})
                column.setdefault(FIELD_OF_KEY[key], kept)
        self._columns = {name: ColumnDeclaration.model_construct(**column) for name, column in said.items()}

    def of(self, header: str) -> ColumnDeclaration:
        """What is declared of one column, by itself or with all others."""
        own, every = (
            self._columns.get(name, ColumnDeclaration()) for name in (matching_name(header), EVERY_COLUMN)
        )
        return own.over(every)
