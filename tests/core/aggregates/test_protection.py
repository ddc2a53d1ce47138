"""Counts protected by rounding down: published vectors, an obvious oracle, and what must not leave."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.interchange import write_reportable_tsv
from tasks.core.aggregates.protection import protect_counts
from tasks.core.errors import ParameterError
from tests.oracles.marginals import coded, count, read_back
from tests.oracles.rare import ONE_THREAD, T1_FILE, T4_FILE, counted, from_file, texts_of
from tests.oracles.raw_tables import raw_tables

T4_PAIRS = (
    "A:a2;B:b2 4,A:a2;C:c2 4,A:a2;D:d2 4,B:b2;C:c2 4,B:b2;D:d2 4,C:c1;D:d1 4,C:c2;D:d2 4,"
    "A:a1;B:b1 2,A:a1;C:c1 2,A:a1;D:d1 2,B:b1;C:c1 2,B:b1;D:d1 2"
)
T4_TRIPLES = (
    "A:a1;B:b1;C:c1,A:a1;B:b1;D:d1,A:a1;C:c1;D:d1,A:a2;B:b2;C:c2,"
    "A:a2;B:b2;D:d2,A:a2;C:c2;D:d2,B:b1;C:c1;D:d1,B:b2;C:c2;D:d2"
)


def test_t2_the_reportable_file(tmp_path):
    """S10.2, resolution 2."""
    _, marginals = from_file(T1_FILE, tmp_path)
    write_reportable_tsv(protect_counts(marginals, 2, ONE_THREAD), tmp_path / "reportable.tsv")
    assert (tmp_path / "reportable.tsv").read_text() == (
        "selections\tprotected_count\nrecord_count\t4\n"
        "A:a1\t2\nA:a2\t2\nB:b2\t2\nC:c1\t2\nA:a1;B:b2\t2\nA:a1;C:c1\t2\nB:b2;C:c1\t2\n"
    )


def test_t4_twenty_eight_of_seventy_six_combinations_are_reported(tmp_path):
    """S10.4, resolution 2; its columns of zeros are columns without an attribute."""
    _, marginals = from_file(T4_FILE, tmp_path)
    exact, reported = (protect_counts(marginals, resolution, ONE_THREAD) for resolution in (1, 2))
    assert [len(counts) for counts in exact.counts] == [12, 34, 30]
    expected = {f"{c}:{c.lower()}{i}": 6 if i == 2 else 4 for c in "ABCD" for i in (1, 2)}
    expected |= {pair.split()[0]: int(pair.split()[1]) for pair in T4_PAIRS.split(",")}
    expected |= dict.fromkeys(T4_TRIPLES.split(","), 2)
    assert texts_of(reported) == expected
    assert len(expected) == 28
    assert reported.number_of_records == 10
    assert reported.headers == tuple("ABCFGD")


def test_t10_attributes_stand_in_the_order_of_their_texts(tmp_path):
    """S10.10: by code point of header and value together, in file order nowhere but in the headers."""
    _, first = from_file("b,a:1,A\n1,3,2\n", tmp_path)
    assert list(texts_of(protect_counts(first, 1, ONE_THREAD)))[-1] == "A:2;a<colon>1:3;b:1"
    (tmp_path / "second").mkdir()
    _, second = from_file("A,A1,A-\nz,z,z\n", tmp_path / "second")
    reported = protect_counts(second, 1, ONE_THREAD)
    assert list(texts_of(reported))[-1] == "A-:z;A1:z;A:z"
    assert reported.headers == ("A", "A1", "A-")


def test_t15_an_item_that_is_not_reported_leaves_no_header_and_no_file_a_trace(tmp_path):
    """S10.15: neither the true number of records nor what few hold is in what is stored."""
    rows = ["x;rare", *["x"] * 14, *["y"] * 4, ""]
    text = "M,B\n" + "".join(f"{row},{'seldom' if i < 2 else 'b'}\n" for i, row in enumerate(rows))
    _, marginals = from_file(text, tmp_path, multi_value_columns={"M": ";"})
    reported = protect_counts(marginals, 5, ONE_THREAD)
    assert reported.headers == ("M_x", "B")
    assert texts_of(reported) == {"B:b": 15, "M_x:1": 15, "B:b;M_x:1": 10}
    (tmp_path / "stored").mkdir()
    reported.write(tmp_path / "stored")
    assert read_aggregates(tmp_path / "stored").number_of_records == 20
    stored = b"".join(path.read_bytes() for path in (tmp_path / "stored").iterdir())
    assert not any(word in stored for word in (b"rare", b"seldom", b"M_y"))


@given(table=raw_tables(most_rows=25), resolution=st.integers(1, 6), length=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_reported_counts_are_those_of_the_oracle(tmp_path_factory, table, resolution, length):
    schema, records = table
    marginals = counted(coded(schema, records), tmp_path_factory.mktemp("protected"), length)
    reported = protect_counts(marginals, resolution, ONE_THREAD)
    assert reported.number_of_records == len(records) // resolution * resolution
    for k in range(1, reported.reporting_length + 1):
        exact = {t: c // resolution * resolution for t, c in count(records, k).items()}
        assert read_back(reported, k) == {t: c for t, c in exact.items() if c}
        rows = reported.combinations[k - 1].tolist()
        assert rows == sorted(rows)
    held = {attribute.column for attribute in reported.attributes}
    kept = {a.header for a in reported.attributes if a.item is not None}
    single = {c.name for c in schema.columns if not c.is_multi_valued}
    assert set(reported.headers) == kept | single
    assert held <= set(range(len(schema.columns)))


@pytest.mark.parametrize("resolution", [6, 100])
def test_fewer_records_than_the_resolution_give_aggregates_of_nothing(tmp_path, resolution):
    _, marginals = from_file(T1_FILE, tmp_path)
    reported = protect_counts(marginals, resolution, ONE_THREAD)
    assert (reported.number_of_records, reported.attributes, reported.headers) == (0, (), tuple("ABC"))
    assert [ids.shape for ids in reported.combinations] == [(0, 1), (0, 2), (0, 3)]
    write_reportable_tsv(reported, tmp_path / "reportable.tsv")
    assert (tmp_path / "reportable.tsv").read_text() == "selections\tprotected_count\nrecord_count\t0\n"


@pytest.mark.parametrize("resolution", [0, -3])
def test_a_resolution_below_one_is_refused(tmp_path, resolution):
    _, marginals = from_file(T1_FILE, tmp_path)
    with pytest.raises(ParameterError, match="at least 1"):
        protect_counts(marginals, resolution, ONE_THREAD)
