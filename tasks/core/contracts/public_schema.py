"""The public schema of a table, from its header, the configuration and the contract.

Header names in file order, declarations and perhaps a data contract go in; the `Schema` comes out, or
every problem at once. No value of the table is read, so a refusal here tells nothing about anybody.

Which numeric columns are refused without bins. Thousands of different numbers make thousands of rare
values, so such a column needs public bins (or a declared domain). Under differential privacy whether a
run stops must not depend on the values (R2), so only the contract counts: a column that it
calls ``integer`` or ``number``. An undeclared column is taken as text, whatever its type in a Parquet file
or a DataFrame, which may be inferred from all rows: its rare values don't pass the threshold, which costs
that column and nobody's privacy; ``marginalia init`` reads the values on request and drafts bins. Under
k-anonymity no such column is refused: each number is a value of its own, as in SDS, and rare ones are not
reported. `numbers_without_bins` names those that would better be binned, and a table judged by a strict
contract is looked at as well (`contracts.profile.Profile.suggestions`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.declared_columns import Given, declared_column, without_bins, without_collisions
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.listing import some_of
from tasks.core.records.columns import Schema
from tasks.core.tables.column_names import column_name, matching_name, output_spelling
from tasks.core.tables.number_format import EVERY_COLUMN

ValueType = TypeVar("ValueType")


@dataclass(frozen=True)
class Declarations:
    """What the configuration declares; names as written, compared by `matching_name`.

    Attributes:
        use_columns: columns to use, in any order; none: all.
        multi_value_columns: column to the delimiter of its items.
        sensitive_zeros: columns in which the text ``0`` is a value; ``*`` stands for all.
        bins: column to increasing edges.
        domains: column to its values.
        max_items: multi-valued column to the most items of one subject.
        decimal, thousands: column to the mark of its numbers, or `EVERY_COLUMN` to that of all others.
        negative: likewise to how its numbers below zero are written.
        strip, missing_values: column to how its cells are read (see `CellReading`), or `EVERY_COLUMN`.
        date_formats, cut: column to how its dates are written, and to what is left of its cells.
    """

    subject_id: str | None = None
    use_columns: tuple[str, ...] = ()
    multi_value_columns: Mapping[str, str] = field(default_factory=dict)
    sensitive_zeros: tuple[str, ...] = ()
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    domains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    max_items: Mapping[str, int] = field(default_factory=dict)
    decimal: Mapping[str, str] = field(default_factory=dict)
    thousands: Mapping[str, str] = field(default_factory=dict)
    negative: Mapping[str, str] = field(default_factory=dict)
    strip: Mapping[str, str] = field(default_factory=dict)
    missing_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    date_formats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cut: Mapping[str, str] = field(default_factory=dict)

    def of(self, header: str) -> Given:
        """What is declared of one column."""
        key = matching_name(header)
        bins = _of(self.bins, key)
        domain = _of(self.domains, key)
        return Given(
            bins=None if bins is None else tuple(map(float, bins)),
            domain=None if domain is None else tuple(map(output_spelling, domain)),
            delimiter=_of(self.multi_value_columns, key),
            max_items=_of(self.max_items, key),
            zero_is_value=EVERY_COLUMN in self.sensitive_zeros
            or key in map(matching_name, self.sensitive_zeros),
            decimal=_of(self.decimal, key) or self.decimal.get(EVERY_COLUMN),
            thousands=self._thousands(key),
            negative=_of(self.negative, key) or self.negative.get(EVERY_COLUMN),
            strip=_of(self.strip, key) or self.strip.get(EVERY_COLUMN),
            missing_values=_of(self.missing_values, key) or self.missing_values.get(EVERY_COLUMN),
            date_formats=_of(self.date_formats, key),
            cut=_of(self.cut, key),
        )

    def _thousands(self, key: str) -> str | None:
        own = _of(self.thousands, key)
        return self.thousands.get(EVERY_COLUMN) if own is None else own


def _of(declared: Mapping[str, ValueType], key: str) -> ValueType | None:
    return next((value for name, value in declared.items() if matching_name(name) == key), None)


def build_schema(
    headers: Sequence[str],
    declarations: Declarations,
    contract: Contract | None = None,
    *,
    cap_required: bool,
    constrained: bool = False,
) -> Schema:
    """The public schema.

    >>> declared = Declarations(subject_id="id", bins={"Age": (0, 18, 65)})
    >>> schema = build_schema(["ID", "age", "town"], declared, cap_required=True)
    >>> schema.subject_id, [(column.name, column.is_open) for column in schema.columns]
    ('ID', [('age', False), ('town', True)])

    Args:
        headers: of the file, in its order.
        declarations: the configuration's.
        contract: the table's, or None.
        cap_required: True under differential privacy: every multi-valued column gets a cap, and numbers
            need bins. False: a column without a declared cap has none (``max_items`` 0).
        constrained: whether the release holds the contract's constraints.

    Raises:
        ParameterError: all problems; a declared name may be shown, any other header is named by position.
    """
    names = _Names(headers, declarations, contract)
    names.match()
    names.compare_with_contract()
    if names.problems:  # what follows would only repeat them
        raise ParameterError(names.problems)
    declared = [
        declared_column(
            names.headers[position],
            declarations.of(names.headers[position]),
            contract.column(names.headers[position]) if contract else None,
        )
        for position in names.used
    ]
    problems = [problem for column in declared for problem in column.problems()]
    if cap_required:
        problems += without_bins([column.name for column in declared if column.needs_bins])
    problems += dict.fromkeys(filter(None, (column.number_format.problem for column in declared)))
    if not declared:
        problems.append("At least one column must be used, beside the subject id: check use_columns.")
    if problems:
        raise ParameterError(problems)
    columns, problems = without_collisions(
        [
            column.column(
                contract.forbidden_in(column.promised) if contract else (), cap_required=cap_required
            )
            for column in declared
        ],
        under_dp=cap_required,
    )
    if problems:
        raise ParameterError(problems)
    schema = Schema(tuple(columns), names.subject)
    return with_constraints(schema, contract) if contract is not None and constrained else schema


def numbers_without_bins(schema: Schema, contract: Contract | None = None) -> list[str]:
    """Open columns that hold numbers, as the contract says: each number is a value."""
    promised = contract.column if contract else lambda _name: None
    return [
        column.name
        for column in schema.columns
        if column.is_open and (found := promised(column.name)) is not None and found.is_numeric
    ]


class _Names:
    """One header, its declarations, and the problems found so far."""

    def __init__(
        self,
        headers: Sequence[str],
        declarations: Declarations,
        contract: Contract | None,
    ) -> None:
        self.headers = [column_name(header) for header in headers]
        self.declared = declarations
        self.contract = contract
        self.problems: list[str] = []
        self.positions: dict[str, int] = {}
        self.used: list[int] = []
        self.subject: str | None = None
        self.subject_key: str | None = None

    def match(self) -> None:
        """Find every declared name in the header, and the columns that are used."""
        for position, header in enumerate(self.headers, start=1):
            earlier = self.positions.setdefault(matching_name(header), position - 1) + 1
            if header and earlier != position:
                self.problems.append(
                    f"Columns {earlier} and {position} of the input have the same name; rename one."
                )
        given = self.declared
        named = {
            "use_columns": given.use_columns,
            "multi_value_columns": tuple(given.multi_value_columns),
            "sensitive_zeros": tuple(name for name in given.sensitive_zeros if name != EVERY_COLUMN),
            "bins": tuple(given.bins),
            "domains": tuple(given.domains),
            "max_items": tuple(given.max_items),
            "decimal": tuple(name for name in given.decimal if name != EVERY_COLUMN),
            "thousands": tuple(name for name in given.thousands if name != EVERY_COLUMN),
            "negative": tuple(name for name in given.negative if name != EVERY_COLUMN),
            "strip": tuple(name for name in given.strip if name != EVERY_COLUMN),
            "missing_values": tuple(name for name in given.missing_values if name != EVERY_COLUMN),
            "date_formats": tuple(given.date_formats),
            "cut": tuple(given.cut),
            "subject_id": () if given.subject_id is None else (given.subject_id,),
        }
        for key, names in named.items():
            for name in names:
                if not matching_name(name) or matching_name(name) not in self.positions:
                    meant = did_you_mean(matching_name(name), self.positions, self._shown)
                    self.problems.append(
                        f"{key} names the column {name!r}, which the input does not have"
                        f"{f'; {meant}' if meant else ': correct the name, or take it out.'}"
                    )
            keys = [matching_name(name) for name in names]
            if key not in ("use_columns", "sensitive_zeros") and len(set(keys)) < len(keys):
                self.problems.append(f"{key} must name each column once.")
        self._find_subject()
        wanted = {matching_name(name) for name in given.use_columns}
        for position, header in enumerate(self.headers):
            if matching_name(header) != self.subject_key and (not wanted or matching_name(header) in wanted):
                self.used.append(position)
                if not header:
                    self.problems.append(
                        f"Column {position + 1} of the input has no name: name it in the file, "
                        "or list the columns to use in use_columns."
                    )

    def _shown(self, key: str) -> str:
        """A column as a message may show it: by name where the contract has it, else by position."""
        described = self.contract.column(key) if self.contract else None
        return repr(described.name) if described else f"the name of column {self.positions[key] + 1}"

    def _find_subject(self) -> None:
        promised = self.contract.subject_id if self.contract else None
        given = self.declared.subject_id
        if given is not None and promised is not None and matching_name(given) != matching_name(promised):
            self.problems.append(
                f"subject_id is {given!r} in the configuration and {promised!r} in the contract; keep one."
            )
        name = given if given is not None else promised
        if name is None:
            return
        self.subject_key = matching_name(name)
        if self.subject_key in self.positions:
            self.subject = self.headers[self.positions[self.subject_key]]
        elif given is None:
            self.problems.append(f"The contract's subject id {name!r} is not a column of the input.")
        for key in (
            "multi_value_columns",
            "sensitive_zeros",
            "bins",
            "domains",
            "max_items",
            "decimal",
            "thousands",
            "negative",
            "strip",
            "missing_values",
            "date_formats",
            "cut",
        ):
            if self.subject_key in map(matching_name, getattr(self.declared, key)):
                self.problems.append(
                    f"{key} names the subject id {name!r}, which is never an attribute; remove it."
                )

    def compare_with_contract(self) -> None:
        """The file's columns must be the contract's, or those of them that are used."""
        if self.contract is None:
            return
        wanted = {matching_name(name) for name in self.declared.use_columns}
        absent = [
            column.name
            for column in self.contract.columns
            if (key := matching_name(column.name)) not in self.positions and (not wanted or key in wanted)
        ]
        if absent:
            which = f"the column {absent[0]!r}" if len(absent) == 1 else f"the columns {some_of(absent, 40)}"
            self.problems.append(
                f"The contract describes {which}, which the input does not have: "
                "correct the name there, take it out, or list the columns to use in use_columns."
            )
        headers = [(position + 1, self.headers[position]) for position in self.used]
        strange = [place for place, header in headers if header and self.contract.column(header) is None]
        if strange:
            shown = ", ".join(map(str, strange))
            which = (
                f"Column {shown} of the input is"
                if len(strange) == 1
                else f"Columns {shown} of the input are"
            )
            self.problems.append(
                f"{which} not in the contract: describe what is missing there, "
                "or list the columns to use in use_columns."
            )
