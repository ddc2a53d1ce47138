"""SDS's input semantics under k-anonymity (S1.1 to S1.6): what it does right is done, its faults are errors.

Every test goes the whole way from a file and what a configuration declares to coded records.
"""

import itertools
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.errors import InputError
from tasks.core.tables.header import InputFile
from tests.oracles.contracts import contract_of
from tests.oracles.rare import load, wide

CANARY = "Ottoline"


@pytest.fixture
def table(tmp_path):
    def loaded(text, contract=None, record_limit=None, delimiter=",", **declared):
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8", newline="")
        return load(InputFile(path, delimiter=delimiter), contract, record_limit, **declared)

    return loaded


def refused(kind, loaded, *arguments, **declared):
    """The sentences of a refusal; fails where one could show a cell."""
    with pytest.raises(kind) as raised:
        loaded(*arguments, **declared)
    assert CANARY not in f"{raised.value} {raised.value.args}"
    return raised.value.problems


def test_1_1_every_cell_is_text(table):
    cells = ["1", "1.0", "01", "1e0", "True"]
    for held in (cells, cells[:1], cells[:2], cells[4:]):
        assert [row[0] for row in wide(table("\n".join(["A", *held, ""])))[1]] == held


def test_1_1_values_may_hold_tabs_lines_and_quotes(table):
    text = 'A,B\n"x\ty","p\nq"\n"say ""so""","a,b"\n'
    assert wide(table(text))[1] == [["x\ty", "p\nq"], ['say "so"', "a,b"]]
    assert wide(table('A\tB\n"x\ty"\tz,w\n', delimiter="\t"))[1] == [["x\ty", "z,w"]]


def test_1_1_blank_lines_are_skipped_and_an_empty_record_is_kept(table):
    assert wide(table("A,B\n\nx,y\n\n,\n\n"))[1] == [["x", "y"], ["", ""]]


def test_1_1_parquet_gives_what_its_text_would(tmp_path):
    rows = {
        "id": [1, 2, 1],
        "A": ["x", None, None],
        "B": [7, None, 7],
        "C": [0, 5, 0],
        "tags": [["p", "q"], [], ["r"]],
    }
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    found = load(InputFile(tmp_path / "t.parquet"), subject_id="ID", multi_value_columns={"Tags": ";"})
    header, cells = wide(found)
    assert header == ["A", "B", "C", "tags_p", "tags_q", "tags_r"]
    assert cells == [["x", "7", "", "1", "1", "1"], ["", "", "5", "", "", ""]]


def test_1_2_t10_columns_are_matched_trimmed_in_any_case_and_keep_file_order(table):
    assert wide(table("A,B,C\n1,2,3\n", use_columns=(" c ", "a"))) == (["A", "C"], [["1", "3"]])


def test_1_2_the_id_is_no_attribute_where_every_column_is_used(table):
    assert wide(table("id,A\n1,x\n2,y\n", subject_id=" ID "))[0] == ["A"]
    assert wide(table("id,A\n1,x\n", subject_id="id", use_columns=("id", "A")))[0] == ["A"]


def test_1_2_two_columns_of_one_name_are_an_error(table):
    [found] = refused(InputError, table, "A,B, a \nx,y,z\n")
    assert found.startswith("Columns 1 and 3 of the input have the same name")
    assert "have a header line at all?" in found


def test_1_2_an_item_under_another_columns_header_is_an_error_that_does_not_show_it(table):
    [found] = refused(InputError, table, f"A,A_b\nb;{CANARY},x\n", multi_value_columns={"A": ";"})
    assert "the multi-valued column 'A'" in found


