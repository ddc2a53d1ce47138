"""A configuration and a contract for a table that was recognised: what ``marginalia init`` writes.

Edges are round numbers, lists are public ones and whole, words for missing values are known ones, and all
other lists stay open (R11). Yet all of it follows from the table, and the configuration says so
(`drafted_from_table`). Neither file holds a rule that next month's table could break: a cell that doesn't fit
is mended by itself.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tasks.core.recognition.init_answers import ProtectionName
from tasks.core.recognition.table import RecognisedTable
from tasks.core.recognition.treatment import Recognised
from tasks.core.records.dropped import TEXT_KINDS
from tasks.core.tables.header import InputFile
from tasks.core.tables.number_format import PLAIN

_PREAMBLE = """\
# Drafted by marginalia init from the file {name!r}. It runs as it is; read it before you share a release:
# - Everything in a contract is public, and this one was drafted by looking at the file: columns, types, edges
#   of bins, formats and words for a missing value are what most rows suggest. Replace those that you would
#   have chosen otherwise. When you have checked that each is publicly known, set drafted_from_table to false
#   in the configuration; until then each release states that they were drafted so.
# - A column without bins and without validValues is open: its values are read off the data, and rare ones are
#   not released. Where you know all values of a column without looking at the data, list them: under
#   differential privacy such a column needs no threshold, and its rare values survive.
"""


@dataclass(frozen=True)
class Answers:
    """What only a person knows; an empty text: not said.

    Attributes:
        subject: the column that says whose row it is; None: each row is protected by itself.
        unit: what a row is called.
        constraints: what holds between columns: properties of the contract's table, and their values.
    """

    subject: str | None
    protection: ProtectionName
    dataset: str
    vintage: str
    epsilon: float = 1.0
    releases: int = 12
    resolution: int = 10
    population: str = ""
    purpose: str = ""
    unit: str = ""
    value_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    constraints: Mapping[str, Sequence[object]] = field(default_factory=dict)
    seems_to_follow: Mapping[str, str] = field(default_factory=dict)


def safe_name(text: str) -> str:
    """A text as a dataset's name.

    >>> safe_name("Besuche 2026/11 (neu)"), safe_name("enquête")
    ('Besuche_2026_11_neu', 'enquete')
    """
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return re.sub(r"[^A-Za-z0-9_-]+", "_", letters).strip("_-")[:60] or "table"


def draft_configuration(
    table: RecognisedTable, answers: Answers, *, input_path: str, contract_path: str, output_dir: str
) -> dict[str, Any]:
    """A flat configuration, see `tasks.configuration.flat_file`.

    Args:
        input_path: of the table, as a run is to find it; it may name the vintage.
        contract_path: where the contract will be, as a run is to find it.
    """
    used = table.used(answers.subject)
    configuration: dict[str, Any] = {"sensitive_microdata_path": input_path}
    configuration |= _dialect(table.source)
    if answers.subject is not None:
        configuration["subject_id"] = answers.subject
    is_part = len(used) + (answers.subject is not None) < len(table.source.headers.names)
    if is_part and answers.protection != "syndiffix":
        configuration["use_columns"] = [column.name for column in used]
    configuration["drafted_from_table"] = True
    configuration["contract"] = contract_path
    if answers.protection == "syndiffix":
        configuration |= _types(used)
    else:
        configuration["contract_mode"] = "repair"
    configuration |= _protection(answers)
    if answers.purpose:
        configuration["purpose"] = answers.purpose
    if answers.unit and answers.subject is None:  # where people have several rows, a record is a person
        configuration["unit"] = answers.unit
    if answers.value_names:
        configuration["value_names"] = {name: dict(named) for name, named in answers.value_names.items()}
    configuration |= {
        "dataset": answers.dataset,
        "vintage": answers.vintage,
        "prefix": answers.dataset,
        "output_dir": output_dir,
    }
    return configuration


def _dialect(source: InputFile) -> dict[str, Any]:
    """How the file is written, where it is not what a run takes it for anyway."""
    if source.is_parquet:
        return {}
    found: dict[str, Any] = {"sensitive_microdata_delimiter": source.delimiter}
    if source.quote != '"':
        found["sensitive_microdata_quote"] = source.quote
    if source.escape != source.quote:
        found["sensitive_microdata_escape"] = source.escape
    if source.skip_lines:
        found["sensitive_microdata_skip_lines"] = source.skip_lines
    if source.encoding != "utf-8":
        found["encoding"] = source.encoding
    if source.header:
        found["sensitive_microdata_header"] = list(source.header)
    return found


def _types(used: list[Recognised]) -> dict[str, Any]:
    """What SynDiffix reads cells as: a word among numbers is then missing, and makes no column of texts."""
    dates = [column for column in used if is_whole_date(column)]
    numbers = [c for c in used if c.treatment.bins is not None and c not in dates]
    texts = [
        c
        for c in used
        if c.treatment.bins is None and c not in dates and not c.kind.startswith(("number", "year"))
    ]
    readings = {column.name: column.treatment.reading for column in used}
    formats = {name: list(each.date_formats) for name, each in readings.items() if each.date_formats}
    found: dict[str, Any] = {"date_formats": formats} if formats else {}
    for key in ("decimal", "thousands", "negative"):
        marks = {column.name: getattr(column.treatment.number_format, key) for column in numbers}
        marks = {name: mark for name, mark in marks.items() if mark != getattr(PLAIN, key)}
        if marks:
            found[key] = marks
    letters = {
        column.name: f":{letter}"
        for letter, columns in (("t", dates), ("r", numbers), ("s", texts))
        for column in columns
    }
    return found | {"syndiffix": {"columns": [c.name + letters.get(c.name, "") for c in used]}}


def is_whole_date(column: Recognised) -> bool:
    """Whether SynDiffix takes the days or moments of a column whole, unless a person says otherwise."""
    reading = column.treatment.reading
    has_days = all("%d" in each for each in reading.date_formats)
    is_cut = reading.is_age or (column.is_said and reading.cut != "day")
    return reading.holds_dates and has_days and not is_cut


def _protection(answers: Answers) -> dict[str, Any]:
    if answers.protection == "syndiffix":
        return {"synthesis_mode": "syndiffix"}
    if answers.protection == "k_anonymity":
        return {
            "dp_aggregates": False,
            "reporting_resolution": answers.resolution,
            "reporting_length": 3,
            "synthesis_mode": "unseeded",
        }
    privacy: dict[str, Any] = {"releases": answers.releases}
    if answers.population:
        privacy["population"] = answers.population
    return {
        "dp_aggregates": True,
        "noise_epsilon": answers.epsilon,
        "delta": 1e-6,
        "privacy": privacy,
        "synthesis_mode": "fitted",
    }


def draft_contract(table: RecognisedTable, answers: Answers) -> str:
    used, name = table.used(answers.subject), answers.dataset
    described: dict[str, Any] = {"name": name}
    if answers.unit:
        whose = f", whose it is says {answers.subject}" if answers.subject else ""
        described["dataGranularityDescription"] = f"A row is a {answers.unit}{whose}."
    subject = {} if answers.subject is None else {"subjectId": answers.subject}
    described |= _custom_properties(subject | dict(answers.constraints))
    properties = [_property(column, answers) for column in used]
    if answers.protection != "syndiffix":
        codes = {(each.column, each.kind) for each in lookalikes(table, answers.subject) if each.is_code}
        broken = {kind for _, kind in codes}
        described |= _identifier_rule([kind for kind in TEXT_KINDS if kind not in broken])
        for column, drafted in zip(used, properties, strict=True):
            if is_searched(column):
                drafted |= _identifier_rule([kind for kind in broken if (column.name, kind) not in codes])
    described["properties"] = properties
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": name,
        "version": "0.1.0",
        "status": "draft",
        "schema": [described],
    }
    body = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None)
    notes = "".join(f"# - {note}\n" for note in _notes(table, answers, used))
    return _PREAMBLE.format(name=table.source.path.name) + notes + body


def _identifier_rule(kinds: list[str]) -> dict[str, Any]:
    rule: dict[str, Any] = {"rule": "noPersonalIdentifiers"}
    if len(kinds) < len(TEXT_KINDS):
        rule["kinds"] = sorted(kinds)
    found = {"type": "custom", "engine": "marginalia", "implementation": rule}
    return {"quality": [found]} if kinds else {}


def _property(column: Recognised, answers: Answers) -> dict[str, Any]:
    treatment, name = column.treatment, column.name
    found: dict[str, Any] = {"name": name}
    reading = treatment.reading
    custom: dict[str, Any] = {"strip": reading.strip, "missingValues": list(reading.missing)}
    if answers.protection == "syndiffix":
        return found | _custom_properties(custom | {"cut": "" if is_whole_date(column) else reading.cut})
    custom |= {"dateFormats": list(reading.date_formats), "cut": reading.cut}
    if treatment.delimiter is not None:
        found |= {"logicalType": "array", "logicalTypeOptions": {"maxItems": treatment.cap}}
        custom["delimiter"] = treatment.delimiter
    if treatment.is_required and answers.protection == "dp":
        found["required"] = True
    if treatment.bins is not None:
        found["logicalType"] = "number"
        limits = {"minimum": treatment.minimum, "maximum": treatment.maximum}
        if limits := {key: limit for key, limit in limits.items() if limit is not None}:
            found["logicalTypeOptions"] = limits
        plain = asdict(PLAIN)
        custom |= {key: at for key, at in asdict(treatment.number_format).items() if at != plain[key]}
        custom["bins"] = list(treatment.bins)
    elif treatment.domain is None:
        custom["zeroIsValue"] = True
    if treatment.domain is not None:
        listed = {"validValues": list(treatment.domain)}
        found["quality"] = [{"metric": "invalidValues", "mustBe": 0, "arguments": listed}]
    custom |= {"seemsToFollow": answers.seems_to_follow.get(name), "other": treatment.other}
    return found | _custom_properties(custom)


def _custom_properties(said: Mapping[str, object]) -> dict[str, Any]:
    """What the standard has no field for; what is empty is not said."""
    found = [{"property": key, "value": value} for key, value in said.items() if value]
    return {"customProperties": found} if found else {}


def _notes(table: RecognisedTable, answers: Answers, used: list[Recognised]) -> Iterator[str]:
    if answers.subject is None:
        yield (
            "No column says whose row it is: a row is protected, not a person. Where somebody may have\n"
            "#   several rows, draft anew with --subject-id COLUMN."
        )
    names = [column.name for column in used]
    left = [c.name for c in table.columns if c.name not in names and c.name != answers.subject]
    if left:
        yield f"Left out: {', '.join(map(repr, left))}."
    if any(column.treatment.is_required for column in used) and answers.protection == "dp":
        yield (
            "A column is required where hardly a cell of the file is empty. In a release a record then has\n"
            "#   a value there, unless it was too rare to be released. An empty cell stops nothing. Take\n"
            "#   required out where an empty cell tells something."
        )
    if any(column.treatment.minimum is not None for column in used):
        yield "A minimum or maximum is what hardly a number lies beyond. One that does counts as empty."


def file_names(dataset: str, folder: Path) -> tuple[Path, Path]:
    return folder / f"{dataset}.json", folder / f"{dataset}_contract.yaml"


#: A value that so many cells hold is nobody's own; where most of what looks so is, it is a code.
_NOBODY_S, _MOSTLY = 10, 0.5


@dataclass(frozen=True)
class Lookalike:
    """Cells of a column that look like identifiers of one kind.

    Attributes:
        kind: of `TEXT_KINDS`.
        cells: how many; sensitive.
        is_code: whether they are codes, so that the rule isn't drafted for them.
    """

    column: str
    kind: str
    cells: int
    is_code: bool


def lookalike_sentences(found: Sequence[Lookalike]) -> Iterator[str]:
    """A sentence on each column, for the terminal of whoever has the table."""
    for is_code, column in dict.fromkeys((each.is_code, each.column) for each in found):
        of_column = [each for each in found if (each.is_code, each.column) == (is_code, column)]
        rule = f"the rule noPersonalIdentifiers ({', '.join(each.kind for each in of_column)})"
        looks = " or ".join(TEXT_KINDS[each.kind][0] for each in of_column)
        if is_code:
            yield (
                f"LOOK: {column!r} holds codes that look like {looks}, each in many rows. They are kept, and "
                f"{rule} is not drafted for this column. If they are people's, leave it out: --column "
                f"{column!r}=skip."
            )
        else:
            cells = max(each.cells for each in of_column)
            yield f"ATTENTION: {rule} empties what looks like {looks} in {column!r}: {cells:,} of its cells."


def lookalikes(table: RecognisedTable, subject: str | None) -> list[Lookalike]:
    """What looks like an identifier in the open columns of the release, as a run reads their cells."""
    found = []
    for column in filter(is_searched, table.used(subject)):
        cells, delimiter = table.cells_of(column).read(column.treatment.reading), column.treatment.delimiter
        items = [text.split(delimiter) if delimiter else [text] for text in cells.texts]
        for kind, (_, patterns) in TEXT_KINDS.items():
            search = re.compile("|".join(patterns)).search
            looks = np.array([any(search(item.strip()) for item in each) for each in items], np.bool_)
            if looks.any():
                often = cells.share(looks & (cells.held >= _NOBODY_S)) > _MOSTLY * cells.share(looks)
                is_code = often and not cells.is_few(looks)
                found.append(Lookalike(column.name, kind, int(cells.held[looks].sum()), is_code))
    return found


def is_searched(column: Recognised) -> bool:
    """Whether the rule is tried on a column: its values are neither listed nor binned."""
    return column.treatment.bins is None and column.treatment.domain is None
