"""How a table becomes what is counted, in words and by column: the public schema goes in, both come out.

Every statement has it, as each other sentence of one is about records prepared in this way.
"""

from collections.abc import Collection

from tasks.core.arrays import Json
from tasks.core.records.cell_reading import CUTS, WHOLE, CellReading
from tasks.core.records.columns import Column, Schema
from tasks.core.sentences import sentences_of
from tasks.core.tables.number_format import PLAIN

_TEXT = sentences_of("all_protections")


def preparation_paragraph(schema: Schema, contract_mode: str = "none", filled: Collection[int] = ()) -> str:
    """What of a table is counted at all.

    Args:
        contract_mode: ``repair`` where cells that broke a data contract were blanked.
        filled: columns in which an empty cell counts as the value for what is outside.
    """
    columns = schema.columns
    rules = [_TEXT.say("preparation.rule.trimmed")]
    if not all(column.keeps_zero for column in columns):
        rules.append(_TEXT.say("preparation.rule.zero"))
    if any(column.bins for column in columns):
        rules.append(_TEXT.say("preparation.rule.bins"))
    rules += [sentence for column in columns for sentence in _read(column)]
    if any(column.number_format != PLAIN for column in columns):
        rules.append(_TEXT.say("preparation.rule.number_format"))
    if any(column.domain is not None and not column.bins for column in columns):
        rules.append(_TEXT.say("preparation.rule.domain"))
    rules += [_outside(column, place in filled) for place, column in enumerate(columns) if column.other]
    if any(column.is_multi_valued and column.max_items for column in columns):
        rules.append(_TEXT.say("preparation.rule.cap"))
    if contract_mode == "repair":
        rules.append(_TEXT.say("preparation.rule.repaired"))
    if schema.constraints:
        rules.append(_TEXT.say("preparation.rule.constraints"))
    if schema.derivations:
        names = ", ".join(repr(columns[derivation.column].name) for derivation in schema.derivations)
        rules.append(_TEXT.say("preparation.rule.derived", columns=names))
    return _TEXT.say("preparation.paragraph", rules=" ".join(rules))


def column_json(column: Column) -> Json:
    """What of the public schema a promise rests on, for one column."""
    return {
        "name": column.name,
        "domain": "open" if column.is_open else "declared",
        "domain_size": None if column.domain is None else len(column.domain),
        "bins": None if column.bins is None else list(column.bins),
        "max_items": column.max_items or None,
        "zero_is_value": column.keeps_zero,
    }


def _read(column: Column) -> list[str]:
    reading, name = column.reading, repr(column.name)
    rules = []
    if reading.missing:
        words = ", ".join(map(repr, reading.missing))
        rules.append(_TEXT.say("preparation.rule.read.missing", column=name, words=words))
    if reading.strip:
        rules.append(_TEXT.say("preparation.rule.read.strip", column=name, characters=repr(reading.strip)))
    if reading.holds_dates:
        rules.append(_TEXT.say("preparation.rule.read.dates", column=name, kept=_kept(reading)))
    elif reading.cut == WHOLE:
        rules.append(_TEXT.say("preparation.rule.read.whole", column=name))
    elif reading.cut:
        rules.append(_TEXT.say("preparation.rule.read.cut", column=name, length=reading.cut))
    return rules


def _kept(reading: CellReading) -> str:
    if reading.cut in CUTS:
        return _TEXT.say("preparation.kept.part", part=reading.cut)
    day = reading.cut.removeprefix("age on ")
    return _TEXT.say("preparation.kept.age", day=day) if day else _TEXT.say("preparation.kept.all")


def _outside(column: Column, is_filled: bool) -> str:
    other = "and_empty" if is_filled else "alone"
    return _TEXT.say(f"preparation.rule.other.{other}", column=repr(column.name), value=repr(column.other))
