"""``marginalia syndiffix``: its two forms, what it reads and writes, and tables that others fail on."""

import csv
import io
import json
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.command import main as command
from tests.flows.processes import Blow, struck
from tests.flows.syndiffix_people import HEADER, people, read, run, write

TOKEN = "tell-nobody"
pytestmark = pytest.mark.usefixtures("own_ledger")


class TestForms:
    def test_a_table_goes_to_the_output_with_the_columns_in_the_order_asked_for(self, table, output):
        asked = ("income:r", "age:i", "city:s", "joined:t", "member:b")
        assert run(table, "--columns", *asked, "--aidcolumns", "pid", "--output", output) == 0
        header, *rows = read(output)
        assert header == ["income", "age", "city", "joined", "member"]
        assert 300 < len(rows) < 500
        known = [set(column) for column in zip(*people(), strict=True)]
        assert {row[1] for row in rows} == known[1]
        assert {row[2] for row in rows} == known[3]
        assert {row[3] for row in rows} == set(known[4])
        assert {row[4] for row in rows} == known[5]

    def test_without_an_output_csv_goes_to_standard_output_and_all_else_to_standard_error(
        self, table, output, capfd
    ):
        arguments = (table, "--columns", "age:i", "city:s")
        assert run(*arguments) == 0
        printed, said = capfd.readouterr()
        assert run(*arguments, "-o", output) == 0
        assert list(csv.reader(io.StringIO(printed))) == read(output)
        assert "salt" in said

    def test_without_columns_all_but_the_ids_are_synthesized_with_inferred_types(self, table, tmp_path):
        assert run(table, "--aidcolumns", "pid", "-o", tmp_path / "out.parquet") == 0
        kinds = {field.name: str(field.type) for field in pq.read_schema(tmp_path / "out.parquet")}
        assert list(kinds) == HEADER[1:]
        assert (kinds["age"], kinds["income"], kinds["city"], kinds["member"]) == (
            "int64",
            "double",
            "string",
            "bool",
        )

    def test_a_colon_in_a_header_is_part_of_it_where_nothing_else_is_one(self, tmp_path, output):
        rows = [[row[1], row[3]] for row in people()]
        table = write(tmp_path / "t.csv", rows, ["a:i", "b:x"])
        assert run(table, "--columns", "b:x", "a:i", "-o", output) == 0
        assert read(output)[0] == ["b:x", "a:i"]
        assert run(table, "--columns", "a:i:i", "-o", output) == 0
        assert read(output)[0] == ["a:i"]

    def test_the_output_is_the_same_of_a_copy_and_the_salt_of_another_dataset_makes_another(
        self, table, tmp_path
    ):
        found = []
        copy = tmp_path / "renamed.csv"
        copy.write_bytes(table.read_bytes())
        for number, (source, dataset) in enumerate(((table, "people"), (copy, "people"), (table, "others"))):
            path = tmp_path / f"{number}.csv"
            if dataset == "others":
                assert command.main(["ledger", "others", "--reason", "other people"]) == 0
            assert run(source, "--aidcolumns", "pid", "--dataset", dataset, "-o", path) == 0
            found.append(path.read_bytes())
        assert found[0] == found[1] != found[2]

    def test_the_wrappers_form_is_the_same_command(self, table, tmp_path):
        one, other = tmp_path / "one.csv", tmp_path / "other.csv"
        further = "--lcf-low-threshold 4 --outlier-count 1 2"
        wrapped = ("--aid_columns", "pid", "--ml_target", "city", "--ml_features_only")
        assert run(table, one, *wrapped, "--syndiffix_args", further, "--dev") == 0
        own = ("--aidcolumns", "pid", "--ml-target", "city", "--ml-drop-non-features")
        assert run(table, *own, *further.split(), "-o", other) == 0
        assert one.read_bytes() == other.read_bytes()

    @pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
    def test_each_format_is_read_and_written(self, table, tmp_path, ending):
        first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
        assert run(table, "--columns", "age:i", "city:s", "-o", first) == 0
        assert run(first, "--columns", "city", "age", "-o", second) == 0
        assert second.stat().st_size > 100


def test_ctrl_c_ends_it_with_130_and_says_nothing_is_kept_that_is_not(table, output, capfd):
    with struck(Blow(signal.SIGINT, "open", r"/salts/")) as struck_at:
        assert run(table, "-o", output) == 130
    assert struck_at
    said = capfd.readouterr().err
    assert said.endswith("marginalia: interrupted. Run the same command again.\n")
    assert not list(output.parent.glob("*out.csv*"))


class TestBadInput:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"age,age\n1,tell-nobody\n", "Columns 1 and 2"),
            (b"age,city\n1\n2,tell-nobody\n", "2"),
            (b"age,city\n\xff\xfe,tell-nobody\n", "as encoding"),
        ],
    )
    def test_bad_files_are_told_without_a_cell(self, tmp_path, output, content, words, capfd):
        path = tmp_path / "t.csv"
        path.write_bytes(content)
        assert run(path, "-o", output) == 2
        said = capfd.readouterr().err
        assert words in said and TOKEN not in said
        assert not output.exists()

    def test_a_missing_file_is_told(self, tmp_path, output, capfd):
        assert run(tmp_path / "none.csv", "-o", output) == 2
        said = capfd.readouterr().err
        assert "none.csv" in said and "sensitive_microdata" not in said

    def test_cells_that_are_not_of_their_type_are_told_by_column_alone(self, tmp_path, output, capfd):
        path = write(tmp_path / "t.csv", [*[["7"]] * 100, [TOKEN]], ["age"])
        assert run(path, "--columns", "age:i", "-o", output) == 0
        said = capfd.readouterr().err
        assert "'age'" in said and TOKEN not in said

    @pytest.mark.parametrize(("rows", "least"), [(1, 3), (5, 6)])
    def test_a_few_rows_give_an_empty_table_of_the_right_types(self, tmp_path, rows, least, capfd):
        # Fewer than the threshold, whatever the salt.
        path, table = tmp_path / "out.parquet", write(tmp_path / "t.csv", people(rows))
        assert run(table, "-lcf", least, "-o", path) == 0
        found = pq.read_table(path)
        assert found.num_rows == 0
        assert found.column_names == HEADER
        assert [str(found[name].type) for name in ("age", "income", "city")] == ["int64", "double", "string"]
        said = capfd.readouterr().err
        assert "empty" in said and f"(about {least + 2})" in said
        assert run(table, "-lcf", least, "-o", tmp_path / "out.csv") == 0
        assert read(tmp_path / "out.csv") == [HEADER]


