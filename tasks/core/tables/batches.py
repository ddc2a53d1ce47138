"""The rows of an input file: Arrow batches, one text or typed array per used column; and how many they are.

Delimited text is parsed once, in the declared dialect, every cell as text, with nothing detected and nothing
repaired (R6). Two lines bracket the parse: the first must be the header that `header` saw (where none was
declared in its place), and after the last byte comes a line that the file can't hold, which the parser only
gives back as a row of its own where no quote was left open. No error carries a cell: the parser's own message
holds the line, so it is dropped, the row's position going to the operator.

A Parquet file's footer says how many rows there are; of a text it is guessed, from its size alone or, within
a factor of two, from the lengths of some lines. No cell is kept or compared.
"""

import codecs
import math
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tasks.core.arrays import StageDone
from tasks.core.errors import InputError
from tasks.core.tables.column_names import column_name
from tasks.core.tables.header import InputFile, damaged_archive, undecodable
from tasks.core.tables.source import ReadableBytes, TextBytes
from tasks.core.tables.texts import is_list, is_text

#: Bytes that are parsed at once: the longest record of a delimited file.
_BLOCK_BYTES = 2**24
_PARQUET_BATCH_ROWS = 2**16

_ROW_NUMBER = re.compile(
    r"(?:CSV parse error: |In CSV column #\d+: )(?:CSV conversion error[^:]*: )?Row #(\d+): (Expected)?"
)
_NOT_THE_DIALECT = (
    "Every record of the input must have as many cells as the header, and every quote must be closed; at "
    "least one record is not so. Check the delimiter, say what precedes a quote inside a cell if it is no "
    "second quote (sensitive_microdata_escape), or repair the file."
)
_NOT_THE_DECLARED_HEADER = (
    "Every record of the input must have as many cells as sensitive_microdata_header has names, and every "
    "quote must be closed; at least one record is not so. Check the names and the delimiter, or repair the "
    "file."
)
_NOT_PARQUET = (
    "The input must be a whole Parquet file, its texts in UTF-8, and could not be read to its end: write it "
    "anew."
)


def read_batches(
    source: InputFile,
    positions: list[int],
    threads: int = 0,
    progress: StageDone | None = None,
    rows: range | None = None,
) -> Iterator[pa.RecordBatch]:
    """Batches with one column per distinct position, named by the position, in file order.

    Args:
        threads: 1 for a single one; the batches are the same for any number.
        rows: of a Parquet file, which are read, consecutive ones numbered from 0; None: all.

    Raises:
        InputError: the file is not what its dialect says. The message is public; the number of the
            offending row, where it is known, is in ``operator_detail``.
    """
    wanted = sorted(set(positions))
    report = progress or (lambda _what, _fraction: None)
    if source.is_parquet:
        return _with_public_errors(source, _parquet(source, wanted, threads, report, rows))
    return _with_public_errors(source, _delimited(source, wanted, report))


def row_number(source: InputFile, record: int) -> str:
    """What an operator is told of a raw record, which is numbered from 0."""
    return f"row {record + (2 if _has_header_line(source) else 1)}{_numbering(source)}"


def _numbering(source: InputFile) -> str:
    return ", counting the header as row 1" if _has_header_line(source) else ""


def _has_header_line(source: InputFile) -> bool:
    return not (source.header or source.is_parquet)


