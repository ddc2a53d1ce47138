"""What is publicly known of a run: every problem with it is found here, before the ledger is asked."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tasks.configuration.model import LARGEST_RESOLUTION, UNDATED, RunConfiguration
from tasks.configuration.parameters import declarations, drawn_parameters, held_schema, reporting_length
from tasks.configuration.sections import utility_problems
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.odcs import load_contract
from tasks.core.contracts.public_schema import build_schema, numbers_without_bins
from tasks.core.dp.budget import AnyParameters
from tasks.core.dp.claim_limits import cautions
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean, list_some
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.place import is_begun
from tasks.core.records.columns import Schema
from tasks.core.tables.column_names import bare_name, matching_name
from tasks.core.tables.header import Headers, InputFile, header_notes
from tasks.ledger_place import user_ledger_place
from tasks.messages import say, tell
from tasks.plan.input_file import hold_open, input_file, path_pattern, require_arrived, vintage_of
from tasks.plan.resources import cluster_notes, require_engine, require_records_fit
from tasks.plan.syndiffix import NOTES, Selection, select_columns
from tasks.public.bundles import unit_of
from tasks.storage import Workspace


@dataclass(frozen=True)
class RunFacts:
    """The public facts of one run."""

    source: InputFile
    pattern: Path | None  # the path of the files of all vintages; None where it is the same for all
    header: tuple[str, ...]
    contract: Contract | None
    schema: Schema
    selection: Selection | None  # what SynDiffix synthesizes; None under another protection
    reporting_length: int  # at most the schema's width, where that is known; -1: as long as the records are
    parameters: AnyParameters | None  # of the draw; None where nothing is drawn
    vintage: str
    notes: tuple[str, ...]
    closed_notes: tuple[str, ...] = ()  # those of the notes that the terminal alone is told

    @property
    def drawn(self) -> AnyParameters:
        """The parameters, of whoever knows that something is drawn."""
        assert self.parameters is not None, "under k-anonymity nothing is drawn"
        return self.parameters

    @property
    def synthesized(self) -> Selection:
        """The selection, of whoever knows that SynDiffix makes it."""
        assert self.selection is not None, "only SynDiffix selects columns of its own"
        return self.selection


def describe(
    configuration: RunConfiguration, scheduled: str | None = None, headers: Headers | None = None
) -> RunFacts:
    """Read the header and the contract, and settle everything that is public, or refuse the run.

    Args:
        scheduled: the scheduled date of a scheduled run: the vintage where none is configured.
        headers: what is known of the header otherwise: the table is not opened.
    """
    table = configuration.input
    source = input_file(configuration, scheduled)
    source = source if headers is None else source.with_headers(headers)
    require_arrived(configuration, source, scheduled)
    contract = load_contract(Path(table.contract)) if table.contract else None
    headers = source.headers
    _require_split(source, configuration)
    require_engine(configuration)
    protection = configuration.protection
    selection = select_columns(configuration, source, contract) if protection.is_salted else None
    schema = build_schema(
        headers.names,
        declarations(configuration, headers.names),
        contract,
        cap_required=protection.is_drawn_once,
        constrained=configuration.draws_workload,
    )
    held = held_schema(configuration, schema)
    problems = _report_problems(configuration, schema)
    if problems := problems + utility_problems(configuration.evaluate_utility, schema):
        raise ParameterError(problems)
    vintage = vintage_of(configuration, scheduled)
    parameters = drawn_parameters(configuration, schema) if protection.is_drawn_once else None
    notes = (
        *PROTECTION_NOTES[protection.regime](configuration, schema, contract, vintage),
        *header_notes(source),
        *_contract_notes(contract, held),
        *_open_derivation_notes(schema),
        *_mark_notes(configuration, source),
        *notes_on_numbers(configuration, schema, contract),
        *cluster_notes(configuration),
    )
    return RunFacts(
        source=source,
        pattern=path_pattern(configuration),
        header=headers.names,
        contract=contract,
        schema=schema,
        selection=selection,
        reporting_length=reporting_length(configuration, schema),
        parameters=parameters,
        vintage=vintage,
        notes=notes,
        closed_notes=(*header_notes(source), SEED_IS_SHORT),
    )


def tell_notes(described: RunFacts) -> None:
    for sentence in described.notes:
        (say if sentence in described.closed_notes else tell)(sentence)


def has_committed(configuration: RunConfiguration) -> bool:
    """Whether the ledger holds any release of the configured vintage; a ledger that is not there does not."""
    if not configuration.protection.is_drawn_once or not is_begun(user_ledger_place()):
        return False
    ledger = open_ledger(user_ledger_place())
    if not ledger.is_registered(configuration.dataset):
        return False
    return any(
        reservation.phase in ("commit", "drawing")
        and configuration.vintage in (None, reservation.name.vintage)
        for reservation in ledger.account(configuration.dataset).reservations
    )


@contextmanager
def refuse_early(configuration: RunConfiguration) -> Iterator[None]:
    """Refuse before a flow starts what its first look at the header would; the flow then uses that look.

    Under differential privacy a file that can't be read is left to the flow where the ledger holds a release
    of that vintage: it may be the one that is asked for.
    """
    Workspace.of(configuration).require_place()
    require_records_fit(configuration)
    with hold_open(input_file(configuration)):
        try:
            describe(configuration)
        except ParameterError:
            if not has_committed(configuration):
                raise
        yield


#: In a header that is a single column, a sign that the file is split at another character.
_OTHER_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


def _require_split(source: InputFile, configuration: RunConfiguration) -> None:
    """Refuse a text file that its delimiter does not split, by its header alone."""
    names = source.headers.texts
    used = tuple(map(bare_name, configuration.input.use_columns))
    if source.is_parquet or len(names) != 1 or used == names:
        return
    signs = [words for sign, words in _OTHER_DELIMITERS.items() if sign in names[0]]
    if signs:
        raise ParameterError(
            f"The delimiter must split the input's header into columns, but {source.delimiter!r} leaves a "
            f"single column, which holds {signs[0]}. Give the right one as sensitive_microdata_delimiter."
        )


def _report_problems(configuration: RunConfiguration, schema: Schema) -> list[str]:
    """Names in the page's layout that are neither a column that is released nor a chart of its own.

    A list may have been made from the table, so what is wrong is named by its place, the first one of a list.
    """
    report = configuration.report
    columns = {matching_name(column.name) for column in schema.columns}
    problems = []
    for visual, texts in report.visuals.items():
        for number, text in enumerate(texts, start=1):
            starts = [text[:place] for place, sign in enumerate(text) if sign == ":"]
            if not any(_is_column(start, columns, schema) for start in starts):
                problems.append(
                    f"report_visuals: {visual!r} must hold texts such as 'column:value', of columns that are "
                    f"used, but the one at place {number} is none: correct it."
                )
                break
    for page, names in report.pages.items():
        for number, name in enumerate(names, start=1):
            if name not in report.visuals and matching_name(name) not in columns:
                meant = did_you_mean(name, [*report.visuals, *(c.name for c in schema.columns)])
                problems.append(
                    f"report_pages: the name at place {number} of {page!r} is neither one of report_visuals "
                    f"nor a column that is used: {meant or 'correct it.'}"
                )
                break
    for name in report.value_names:
        if matching_name(name) not in columns:
            meant = did_you_mean(name, [column.name for column in schema.columns])
            problems.append(f"value_names: {name!r} is no column that is used: {meant or 'correct it.'}")
    return problems


def _is_column(text: str, columns: Collection[str], schema: Schema) -> bool:
    name = matching_name(text)
    return name in columns or any(
        column.is_multi_valued and name.startswith(f"{matching_name(column.name)}_")
        for column in schema.columns
    )


def _contract_notes(contract: Contract | None, held: Schema) -> list[str]:
    """What the contract says without an effect on the schema that records hold."""
    if contract is None:
        return []
    notes = []
    named = [column.name for column in contract.columns if column.bins and column.zero_is_value is False]
    if named:
        notes.append(
            f"zeroIsValue has no effect on {', '.join(map(repr, named))}: in a column with bins 0 is a "
            "number. Where 0 stands for a missing number, make those cells empty."
        )
    if contract.has_constraints and not held.constraints:
        notes.append(
            "The contract says what holds between columns (structuralZeros and the like). "
            "Only records of synthesis_mode fitted keep to it; here it has no effect."
        )
    return notes


def _open_derivation_notes(schema: Schema) -> tuple[str, ...]:
    """That a column may come out mostly empty, as values that decide it may be too rare to be released."""
    measured = schema.measured.columns
    pairs = [
        (schema.columns[rule.column].name, measured[rule.decided_by].name)
        for rule in schema.derivations
        if rule.decided_by < len(measured) and measured[rule.decided_by].is_open
    ]
    if not pairs:
        return ()
    (decided, by), more = pairs[0], len(pairs) - 1
    others = f" (So do {list_some([name for name, _ in pairs[1:]], 40)} from others.)" if more else ""
    return (
        f"ATTENTION: {decided!r} follows from {by!r}, whose domain is not declared. Values of {by!r} that "
        f"are too rare to be released are left empty, and {decided!r} with them: it may be empty in many "
        f"records. Declare the domain of {by!r}, or drop the dependency: then {decided!r} itself is "
        f"measured.{others}",
    )


def _mark_notes(configuration: RunConfiguration, source: InputFile) -> tuple[str, ...]:
    """A warning where a number is only read whole if it is quoted."""
    table = configuration.input
    keys = [
        key
        for key, marks in (("decimal", table.decimal), ("thousands", table.thousands))
        if source.delimiter in marks.values() and not source.is_parquet
    ]
    note = (
        f"{' and '.join(keys)}: the mark {source.delimiter!r} also separates the cells of the input, so "
        "numbers with that mark must be in quotes there. Programs that write tables do so."
    )
    return (note,) if keys else ()


def counting_notes(configuration: RunConfiguration, schema: Schema) -> list[str]:
    """What is asked for without an effect, where combinations are counted."""
    notes = [*drafted_notes(configuration), *_one_row_notes(schema)]
    known = all(column.max_items for column in schema.columns)
    if known and configuration.reporting_length > schema.width:
        notes.append(
            f"reporting_length {configuration.reporting_length} is more than the number of values that a "
            f"record can hold, {schema.width}: {schema.width} is used, and nothing is spent on the rest."
        )
    return notes + unused_notes(configuration)


def unused_notes(configuration: RunConfiguration) -> list[str]:
    return [
        _WHY_UNUSED.get(key, f"{key} is accepted and has no effect here.")
        for key in configuration.unused_keys
    ]


def _one_row_notes(schema: Schema) -> list[str]:
    """What a count counts where a person may have several rows: said of every table, as it tells of none."""
    if schema.subject_id is None or all(column.is_multi_valued for column in schema.columns):
        return []
    return [
        f"One row counts of each person in {schema.subject_id!r} who has several, chosen by chance: a count "
        "says how many people have a value in that row, not how many ever had it. A column in "
        "multi_value_columns counts the items of all rows, as many as max_items says."
    ]


def drafted_notes(configuration: RunConfiguration) -> list[str]:
    """That what is declared was drafted by looking at the table, where it was."""
    if not configuration.input.drafted_from_table:
        return []
    return [
        "drafted_from_table is true: columns, lists, edges, caps, formats and words were drafted by looking "
        "at the table, so they may tell of single people, and every release says so. Check that each of them "
        "is publicly known, then set it to false."
    ]


_NOT_PRIVATE = (
    "ATTENTION: {} has no effect, as dp_aggregates is not true: this release is not differentially private. "
    "If it should be, set dp_aggregates to true."
)
_WHY_UNUSED = {
    **{key: _NOT_PRIVATE.format(key) for key in ("noise_epsilon", "delta")},
    "cache_max_size": "cache_max_size is accepted and has no effect: rows are found by index, and memory "
    "is bounded by memory_limit_mb.",
}


def _drawing_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
) -> list[str]:
    protection, least = configuration.privacy, contract.min_rows if contract else None
    told = cautions(protection.epsilon, protection.delta, unit_of(schema), least)
    return [
        *_naming_notes(configuration, vintage),
        *([_SKIPS] if configuration.skips_unchanged else []),
        *counting_notes(configuration, schema),
        *(f"ATTENTION: {said}" for said in told),
    ]


_SKIPS = (
    "ATTENTION: on_unchanged is skip. No release is made of a table that is what it was at the last one, so "
    "the dates of the releases, and a missing vintage, tell whether the table changed. No noise hides "
    "that and no budget covers it; every release states it."
)


def _naming_notes(configuration: RunConfiguration, vintage: str) -> list[str]:
    notes = []
    if not configuration.dataset_is_named:
        notes.append(
            f"No dataset is named: the budget is kept under the prefix, {configuration.dataset!r}. "
            "Tables about the same people must share one dataset name."
        )
    if vintage == UNDATED:
        notes.append(
            f"No vintage is given: this release is labelled {UNDATED!r}, and a later run of that label "
            "returns it whatever the table then holds. Give each new release a vintage of its own."
        )
    return notes


#: Of 15 digits; a shorter seed can be found by trying.
_LEAST_SEED = 10**14
SEED_IS_SHORT = (
    "random_seed is short. Somebody who knows most of the records could try seeds until one gives the "
    "released records, and so test a guess of the rest. Give a random number of 15 digits, or none."
)


def notes_on_numbers(configuration: RunConfiguration, schema: Schema, contract: Contract | None) -> list[str]:
    """That rare numbers are lost without bins under k-anonymity, where none need them."""
    is_counted = configuration.protection.regime == "k_anonymity"
    columns = numbers_without_bins(schema, contract) if is_counted else []
    if not columns:
        return []
    names = ", ".join(map(repr, columns))
    return [
        f"Numbers without bins ({names}): each number is a value of its own, and rare ones are not "
        "reported. Public edges in bins would keep more of them."
    ]


def _rounding_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
) -> list[str]:
    notes, resolution, synthesis = [], configuration.reporting_resolution, configuration.synthesis
    if resolution == 1:
        notes.append(
            "ATTENTION: reporting_resolution is 1, which is no protection at all: every combination is "
            "reported with its true count, also that of a single person. Give the least number of people who "
            "must share what is reported, such as 10."
        )
    if resolution >= LARGEST_RESOLUTION:
        notes.append(
            "ATTENTION: reporting_resolution is above the number of records of any table, so nothing can be "
            f"reported. The run takes it as {LARGEST_RESOLUTION}. Give a smaller one, such as 10."
        )
    seed = synthesis.random_seed
    if synthesis.reads_records and seed is not None and seed.get_secret_value() < _LEAST_SEED:
        notes.append(SEED_IS_SHORT)
    if not schema.subject_id:
        notes.append(
            "No subject_id is given, so rows are counted. Where one person has several rows, a group of "
            f"{resolution} rows (reporting_resolution) can be that person alone: give subject_id unless "
            "every row is another person."
        )
    return notes + counting_notes(configuration, schema)


def _tree_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
) -> list[str]:
    notes = [f"{NOTES.say('not_private')}; privacy.json says what protects and what does not."]
    if schema.subject_id is None:
        notes.append(NOTES.say("rows_are_people", key="subject_id"))
    if not configuration.dataset_is_named:
        notes.append(
            f"No dataset is named: its salt is kept under the prefix, {configuration.dataset!r}. Tables "
            "about the same people must share one dataset name, or their noise could be averaged away."
        )
    return notes + drafted_notes(configuration) + unused_notes(configuration)


#: By the name of the regime.
PROTECTION_NOTES: dict[str, Callable[[RunConfiguration, Schema, Contract | None, str], list[str]]] = {
    "differential_privacy": _drawing_notes,
    "k_anonymity": _rounding_notes,
    "syndiffix": _tree_notes,
}
