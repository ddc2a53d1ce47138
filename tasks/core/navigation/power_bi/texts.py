"""Texts of M and DAX: a template's name and what stands in it go in, the filled text comes out.

Headers and values come from the table's owner, so every one of them passes `m_text` or `dax_text`.
"""

import json
import string
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_TEMPLATES = Path(__file__).parent / "templates"
#: Indentation of a list's further lines.
_INDENT = " " * 8


def filled_text(name: str, **values: str) -> str:
    """The text of a template, with ``$name`` replaced by each value.

    Raises:
        KeyError: a value is missing.
    """
    return string.Template(read_template(name)).substitute(values)


def read_template(name: str) -> str:
    """The text of a template, without the line's end after it."""
    return (_TEMPLATES / name).read_text(encoding="utf-8").removesuffix("\n")


def json_template(name: str) -> Any:
    """A template that is JSON."""
    return json.loads(read_template(name))


def filled_json(template: Any, **values: Any) -> Any:
    """JSON in which each text ``$name`` is replaced by a value, whatever its type."""
    if isinstance(template, dict):
        return {key: filled_json(value, **values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled_json(value, **values) for value in template]
    if isinstance(template, str) and template.startswith("$"):
        return values[template[1:]]
    return template


def m_text(text: str) -> str:
    r"""A text as M writes it: quotation marks doubled, and nothing in it is taken for an escape.

    >>> print(m_text('in "Lyon" now'), m_text("tab: \t, escape: #(tab)"))
    "in ""Lyon"" now" "tab: #(0009), escape: #(#)(tab)"
    """
    plain = text.replace('"', '""').replace("#(", "#(#)(")
    return '"' + "".join(each if _is_plain(each) else f"#({ord(each):04X})" for each in plain) + '"'


def m_list(texts: Iterable[str]) -> str:
    """A list of texts as M writes it."""
    return "{" + ", ".join(m_text(text) for text in texts) + "}"


def m_rows(rows: Iterable[str]) -> str:
    """Several rows of a table, a line each."""
    return f",\n{_INDENT}".join(rows)


def dax_table(name: str) -> str:
    """A table's name as DAX writes it."""
    return "'" + name.replace("'", "''") + "'"


def dax_column(table: str, column: str) -> str:
    """A column as DAX writes it."""
    return f"{dax_table(table)}[{column.replace(']', ']]')}]"


def _is_plain(character: str) -> bool:
    """Whether a character may stand in M's source: those that end a line or are no text may not."""
    return character.isprintable() or character == " "