def _with_public_errors(source: InputFile, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches; what the reader says of a failure is reduced to its kind and the row's number."""
    while True:
        sentence, row, batch = "", None, None
        try:
            batch = next(batches, None)
            if batch is not None:
                columns = list(map(_normalise_cells, batch.columns))
                batch = pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            sentence, row = _public_sentence(source, error), _ROW_NUMBER.match(str(error))
        if sentence:
            # Outside the handler, so that not even the error's context keeps the cell.
            detail = f"row {row[1]}{_numbering(source)}" if row else ""
            if row and row[2] and (others := _number_of_ragged(source) - 1) > 0:
                detail += (
                    f"; {others:,} more {'row has' if others == 1 else 'rows have'} too few or too many cells"
                )
            raise InputError(sentence, operator_detail=detail)
        if batch is None:
            return
        yield batch


def _number_of_ragged(source: InputFile) -> int:
    """How many rows have another number of cells than the header; 0 where the file has other faults, too."""
    found = 0

    def skip(_row: object) -> str:
        nonlocal found
        found += 1
        return "skip"

    try:
        # pyarrow decodes each row for ``skip``, and prints the bytes that it can't decode.
        decoder = codecs.getincrementaldecoder("utf-8")()
        text = source.text()
        while block := text.read(_BLOCK_BYTES):
            decoder.decode(block)
        for _ in _delimited(source, [0], lambda _what, _fraction: None, skip):
            pass
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return 0
    return found


def _normalise_cells(cells: pa.Array) -> pa.Array:
    """The same with each text in Unicode's form NFC: one word is one value, however its marks are stored.

    A column's type is the same in all batches: its own, or large lists where it is of views of lists.
    """
    if pa.types.is_dictionary(cells.type):
        composed = _normalise_cells(cells.dictionary)
        if composed is cells.dictionary:
            return cells
        return composed.take(cells.indices).dictionary_encode().cast(cells.type)
    if pa.types.is_struct(cells.type):
        fields = cells.flatten()
        composed = list(map(_normalise_cells, fields))
        if all(one is other for one, other in zip(composed, fields, strict=True)):
            return cells
        return pa.StructArray.from_arrays(composed, fields=list(cells.type), mask=cells.is_null())
    if is_list(cells.type):
        items = cells.flatten()
        composed = _normalise_cells(items)
        if pa.types.is_list_view(cells.type) or pa.types.is_large_list_view(cells.type):
            return _rebuild_lists(composed, cells)  # nothing casts to these
        return cells if composed is items else _rebuild_lists(composed, cells).cast(cells.type)
    if not is_text(cells.type):
        return cells
    texts = cells.cast(pa.large_string()) if pa.types.is_string_view(cells.type) else cells  # has no kernel
    if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
        return cells
    try:
        return pc.utf8_normalize(texts, form="NFC").cast(cells.type)
    except pa.ArrowInvalid:
        return cells  # no text in UTF-8: whoever reads it says so


def _rebuild_lists(items: pa.Array, like: pa.Array) -> pa.Array:
    lengths = like.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
    return pa.LargeListArray.from_arrays(offsets, items, mask=like.is_null())


def _public_sentence(source: InputFile, error: Exception) -> str:
    """What is publicly said of a reader's failure: it is a fact about the file as a whole."""
    if source.is_parquet:
        return _NOT_PARQUET
    if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error):
        return undecodable(source)
    if isinstance(error, OSError) and source.compression:
        return damaged_archive(source)
    return _NOT_THE_DECLARED_HEADER if source.header else _NOT_THE_DIALECT


def _parquet(
    source: InputFile, wanted: list[int], threads: int, progress: StageDone, rows: range | None
) -> Iterator[pa.RecordBatch]:
    schema = source.arrow_schema
    texts = [schema.names[index] for index in wanted if is_text(schema.types[index])]
    with pq.ParquetFile(source.opened.reader(), read_dictionary=texts, pre_buffer=False) as file:
        names = [schema.names[index] for index in wanted]
        rows = range(file.metadata.num_rows) if rows is None else rows
        groups, first = _row_groups(file.metadata, rows)
        for batch in file.iter_batches(
            _PARQUET_BATCH_ROWS, row_groups=groups, columns=names, use_threads=threads != 1
        ):
            start, stop = max(rows.start - first, 0), min(rows.stop - first, batch.num_rows)
            first += batch.num_rows
            if start >= stop:
                continue
            progress("reading", (first - rows.start) / max(len(rows), 1))
            columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
            whole = pa.RecordBatch.from_arrays(columns, names=[str(index) for index in wanted])
            yield whole.slice(start, stop - start)


def _row_groups(metadata: pq.FileMetaData, rows: range) -> tuple[list[int], int]:
    sizes = np.array([metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)], int)
    ends = np.cumsum(sizes)
    groups = np.flatnonzero((ends - sizes < rows.stop) & (ends > rows.start))
    return groups.tolist(), int((ends - sizes)[groups[0]]) if len(groups) else 0


def _delimited(
    source: InputFile,
    wanted: list[int],
    progress: StageDone,
    ragged: Callable[[object], str] | None = None,
) -> Iterator[pa.RecordBatch]:
    token = secrets.token_hex(16)  # no file can hold it beforehand
    headers = source.headers
    width = len(headers.names)
    names = [str(index) for index in range(width)]
    used = [names[index] for index in wanted]
    last_line = "\n" + source.delimiter.join([token] * width) + "\n"
    doubled = source.escape == source.quote
    with closing(_with_last_line(source.text(), last_line.encode(), progress)) as stream:
        reader = pa_csv.open_csv(
            stream,
            read_options=pa_csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES, use_threads=False),
            parse_options=pa_csv.ParseOptions(
                delimiter=source.delimiter,
                quote_char=source.quote,
                double_quote=doubled,
                escape_char=False if doubled else source.escape,
                newlines_in_values=True,
                ignore_empty_lines=True,
                invalid_row_handler=ragged,
            ),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=True,
                column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in used},
                strings_can_be_null=False,
                include_columns=used,
            ),
        )
        with reader:
            first_row = None if source.header else [headers.names[index] for index in wanted]
            yield from _between_brackets(reader, first_row, token)


