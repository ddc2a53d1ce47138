"""A text file's delimiter, where nobody declares it: found out from its first records.

A path goes in, an `InputFile` comes out. This looks at cells, so only commands that read the table anyway
use it, and never a run, whose dialect is declared.
"""

import csv
import io
from pathlib import Path

from tasks.core.records.columns import Encoding
from tasks.core.records.reading import InputFile

_DELIMITERS = (",", "\t", ";", "|")
_SNIFFED_BYTES, _SNIFFED_RECORDS = 2**18, 20


def find_dialect(path: Path, encoding: Encoding = "utf-8") -> InputFile:
    """The file with its dialect. Whether it can be read is found out by reading its header.

    Raises:
        InputError: there is no such file, or it can't be opened.
    """
    source = InputFile(path, encoding=encoding)
    if source.is_parquet or source.delimiter == "\t":
        return source
    try:
        start = source.text().read(_SNIFFED_BYTES)
    except (OSError, UnicodeDecodeError):
        return source  # the header says what is wrong
    return source.with_delimiter(_delimiter(start.decode("utf-8", errors="replace")))


def _delimiter(start: str) -> str:
    """What splits the first records into the same number of cells, the most; a comma if nothing does."""
    most, best = 1, ","
    for delimiter in _DELIMITERS:
        try:
            records = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)
            widths = [
                len(record) for record, _ in zip(records, range(_SNIFFED_RECORDS), strict=False) if record
            ]
        except csv.Error:
            continue
        agreeing = widths[:-1] if len(start) >= _SNIFFED_BYTES else widths  # the last may be cut
        if agreeing and agreeing[0] > most and len(set(agreeing)) == 1:
            most, best = agreeing[0], delimiter
    if most > 1:
        return best
    header = start.partition("\n")[0]
    return max(_DELIMITERS, key=header.count)  # records that differ are told by reading them
