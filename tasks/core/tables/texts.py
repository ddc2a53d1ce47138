"""Cells that are texts as cells of a type: a declared one, or the one that all of them have.

In: an Arrow array of distinct texts. Out: an array as long, of the type; null where a text is empty or, of a
declared type, can't be read as it (X1.2).

Integers beyond 64 bits become decimals of 38 digits. A number that begins with a needless zero is a code:
where no type is declared it stays a text.
"""

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.tables.number_format import PLAIN, NumberFormat, without_limits
from tasks.core.tables.timestamps import parse_timestamps

TypeLetter = Literal["b", "i", "r", "t", "s"]
LETTERS: tuple[TypeLetter, ...] = ("b", "i", "r", "t", "s")
#: What a column declared so holds, in words, and whether an Arrow type is of it.
MEANINGS = {"b": "booleans", "i": "integers", "r": "real numbers", "t": "dates or times"}
ARROW_KINDS = {
    "b": pa.types.is_boolean,
    "i": pa.types.is_integer,
    "r": pa.types.is_floating,
    "t": pa.types.is_temporal,
    "s": pa.types.is_string,
}

# No arrays, which would load pandas at import.
_TRUE, _FALSE = ("1", "t", "true"), ("0", "f", "false")
_INTEGER = r"^[+-]?[0-9]+$"
_SHORT_INTEGER = r"^[+-]?0*[0-9]{1,18}$"
_LONG_INTEGER = r"^[+-]?0*[0-9]{1,38}$"
_REAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_GROUPED_REAL = r"^[+-]?([0-9]{1,3}(,[0-9]{3})+\.?[0-9]*|[0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_INFINITE = r"^\s*[+-]?(?i:inf|infinity)\s*$"
_CODE = r"^[+-]?0[0-9]"


def type_letter(kind: pa.DataType) -> TypeLetter:
    """The letter of a column's type; s where none says more."""
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return "i"
    return next((letter for letter in LETTERS if ARROW_KINDS[letter](kind)), "s")


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: pa.DataType) -> bool:
    is_of = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(check(kind) for check in (*is_of, pa.types.is_list_view, pa.types.is_large_list_view))


def parse_as(letter: TypeLetter, texts: pa.Array, number_format: NumberFormat = PLAIN) -> pa.Array:
    """Texts, trimmed, as cells of a declared type; an empty one is null unless the type is text.

    >>> parse_as("b", pa.array(["True", " 0", "perhaps"])).to_pylist()
    [True, False, None]

    Reals in the plain format may have a comma between thousands, as in the reference. A limit (<0.5, 90+) is
    its number.
    """
    trimmed = pc.utf8_trim_whitespace(texts)
    if letter == "s":
        return trimmed
    if letter == "b":
        lower = pc.utf8_lower(trimmed)
        is_true, is_false = (pc.is_in(lower, pa.array(words)) for words in (_TRUE, _FALSE))
        return _null_unless(pc.or_(is_true, is_false), is_true)
    if letter == "t":
        return parse_timestamps(trimmed)
    numbers = without_limits(trimmed) if number_format == PLAIN else number_format.plain_texts(trimmed)
    if letter == "i":
        return _integers(numbers)
    return _reals(numbers, _GROUPED_REAL if number_format == PLAIN else _REAL)


def parse_inferred(texts: pa.Array, number_format: NumberFormat = PLAIN) -> pa.Array:
    """Distinct texts as cells of the first type that all have that aren't empty; an empty one is null.

    In this order: ISO 8601 timestamps, integers, reals (of which NaN and infinite ones are null), true and
    false, texts. A needless zero makes all of them texts, as it is of a code, and so does a limit (90+):

    >>> parse_inferred(pa.array(["34", "", "7"])).to_pylist(), parse_inferred(pa.array(["01067"])).to_pylist()
    ([34, None, 7], ['01067'])
    """
    given = _null_unless(pc.greater(pc.binary_length(texts), 0), texts)
    trimmed = pc.utf8_trim_whitespace(given)
    if given.null_count == len(given):
        return given
    lower = pc.utf8_lower(trimmed)
    is_code = pc.any(pc.match_substring_regex(trimmed, _CODE)).as_py()
    moments = parse_timestamps(trimmed)
    if moments.null_count == given.null_count:
        return moments
    if not is_code:
        integers = _integers(_plain_numbers(trimmed, number_format))
        if integers.null_count == given.null_count:
            return integers
        finite = _null_unless(pc.invert(pc.or_(pc.equal(lower, "nan"), is_infinite(trimmed))), trimmed)
        reals = _reals(_plain_numbers(finite, number_format), _REAL)
        if finite.null_count < len(given) and reals.null_count == finite.null_count:
            return reals
    is_true, is_false = pc.equal(lower, "true"), pc.equal(lower, "false")
    return is_true if pc.all(pc.or_(is_true, is_false)).as_py() else given


def is_infinite(texts: pa.Array) -> pa.Array:
    """Which texts say that a number is infinite, blanks aside: no cell can hold one."""
    return pc.match_substring_regex(texts, _INFINITE)


def _plain_numbers(texts: pa.Array, number_format: NumberFormat) -> pa.Array:
    """Numbers of another format in the plain one, other texts and limits null; texts of the plain one."""
    if number_format == PLAIN:
        return texts
    return number_format.plain_texts(_null_unless(pc.equal(without_limits(texts), texts), texts))


def parse_each_way(texts: pa.Array) -> list[pa.Array]:
    """What each of the texts, trimmed, says by itself, whatever the others are: arrays as long as they.

    Truth values, moments, reals and integers, each null where a text is none; of a text that is several, the
    last says it.
    """
    lower = pc.utf8_lower(texts)
    is_true, is_false = pc.equal(lower, "true"), pc.equal(lower, "false")
    truth = _null_unless(pc.or_(is_true, is_false), is_true)
    return [truth, parse_timestamps(texts), _reals(texts, _REAL), _integers(texts)]


def _integers(texts: pa.Array) -> pa.Array:
    """Whole numbers as int64 or, where one needs it, as decimals; null for other texts."""
    bare = pc.replace_substring_regex(
        _null_unless(pc.match_substring_regex(texts, _INTEGER), texts), r"^\+", ""
    )
    short = _null_unless(pc.match_substring_regex(bare, _SHORT_INTEGER), bare)
    if short.null_count == bare.null_count:
        return short.cast(pa.int64())
    long = _null_unless(pc.match_substring_regex(bare, _LONG_INTEGER), bare)
    numbers = pc.replace_substring_regex(long, r"^(-?)0+([0-9])", r"\1\2").cast(pa.decimal128(38, 0))
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:
        return numbers


def _reals(texts: pa.Array, pattern: str) -> pa.Array:
    """Numbers without their thousands separators; null for other texts and what no float holds."""
    numbers = _null_unless(pc.match_substring_regex(texts, pattern), texts)
    reals = pc.replace_substring(numbers, ",", "").cast(pa.float64())
    return _null_unless(pc.less_equal(pc.abs(reals), np.finfo(np.float64).max), reals)


def _null_unless(condition: pa.Array, values: pa.Array) -> pa.Array:
    return pc.if_else(condition, values, pa.scalar(None, values.type))
