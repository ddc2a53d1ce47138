"""A table's data contract: what it promises, and what is publicly known of its columns.

A YAML file in the Open Data Contract Standard 3.1 goes in (see `odcs`), a frozen `Contract` comes out.
Everything in a contract is declared by somebody, so it is public and may appear anywhere. Where the standard
has no field, its ``customProperties`` and ``custom`` quality rules carry ours (`odcs.TableExtras`,
`odcs.ColumnExtras`, `odcs.Implementation`).

A list of values that was drafted from data is marked ``drafted``: it is judged as a rule, but the column
stays open, because a domain taken from data is not public (R11).
"""

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from tasks.core.contracts.declaration import ColumnProperties
from tasks.core.tables.column_names import matching_name

LogicalType = Literal["string", "integer", "number", "boolean", "date", "timestamp", "time", "array"]
#: Where something stands in a contract's file.
ElementPath = tuple[str | int, ...]


class ContractModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Forbidden(ContractModel):
    name: str
    patterns: tuple[str, ...]


class ContractColumn(ColumnProperties):
    """What is declared of one column, beside its properties. None: not promised.

    Attributes:
        logical_type: ``array`` is a multi-valued column of text items.
        values: the allowed values, normalised, in declared order, without ``other``.
        drafted: whether ``values`` came from data: then they are a rule, not a domain.
        other: the value that stands for a cell outside ``values`` or ``bins``; None: it becomes absent.
        repair: what a cell becomes that breaks a constraint with another column; None: `other`, or absent.
        max_items: most items of one subject, for an array.
        max_empty_percent: largest share of records without a value, 0..100.
        seems_to_follow: the column that decides this one, as far as a draft could see; undeclared, so that
            it binds nothing, and `check` says what that costs.
        forbidden: what no cell of this column may look like, beside the table's own rules.
    """

    name: str
    description: str = ""
    logical_type: LogicalType = "string"
    values: tuple[str, ...] | None = None
    drafted: bool = False
    other: str | None = None
    repair: str | None = None
    minimum: FiniteFloat | None = None
    maximum: FiniteFloat | None = None
    max_items: int | None = None
    value_format: str | None = None
    max_distinct: int | None = None
    max_empty_percent: float | None = None
    seems_to_follow: str | None = None
    forbidden: tuple[Forbidden, ...] = ()

    @property
    def domain(self) -> tuple[str, ...] | None:
        """The public values: none where they were drafted from data."""
        return None if self.drafted else self.values

    @property
    def is_numeric(self) -> bool:
        return self.logical_type in ("integer", "number")


class StructuralZero(ContractModel):
    """A combination that can't occur: for each of its columns the values that don't go together.

    Attributes:
        values: by column; the empty text is absence.
    """

    values: dict[str, tuple[str, ...]] = Field(min_length=2)
    excluded: tuple[str, ...] = ()


class FunctionalDependency(ContractModel):
    """A column whose values decide the value of another one.

    Attributes:
        values: what follows from which value; the empty text is absence.
        otherwise: what follows from all else; None: absence.
    """

    determinants: tuple[str, ...] = Field(min_length=1, max_length=1)
    dependent: str
    values: dict[str, str] = Field(min_length=1)
    otherwise: str | None = None


class ValueOrdering(ContractModel):
    """Columns of which none ever holds less than one before it.

    Attributes:
        strict: whether no two are equal either.
    """

    columns: tuple[str, ...] = Field(min_length=2)
    strict: bool = False


class OneOf(ContractModel):
    """Columns of which exactly one holds a value.

    Attributes:
        columns: of whose values nothing else is left open: each must be declared.
    """

    columns: tuple[str, ...] = Field(min_length=2)
    value: str = Field("1", min_length=1)


class Contract(ContractModel):
    """One table's contract.

    Attributes:
        columns: in the contract's order, without the subject id.
        min_rows: least number of records (of subjects, where there is a subject id).
        forbidden: what no cell of any open column may look like.
        empty_together: groups of columns that are all empty or all filled.
        sha256: of the file's bytes, by which a release names it.
    """

    id: str
    name: str
    version: str
    status: str
    table: str
    subject_id: str | None
    columns: tuple[ContractColumn, ...]
    min_rows: int | None = None
    forbidden: tuple[Forbidden, ...] = ()
    structural_zeros: tuple[StructuralZero, ...] = ()
    functional_dependencies: tuple[FunctionalDependency, ...] = ()
    orderings: tuple[ValueOrdering, ...] = ()
    empty_together: tuple[tuple[str, ...], ...] = ()
    exactly_one: tuple[OneOf, ...] = ()
    sha256: str = ""

    @property
    def has_constraints(self) -> bool:
        zeros, follow = self.structural_zeros, self.functional_dependencies
        return any((zeros, follow, self.orderings, self.empty_together, self.exactly_one))

    @property
    def meaning(self) -> str:
        """SHA-256 of all that it demands: comments and spelling aside, and keys that have their defaults."""
        words: Any = {"sha256": True, "columns": {"__all__": {"description"}}}
        demands = self.model_dump(mode="json", exclude=words, exclude_defaults=True)
        return hashlib.sha256(json.dumps(demands, sort_keys=True).encode()).hexdigest()

    def column(self, name: str) -> ContractColumn | None:
        wanted = matching_name(name)
        return next((column for column in self.columns if matching_name(column.name) == wanted), None)

    def forbidden_in(self, column: ContractColumn) -> tuple[Forbidden, ...]:
        """What is searched for in a column: nothing where its values are declared or binned."""
        if column.domain is not None or column.bins is not None:
            return ()
        own = {rule.name for rule in column.forbidden}
        return column.forbidden + tuple(rule for rule in self.forbidden if rule.name not in own)
