"""A run of SynDiffix before a row is read: its columns, and what the person who runs it is told."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import pyarrow as pa

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import declarations
from tasks.configuration.protections import SynDiffix
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.public_schema import DeclaredColumn
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.ledger.tables import PublicTable
from tasks.core.records.cell_reading import WHOLE
from tasks.core.sentences import sentences_of
from tasks.core.syndiffix.clusters import respell_columns
from tasks.core.syndiffix.reading import ChosenColumn
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    FlatteningInterval,
    SuppressionParameters,
    with_ids,
)
from tasks.core.tables.column_names import matching_name
from tasks.core.tables.header import InputFile
from tasks.core.tables.texts import type_letter

#: What whoever synthesizes a table is told, by the flow and by the command alike.
NOTES = sentences_of("syndiffix_notes")


@dataclass(frozen=True)
class Selection:
    """What of a table is synthesized."""

    columns: tuple[str, ...]
    ids: tuple[str, ...]  # headers of the id columns; none: each row is an entity of its own
    table: tuple[ChosenColumn, ...]  # all with a name but the ids, with a type where one is declared
    settings: SynDiffix
    questions: tuple[tuple[str, ...], ...]  # sets of columns that each get a table of their own


def select_columns(
    configuration: RunConfiguration, source: InputFile, contract: Contract | None
) -> Selection:
    """Match what is declared with the header: trimmed, and without regard to upper and lower case.

    Whose row it is, the contract may say where the configuration does not.
    """
    header = source.headers.texts
    names = [name for name in header if name]
    match = _Matching(header)
    promised = (contract.subject_id,) if contract and contract.subject_id else ()
    ids = match.all("subject_id", configuration.ids or promised)
    used = match.all("syndiffix.columns (or use_columns)", configuration.input.use_columns)
    settings = _with_exact_names(configuration.syndiffix, match)
    match.refuse()
    columns = used or tuple(name for name in names if name not in ids)
    match.problems += _overlaps(columns, ids, configuration.input.bins, settings)
    match.refuse()
    with_ids(settings.parameters().clustering, columns)
    table = tuple(_chosen(configuration, contract, name, settings) for name in names if name not in ids)
    return Selection(columns, ids, table, settings, questions(settings, columns))


def questions(settings: SynDiffix, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The column sets that each get a table of their own, each in the columns' order."""
    if settings.tables == "pairs":
        return tuple(combinations(columns, 2))
    sets: list[tuple[str, ...]] = []
    problems: list[str] = []
    for number, names in enumerate(settings.tables, start=1):
        unknown = sorted(set(names) - set(columns))
        if unknown:
            problems.append(
                f"syndiffix.tables: set {number} must name columns that are synthesized, and "
                f"{', '.join(map(repr, unknown))} is not among them: correct the name."
            )
        if len(set(names)) < len(names):
            problems.append(
                f"syndiffix.tables: set {number} must name each column once: remove what repeats."
            )
        sets.append(tuple(column for column in columns if column in names))
    if len(set(sets)) < len(sets):
        problems.append("syndiffix.tables must hold each set of columns once: remove what repeats.")
    if problems:
        raise ParameterError(problems)
    return tuple(sets)


def synthesized_table(source: InputFile, selection: Selection, pattern: Path | None) -> PublicTable:
    """What a second salt for the same table is noticed by."""
    return PublicTable(Path(source.path), tuple(source.headers.texts), selection.columns, pattern)


def _chosen(
    configuration: RunConfiguration, contract: Contract | None, name: str, settings: SynDiffix
) -> ChosenColumn:
    """As the configuration or the contract declares it; marks of numbers in typed cells are not looked at."""
    given = declarations(configuration).of(name).model_copy(update={"bins": None})
    declared = DeclaredColumn(name, given, contract.column(name) if contract else None)
    reading = declared.reading
    if reading.cut != WHOLE:  # numbers come out as numbers
        reading = replace(reading, whole="")
    return ChosenColumn(name, settings.types.get(name), declared.number_format, reading)


class _Matching:
    def __init__(self, header: Sequence[str]) -> None:
        self._names = {matching_name(name): name for name in header if name}
        self._header = header
        self.problems: list[str] = []

    def all(self, key: str, declared: Sequence[str]) -> tuple[str, ...]:
        names = tuple(self.one(key, name) for name in declared)
        if len(set(names)) < len(names):
            self.problems.append(f"{key} must name each column once: remove what repeats.")
        return names

    def known(self, declared: str) -> str:
        """The header's spelling; the name itself where the header does not have it."""
        return self._names.get(matching_name(declared), declared)

    def one(self, key: str, declared: str) -> str:
        """The same, and a problem where the header does not have it."""
        if matching_name(declared) not in self._names:
            meant = did_you_mean(matching_name(declared), self._names, self._shown)
            self.problems.append(
                f"{key} names {declared!r}, which is not a column of the input: {meant or 'correct it.'}"
            )
        return self.known(declared)

    def _shown(self, matched: str) -> str:
        """By position: a name that nobody declared is told to nobody."""
        return f"the name of column {self._header.index(self._names[matched]) + 1}"

    def refuse(self) -> None:
        if self.problems:
            raise ParameterError(list(dict.fromkeys(self.problems)))


