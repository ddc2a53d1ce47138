"""The public schema of a table, from its header, the configuration and the contract.

Header names in file order, declarations and perhaps a data contract go in; the `Schema` comes out, or
every problem at once. No value of the table is read, so a refusal here tells nothing about anybody.

Thousands of different numbers make thousands of rare values, so such a column needs public bins (or a
declared domain). Under differential privacy whether a run stops must not depend on the values (R2): only a
column that the contract calls ``integer`` or ``number`` is refused without. Any other is taken as text,
whatever its type in a file, and its rare values don't pass the threshold. Under k-anonymity none is refused:
each number is a value of its own, as in SDS. `numbers_without_bins` names those that would better be binned.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import Contract, ContractColumn, Forbidden
from tasks.core.contracts.declaration import ColumnDeclaration, Declarations
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean, list_some
from tasks.core.records.cell_reading import WHOLE, CellReading, has_empty_fraction
from tasks.core.records.columns import (
    Column,
    Schema,
    bin_problems,
    declared_values,
    domain_problems,
    limit_problems,
)
from tasks.core.tables.column_names import column_name, matching_name
from tasks.core.tables.number_format import PLAIN, NumberFormat


def build_schema(
    headers: Sequence[str],
    declarations: Declarations,
    contract: Contract | None = None,
    *,
    cap_required: bool,
    constrained: bool = False,
) -> Schema:
    """The public schema.

    Args:
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
        DeclaredColumn(header, declarations.of(header), contract.column(header) if contract else None)
        for header in (names.headers[position] for position in names.used)
    ]
    problems = [problem for column in declared for problem in column.problems()]
    if cap_required and (unbinned := [column.name for column in declared if column.needs_bins]):
        problems.append(_bins_problem(unbinned))
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
    def __init__(self, headers: Sequence[str], declarations: Declarations, contract: Contract | None) -> None:
        self.headers = [column_name(header) for header in headers]
        self.declared = declarations
        self.contract = contract
        self.problems: list[str] = []
        self.positions: dict[str, int] = {}
        self.used: list[int] = []
        self.subject: str | None = None

    def match(self) -> None:
        for position, header in enumerate(self.headers, start=1):
            earlier = self.positions.setdefault(matching_name(header), position - 1) + 1
            if header and earlier != position:
                self.problems.append(
                    f"Columns {earlier} and {position} of the input have the same name; rename one."
                )
        given = self.declared
        named = {
            "use_columns": given.use_columns,
            **given.written,
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
        subject = self._find_subject()
        wanted = {matching_name(name) for name in given.use_columns}
        for position, header in enumerate(self.headers):
            if matching_name(header) != subject and (not wanted or matching_name(header) in wanted):
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

    def _find_subject(self) -> str | None:
        """The subject id as names are compared."""
        promised = self.contract.subject_id if self.contract else None
        given = self.declared.subject_id
        if given is not None and promised is not None and matching_name(given) != matching_name(promised):
            self.problems.append(
                f"subject_id is {given!r} in the configuration and {promised!r} in the contract; keep one."
            )
        name = given if given is not None else promised
        if name is None:
            return None
        subject = matching_name(name)
        if subject in self.positions:
            self.subject = self.headers[self.positions[subject]]
        elif given is None:
            self.problems.append(f"The contract's subject id {name!r} is not a column of the input.")
        for key, names in self.declared.written.items():
            if subject in map(matching_name, names):
                self.problems.append(
                    f"{key} names the subject id {name!r}, which is never an attribute; remove it."
                )
        return subject

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
            columns = "column" if len(absent) == 1 else "columns"
            self.problems.append(
                f"The contract describes the {columns} {list_some(absent, 40)}, which the input does not "
                "have: correct the name there, take it out, or list the columns to use in use_columns."
            )
        headers = [(position + 1, self.headers[position]) for position in self.used]
        strange = [str(place) for place, name in headers if name and self.contract.column(name) is None]
        if strange:
            columns, are = ("Column", "is") if len(strange) == 1 else ("Columns", "are")
            self.problems.append(
                f"{columns} {', '.join(strange)} of the input {are} not in the contract: describe what is "
                "missing there, or list the columns to use in use_columns."
            )


#: Items of one subject in a multi-valued column for which nobody declares a cap (R12).
DEFAULT_MAX_ITEMS = 8


class DeclaredColumn:
    """One column's declarations, before they are known to agree."""

    def __init__(self, name: str, given: ColumnDeclaration, promised: ContractColumn | None) -> None:
        """Args: given: the configuration's. promised: the contract's; None: it does not describe it."""
        self.name, self.given, self.described = name, given, promised is not None
        self.promised = promised or ContractColumn(name=name)
        self.merged = given.over(ColumnDeclaration.of(self.promised))

    @property
    def number_format(self) -> NumberFormat:
        merged = self.merged
        return NumberFormat(merged.decimal or PLAIN.decimal, merged.thousands or "", merged.negative or "")

    @property
    def reading(self) -> CellReading:
        return CellReading(
            strip=self.merged.strip or "",
            missing=self.merged.missing_values or (),
            date_formats=self.merged.date_formats or (),
            cut=self.merged.cut or "",
            whole=self.number_format.decimal if self._holds_whole_numbers else "",
        )

    @property
    def _holds_whole_numbers(self) -> bool:
        if self.merged.bins is not None or self.merged.date_formats:
            return False
        if self.merged.cut == WHOLE:
            return True
        listed = self.merged.domain or ()
        if any(has_empty_fraction(value, self.number_format.decimal) for value in listed):
            return False
        is_number = self.promised.is_numeric or self.promised.logical_type == "boolean"
        return is_number or any(re.fullmatch("-?[0-9]+", value) for value in listed)

    def problems(self) -> list[str]:
        subject, given, merged = f"Column {self.name!r}", self.given, self.merged
        of_values = [
            *(bin_problems(given.bins) if given.bins is not None else []),
            *(domain_problems(given.domain) if given.domain is not None else []),
        ] or limit_problems(merged.bins, self.promised.minimum, self.promised.maximum)
        problems = [f"{subject}: {problem}" for problem in (*of_values, *self.reading.problems)]
        differing = given.differing(ColumnDeclaration.of(self.promised))
        if given.delimiter is not None and self.described and self.promised.delimiter is None:
            differing.append("multi_value_columns")
        problems += [
            f"{subject} is declared otherwise in {key} than in the contract; keep one." for key in differing
        ]
        if merged.bins is not None and merged.domain is not None:
            problems.append(f"{subject} has both bins and a domain; keep one.")
        if merged.bins is not None and merged.delimiter is not None:
            problems.append(f"{subject} is multi-valued and can't be binned; remove its bins.")
        if given.max_items is not None and merged.delimiter is None:
            problems.append(
                f"{subject} is named in max_items, but is not in multi_value_columns; add it there."
            )
        return problems

    @property
    def needs_bins(self) -> bool:
        return self.merged.bins is None and self.merged.domain is None and self.promised.is_numeric

    def column(self, searched: Sequence[Forbidden], *, cap_required: bool) -> Column:
        """The column, once its declarations agree.

        Args:
            cap_required: whether a multi-valued column without a declared cap gets the default one.
        """
        promised, merged = self.promised, self.merged
        limits = promised.minimum, promised.maximum
        domain = declared_values(merged.domain, merged.bins, *limits, promised.other)
        patterns = tuple(pattern for rule in searched for pattern in rule.patterns)
        cap = 1
        if merged.delimiter is not None:
            cap = merged.max_items or (DEFAULT_MAX_ITEMS if cap_required else 0)
            cap = cap if domain is None else min(cap, len(domain))
        # The schema names a release, so a format that no number is read by stays out of it.
        reads_numbers = merged.delimiter is None and (merged.bins is not None or promised.is_numeric)
        return Column(
            name=self.name,
            domain=domain,
            bins=merged.bins,
            delimiter=merged.delimiter,
            max_items=cap,
            zero_is_value=bool(merged.zero_is_value) or "0" in (domain or ()),
            other=promised.other if domain is not None else None,
            value_format=promised.value_format,
            forbidden=patterns if domain is None else (),
            number_format=self.number_format if reads_numbers else PLAIN,
            reading=self.reading,
            minimum=promised.minimum,
            maximum=promised.maximum,
            required=promised.max_empty_percent == 0,
        )


def _bins_problem(names: Sequence[str]) -> str:
    example = '"' + names[0].replace('"', '\\"') + '"'
    need, their = f"Column {names[0]!r} holds numbers and needs public bins", "its"
    if len(names) > 1:
        need = f"{len(names)} columns hold numbers and need public bins: {list_some(names, 40)}"
        their = "their"
    return (
        f'{need}: give their edges in bins (such as "bins": {{{example}: [0, 10, 20]}}), or {their} values '
        "in domains."
    )


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
            if any(re.search(pattern, item) for item in column.domain or ()):
                problems.append(
                    f"Column {column.name!r} has an item that is published under the same header as the "
                    f"column {rival.name!r}; rename one."
                )
            elif column.domain is None and under_dp:
                column = replace(column, forbidden=(*column.forbidden, pattern))
        result.append(column)
    return result, problems


def _escaped(text: str) -> str:
    return re.sub(r"([^\w\s])", r"\\\1", text)