ITEMS = st.lists(st.sampled_from(["a", "b", "a_b", "b_c", "c"]), max_size=3).map(";".join)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(["M", "M_a", "M_b", "M_a_b"]), min_size=1, max_size=4, unique=True),
    st.lists(st.tuples(*[ITEMS] * 4), min_size=1, max_size=3),
    st.sets(st.sampled_from(["M", "M_a"])),
)
def test_1_2_no_two_attributes_ever_share_a_header(names, rows, multi):
    multi &= set(names)
    held = [{name: cell.split(";") for name, cell in zip(names, row, strict=False)} for row in rows]
    headers = [
        {name} if name not in multi else {f"{name}_{i}" for r in held for i in r[name] if i} for name in names
    ]
    collide = any(a & b for a, b in itertools.combinations(headers, 2))
    lines = [names, *([row[i] for i in range(len(names))] for row in rows)]
    text = "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(text)
        if collide:
            with pytest.raises(InputError, match="same header"):
                load(InputFile(path), multi_value_columns=dict.fromkeys(multi, ";"))
        else:
            header = wide(load(InputFile(path), multi_value_columns=dict.fromkeys(multi, ";")))[0]
            assert len(set(header)) == len(header)


def test_1_3_t10_headers_and_values_are_trimmed_and_reserved_signs_replaced(table):
    text = 'A,B,C,"D;h",E:h\n a1 ,0,c1,d3;D, a3:A \n'
    header, rows = wide(table(text, sensitive_zeros=("b",)))
    assert header == ["A", "B", "C", "D<semicolon>h", "E<colon>h"]
    assert rows == [["a1", "0", "c1", "d3<semicolon>D", "a3<colon>A"]]
    assert wide(table(text, sensitive_zeros=(" D;H ", "e:h")))[1][0][1] == ""


def test_1_3_t10_only_the_empty_and_the_plain_zero_are_absent(table):
    cells = ["00", "-0", "0.0", "False", "nan", "NA", "null", "0", " 0 ", '""', '" "']
    text = "A,B\n" + "".join(f"{cell},x\n" for cell in cells)
    assert [row[0] for row in wide(table(text))[1]] == [*cells[:7], "", "", "", ""]
    kept = [row[0] for row in wide(table(text, sensitive_zeros=("a",)))[1]]
    assert kept[7:] == ["0", "0", "", ""]


def test_1_4_t10_a_cell_is_split_before_it_is_normalised(table):
    text = 'A,B:x;y\n"b;a ;;0; a","  v:1;w "\n,0\n0,0 \n'
    header, rows = wide(table(text, multi_value_columns={"a": ";"}))
    assert header == ["A_a", "A_b", "B<colon>x<semicolon>y"]
    assert rows == [["1", "1", "v<colon>1<semicolon>w"], ["", "", ""], ["", "", ""]]


def test_1_4_t10_sensitive_zeros_of_items(table):
    text = "A,B\nb;a;0,0\n,0\nc,0.0\n"
    header, rows = wide(table(text, multi_value_columns={"A": ";"}, sensitive_zeros=("a", "b")))
    assert header == ["A_0", "A_a", "A_b", "A_c", "B"]
    assert rows == [["1", "1", "1", "", "0"], ["", "", "", "", "0"], ["", "", "", "1", "0.0"]]


def test_1_5_t10_rows_of_a_subject_are_joined(table):
    assert wide(table('id,A,B\n1,x,\n1,"",p\n1,0,p\n', subject_id="id"))[1] == [["x", "p"]]


def test_1_5_t10_an_empty_id_is_an_error(table):
    for empty in ("", " ", '" "'):
        [found] = refused(InputError, table, f"id,A\n1,{CANARY}\n{empty},y\n", subject_id="id")
        assert "must have a subject id" in found


def test_1_6_t10_the_limit_counts_raw_rows_before_they_are_joined(table):
    text = "id,A\n1,x\n2,y\n1,\n3,z\n"
    assert wide(table(text, subject_id="id", record_limit=2))[1] == [["x"], ["y"]]
    assert table(text, subject_id="id", record_limit=4).number_of_records == 3
    assert table(text, record_limit=100).number_of_records == 4


def test_1_6_what_is_behind_the_limit_brings_no_value_and_no_conflict(table):
    text = "id,A\n1,x\n2,y\n1,y\n,z\n"
    assert table(text, subject_id="id", record_limit=2).values == (("x", "y"),)


def test_numbers_without_bins_are_values_even_where_the_contract_says_that_they_are_numbers(table):
    contract = contract_of("      - {name: ward}\n      - {name: age, logicalType: integer}\n")
    found = table("person,ward,age\n1,n,40\n2,n,40.0\n3,s,0\n", contract)
    assert found.values == (("n", "s"), ("40",))
