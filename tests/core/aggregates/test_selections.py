"""Lines of text from ids and counts, at the edges that tables do not reach."""

import numpy as np

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.selections import Surroundings, quoted_pieces

ATTRIBUTES = tuple(Attribute("A", value, 0) for value in ("", "é", '"', "\t"))


def test_every_64_bit_count_is_written_as_python_writes_it():
    edges = [0, 9, 10, 99, 100, 10**18 - 1, 10**18, 2**63 - 1]
    counts = np.array([*edges, *(-count for count in edges), -(2**63)], np.int64)
    ids = np.zeros((len(counts), 1), np.int32)
    assert b"".join(map(bytes, quoted_pieces(ATTRIBUTES).lines(ids, counts))).decode() == "".join(
        f"A:\t{c}\n" for c in counts
    )


def test_any_piece_that_needs_it_encloses_the_whole_row():
    ids = np.array([[0, 1], [1, 2], [3, 0]], np.int32)
    lines = quoted_pieces(ATTRIBUTES).lines(ids, np.ones(3, np.int64), Surroundings(b"<", b"|", b">"))
    assert b"".join(map(bytes, lines)).decode() == '<A:;A:é|1><"A:é;A:"""|1><"A:\t;A:"|1>'


def test_texts_of_every_length_are_copied_whole():
    """Bytes are moved sixteen at a time: neither the last of a text nor the first of the next is lost."""
    attributes = tuple(Attribute("A", "é" * (size // 2) + "x" * (size % 2), 0) for size in range(70))
    generator = np.random.default_rng(1)
    ids = generator.integers(0, len(attributes), (500, 3)).astype(np.int32)
    counts = generator.integers(0, 10**6, 500)
    pieces = quoted_pieces(attributes)
    rows = [";".join(attributes[i].text for i in row) for row in ids.tolist()]
    lines = b"".join(map(bytes, pieces.lines(ids, counts))).decode()
    assert lines == "".join(f"{row}\t{count}\n" for row, count in zip(rows, counts, strict=True))
    assert pieces.joined(ids).to_pylist() == rows