def _with_exact_names(settings: SynDiffix, match: _Matching) -> SynDiffix:
    def exact(key: str) -> Callable[[str], str]:
        return lambda name: match.one(f"syndiffix.{key}", name)

    update: dict[str, object] = {
        key: tuple(map(exact(key), getattr(settings, key)))
        for key in ("value_safe_columns", "main_features", "further_ids")
    }
    if settings.main_column is not None:
        update["main_column"] = exact("main_column")(settings.main_column)
    update["clustering"] = respell_columns(settings.clustering, exact("clustering"))
    # Among the columns that are used, so a name that is not there was told of.
    update["types"] = {match.known(name): letter for name, letter in settings.types.items()}
    if settings.tables != "pairs":
        update["tables"] = tuple(tuple(map(exact("tables"), names)) for names in settings.tables)
    return settings.model_copy(update=update)


def _overlaps(
    columns: Sequence[str], ids: Sequence[str], bins: Mapping[str, object], settings: SynDiffix
) -> list[str]:
    problems = []
    if not columns:
        problems.append("syndiffix.columns must leave a column to synthesize beside the ids: name one.")
    for name in sorted(set(columns) & set(ids)):
        problems.append(f"{name!r} says whose row it is and can't be synthesized: name it once.")
    known = set(map(matching_name, columns))
    for key, names in (("syndiffix.value_safe_columns", settings.value_safe_columns), ("bins", bins)):
        for name in names:
            if matching_name(name) not in known:
                problems.append(f"{key} names {name!r}, which is not synthesized: remove it, or select it.")
    return problems


def weaker_protection_notes(
    anonymization: AnonymizationParameters, value_safe: Collection[str], safe_told: str
) -> list[str]:
    """What protects less than usual, a sentence each.

    Args:
        value_safe: headers of columns whose values are public; `safe_told` is these as they may be told.
    """
    low, usual = anonymization.low_count_params, SuppressionParameters()
    interval, size = FlatteningInterval(), anonymization.layer_noise_sd
    weaknesses = []
    if not size:
        weaknesses.append(NOTES.say("weakened.no_noise"))
    elif size < AnonymizationParameters.layer_noise_sd:
        weaknesses.append(NOTES.say("weakened.less_noise", size=f"{size:g}"))
    if low.low_threshold < usual.low_threshold or low.mean < usual.mean:
        weaknesses.append(NOTES.say("weakened.groups", least=str(low.low_threshold), mean=f"{low.mean:g}"))
    if low.layer_sd < usual.layer_sd:
        weaknesses.append(NOTES.say("weakened.thresholds", size=f"{low.layer_sd:g}"))
    for group in ("outlier_count", "top_count"):
        chosen: FlatteningInterval = getattr(anonymization, group)
        if chosen.lower < interval.lower or chosen.upper < interval.upper:
            weaknesses.append(
                NOTES.say(f"flattened.{group}", lower=str(chosen.lower), upper=str(chosen.upper))
            )
    if value_safe:
        weaknesses.append(NOTES.say("weakened.value_safe", columns=safe_told))
    return [NOTES.say("weakened.told", what=weakness) for weakness in weaknesses]


def missing_id_notes(ids: pa.Table) -> list[str]:
    """That some rows have no id in one of these columns."""
    gaps = [name for name in ids.column_names if ids[name].null_count]
    columns = f" {NOTES.say('or_no')} ".join(gaps)
    return [NOTES.say("without_ids", columns=columns)] if gaps else []


def inferred_type_notes(columns: Sequence[ChosenColumn], schema: pa.Schema) -> list[str]:
    """Types that were found out, in a line; a text may have been meant for something else."""
    inferred = [
        f"{column.name}:{type_letter(schema.field(column.name).type)}"
        for column in columns
        if not column.letter
    ]
    if not inferred:
        return []
    note = NOTES.say("types.inferred", columns=" ".join(inferred))
    is_text = any(column.endswith(":s") for column in inferred)
    return [f"{note} {NOTES.say('types.remedy')}" if is_text else note]


def left_out_note(named: Sequence[str], number: int, target: str) -> str:
    """Which columns are not synthesized as they do not help to predict the target; `named` may be told."""
    unnamed = NOTES.say("left_out.unnamed", number=str(number))
    columns = ", ".join(named) if len(named) == number else unnamed
    return NOTES.say("left_out.told", target=repr(target), columns=columns)