def _between_brackets(
    reader: Iterator[pa.RecordBatch], first_row: list[str] | None, token: str
) -> Iterator[pa.RecordBatch]:
    """All rows but the first, which must be the header if the file has one, and the last, the token.

        id,town           must be the header
        1,Lyon            rows that are given
        2,"Lille          here a quote is left open: its cell swallows all that follows,
        9f3c…,9f3c…       so our own line is no row of its own, and the table is refused

    Raises:
        pa.ArrowInvalid: they are not.
    """
    held: pa.RecordBatch | None = None
    header_seen = first_row is None
    for batch in reader:
        if batch.num_rows == 0:
            continue
        if held is not None:  # always one batch behind, as the last row of the last one is the token
            yield held
        held = batch
        if not header_seen:
            if [column_name(cell) for cell in _row(batch, 0)] != first_row:
                raise pa.ArrowInvalid("CSV parse error: Row #1: not the header")
            header_seen, held = True, batch.slice(1)
    if held is None or held.num_rows == 0 or set(_row(held, held.num_rows - 1)) != {token}:
        raise pa.ArrowInvalid("an open quote")
    yield held.slice(0, held.num_rows - 1)


def _row(batch: pa.RecordBatch, index: int) -> list[str]:
    return [str(column[index].as_py()) for column in batch.columns]


def _with_last_line(text: TextBytes, last_line: bytes, progress: StageDone) -> pa.PythonFile:
    rest = last_line

    def read(size: int) -> bytes:
        nonlocal rest
        data = text.read(size)
        progress("reading", text.share)
        if not data:
            data, rest = rest, b""
        return data

    return pa.PythonFile(ReadableBytes(read), mode="r")


#: By what a number of rows is known.
RowSource = Literal["footer", "lines", "size"]

#: Bytes of the shortest cell of text with its delimiter: guesses too many rows of a text file.
_BYTES_A_CELL = 2
#: Stretches of a file that are looked at, evenly spaced, and the bytes of one.
_STRETCHES, _BYTES = 16, 2**16
_FIRST_BYTES, _FIRST_BYTES_COMPRESSED = 2**20, 2**24
_BLANK = re.compile(rb"\n{2,}")


def number_of_rows(source: InputFile, *, look: bool = False) -> tuple[int, RowSource]:
    """Rows below the header, exact for Parquet, and by what they are known.

    Raises:
        InputError: a text can't be decoded or decompressed.
    """
    if source.is_parquet:
        return int(pq.read_metadata(source.opened.reader()).num_rows), "footer"
    if look:
        return _rows_by_lines(source), "lines"
    columns = max(len(source.headers.names), 1)
    return math.ceil(source.opened.size / (_BYTES_A_CELL * columns)), "size"


def holds_no_record(source: InputFile) -> bool:
    """Whether nothing stands below the header; of a text its beginning is looked at.

    It raises as `number_of_rows` does.
    """
    if source.is_parquet:
        return number_of_rows(source)[0] == 0
    start, is_whole, _ = _read_beginning(source)
    return is_whole and _count_rows(start, source) <= (0 if source.header else 1)


def _rows_by_lines(source: InputFile) -> int:
    start, is_whole, share = _read_beginning(source)
    lines = _count_lines(start)
    rows = _count_rows(start, source)
    if not is_whole:
        density = (
            lines / max(share * source.opened.size, 1) if source.compression else _sample_line_density(source)
        )
        rows = round(rows / max(lines, 1) * density * source.opened.size)
    return max(rows - (0 if source.header else 1), 0)


def _read_beginning(source: InputFile) -> tuple[bytes, bool, float]:
    """The first bytes of a text, whether they are all of it, and the share of the file that was read."""
    text, problem = source.text(), ""
    try:
        start = text.read(_FIRST_BYTES_COMPRESSED if source.compression else _FIRST_BYTES)
        return start, not text.read(1), text.share
    except UnicodeDecodeError:
        problem = undecodable(source)
    except OSError:
        problem = damaged_archive(source)
    raise InputError(problem)


def _sample_line_density(source: InputFile) -> float:
    opened = source.opened
    step = max((opened.size - _BYTES) // (_STRETCHES - 1), 1) & ~1  # UTF-16 is aligned to two bytes
    found = read = 0
    for number in range(_STRETCHES):
        data = opened.bytes_at(number * step, _BYTES)
        found, read = found + _count_lines(data.replace(b"\0", b"")), read + len(data)
    return found / max(read, 1)


def _count_lines(data: bytes) -> int:
    """Ends of lines that are not blank; the last line may lack its own."""
    ends = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").strip(b"\n")
    return _BLANK.sub(b"\n", ends).count(b"\n") + bool(ends)


def _count_rows(data: bytes, source: InputFile) -> int:
    quote = source.quote.encode()
    if quote not in data:
        return _count_lines(data)
    # Pieces between quotes are in turn outside and inside: one,"two\nlines",three. A doubled quote leaves an
    # empty piece outside. The joining letter keeps a line that is one quoted cell from being blank.
    outside = data.split(quote)[::2]
    return _count_lines(b"q".join(outside))