def column_of(tmp_path: Path, column: pa.Array, *arguments: str) -> pa.ChunkedArray:
    """What becomes of a column of a Parquet file, the only one."""
    source, result = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"c": column}), source)
    assert run(source, *arguments, "-o", result) == 0
    found = pq.read_table(result)["c"]
    assert len(found) > len(column) // 2
    return found


START = datetime(2024, 3, 31, tzinfo=UTC)
COLUMNS = [
    pa.array(["Ulm", "Graz"] * 100, pa.large_string()),
    pa.array([datetime(2024, 1, 1 + day % 3) for day in range(200)], pa.timestamp("us")),
    pa.array([START + timedelta(hours=hour % 3) for hour in range(300)], pa.timestamp("ms", "Europe/Berlin")),
    pa.array([1e-07 * (1 + number % 4) for number in range(400)]),
    pa.array([None, 1, 2, 3] * 100, pa.int64()),
    pa.array(["a", "b", None] * 100).dictionary_encode(),
]


class TestTypes:
    @pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
    def test_cells_of_a_parquet_file_come_back_in_their_type(self, tmp_path, column):
        found = column_of(tmp_path, column)
        assert found.type.id == column.type.id
        assert pa.types.is_dictionary(column.type) or found.type == column.type
        assert set(found.to_pylist()) == set(column.to_pylist())

    @pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
    def test_value_safe_columns_with_nulls_give_their_own_values_and_nulls(self, tmp_path, kind):
        numbers = [None if number % 4 == 0 else 7 * (number % 40) for number in range(600)]
        column = pa.array(numbers, pa.int64()).cast(kind)
        found = set(column_of(tmp_path, column, "--value-safe-columns", "c").to_pylist())
        assert found <= set(column.to_pylist()) and None in found

    def test_a_column_without_a_value_may_be_there_and_be_the_target(self, tmp_path, output):
        rows = [[row[1], "", row[3]] for row in people()]
        path = write(tmp_path / "t.csv", rows, ["age", "nothing", "city"])
        for target in ("nothing", "city"):
            assert run(path, "--ml-target", target, "-o", output) == 0
            header, *found = read(output)
            assert header == ["age", "nothing", "city"]
            assert {row[1] for row in found} == {""}


class TestIds:
    def test_several_rows_of_one_person_are_one(self, tmp_path, output):
        rows = [["1", "mine"]] * 100 + [[str(2 + row), "ours"] for row in range(200)]
        path = write(tmp_path / "t.csv", rows, ["id", "c"])
        assert run(path, "--columns", "c", "-o", output) == 0
        assert "mine" in {row[0] for row in read(output)}
        assert run(path, "--columns", "c", "--aidcolumns", "id", "-o", output) == 0
        assert "mine" not in {row[0] for row in read(output)}


class TestMainColumn:
    @pytest.mark.parametrize("features", [[], ["--clustering-mainfeatures", "city", "income"]])
    def test_the_first_column_may_be_the_main_one(self, table, output, capfd, features):
        main = ("--clustering-maincolumn", "age", *features, "--clustering-maxweight", "3", "--verbose")
        assert run(table, "--aidcolumns", "pid", *main, "-o", output) == 0
        (line,) = [each for each in capfd.readouterr().err.splitlines() if each.startswith("Clusters: ")]
        clusters = json.loads(line.removeprefix("Clusters: "))
        assert 0 in clusters["InitialCluster"]
        assert clusters["DerivedClusters"]
        assert all(0 in each["StitchColumns"] for each in clusters["DerivedClusters"])

    def test_a_header_may_be_the_number_0(self, tmp_path, output):
        rows = [row[1:] for row in people()]
        path = write(tmp_path / "t.csv", rows, ["a", "b", "0", "d", "e"])
        assert run(path, "--clustering-maincolumn", "0", "--value-safe-columns", "0", "-o", output) == 0
        assert read(output)[0] == ["a", "b", "0", "d", "e"]


class TestNothingIsTold:
    def test_an_error_that_nobody_foresaw_is_told_without_its_text(self, table, output, capfd, monkeypatch):
        def fails(*_: object, **__: object) -> None:
            raise ValueError(f"cell {TOKEN} of somebody")

        monkeypatch.setattr(pa, "table", fails)
        assert run(table, "-o", output) == 1
        told = capfd.readouterr().err
        assert "ValueError in test_syndiffix_command.py, line" in told
        assert TOKEN not in told and "Traceback" not in told

    def test_a_first_line_that_may_be_a_record_is_warned_of(self, tmp_path, output, capfd):
        path = write(tmp_path / "bare.csv", people()[1:], people()[0])
        assert run(path, "-o", output) == 0
        assert "the input's first line is read as its header" in capfd.readouterr().err
