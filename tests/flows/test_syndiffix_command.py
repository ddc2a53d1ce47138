"""``marginalia syndiffix``: its two forms, what it reads and writes, and tables that others fail on."""

import csv
import io
import json
import signal
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.command import main as command
from tasks.configuration.flat_file import from_flat
from tasks.core.ledger.salts import salt_of
from tests.flows import pipeline, visits
from tests.flows.processes import Blow, struck
from tests.flows.syndiffix_people import HEADER, people, read, run, write

TOKEN = "tell-nobody"


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


def test_ctrl_c_ends_it_with_130_and_says_nothing_is_kept_that_is_not(table, output, capfd):
    with struck(Blow(signal.SIGINT, "open", r"/salts/")) as struck_at:
        assert run(table, "-o", output) == 130
    assert struck_at
    said = capfd.readouterr().err
    assert said.endswith("marginalia: interrupted. Run the same command again.\n")
    assert not list(output.parent.glob("*out.csv*"))


class TestBadInput:
    def test_a_missing_file_is_told(self, tmp_path, output, capfd):
        assert run(tmp_path / "none.csv", "-o", output) == 2
        said = capfd.readouterr().err
        assert "none.csv" in said and "sensitive_microdata" not in said

    def test_a_few_rows_give_an_empty_table_of_the_right_types(self, tmp_path, capfd):
        # Fewer than the threshold, whatever the salt.
        path, table = tmp_path / "out.parquet", write(tmp_path / "t.csv", people(5))
        assert run(table, "-lcf", "6", "-o", path) == 0
        found = pq.read_table(path)
        assert found.num_rows == 0
        assert found.column_names == HEADER
        assert [str(found[name].type) for name in ("age", "income", "city")] == ["int64", "double", "string"]
        said = capfd.readouterr().err
        assert "empty" in said and "(about 8)" in said
        assert run(table, "-lcf", "6", "-o", tmp_path / "out.csv") == 0
        assert read(tmp_path / "out.csv") == [HEADER]


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


NOT_PRIVATE = "SynDiffix is not differentially private"
ROWS = "each row counts as another person"


def test_it_says_once_what_it_is_and_that_rows_are_people_without_ids(table, tmp_path, capfd):
    blob = tmp_path / "t.sdxblob.zip"
    for arguments in (["-o", tmp_path / "out.csv"], ["--blob", blob]):
        assert run(table, "--columns", "age", "city", *arguments) == 0
        said = capfd.readouterr().err
        assert said.count(NOT_PRIVATE) == said.count(ROWS) == 1
        assert run(table, "--columns", "age", "city", "--aidcolumns", "pid", *arguments) == 0
        said = capfd.readouterr().err
        assert NOT_PRIVATE in said and ROWS not in said
    assert run(blob, "-o", tmp_path / "asked.csv") == 0
    assert capfd.readouterr().err.count(NOT_PRIVATE) == 1


def test_inferred_types_are_told_and_how_to_read_another_where_one_is_text(table, tmp_path, output, capfd):
    assert run(table, "--columns", "age:r", "income", "joined", "member", "city", "-o", output) == 0
    (line,) = [each for each in capfd.readouterr().err.splitlines() if "were inferred" in each]
    assert line == (
        "Types that were inferred: income:r joined:t member:b city:s. "
        "To read a text as numbers, give NAME:r (or NAME:i, NAME:t, NAME:b)."
    )
    assert run(table, "--columns", "age", "-o", output) == 0
    assert "Types that were inferred: age:i.\n" in capfd.readouterr().err
    source = tmp_path / "t.parquet"
    assert run(table, "--columns", "age:i", "city:s", "-o", source) == 0
    assert run(source, "-o", output) == 0  # a Parquet file's types are its own
    assert "were inferred" not in capfd.readouterr().err


def test_a_new_salt_of_a_named_dataset_warns_of_a_second_one_for_the_same_table(table, output, capfd):
    for name, times in ((("--dataset", "other"), 1), (("--dataset", "other"), 0)):
        assert run(table, "--columns", "age", *name, "-o", output) == 0
        assert capfd.readouterr().err.count("with two salts its noise could be averaged away") == times
    for name in ((), ("--dataset", "third"), ("--dataset", "third", "--blob", f"{output}.sdxblob.zip")):
        assert run(table, "--columns", "city", *name, *(() if "--blob" in name else ("-o", output))) == 2
        told = capfd.readouterr().err
        assert "same path and columns as a table of dataset 'other', which has a salt already" in told
    assert command.main(["ledger", "third", "--reason", "other people"]) == 0
    assert "now keeps why 'third' is about other people" in capfd.readouterr().out
    assert run(table, "--columns", "age", "--dataset", "third", "-o", output) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--no-clustering", "--clustering-maxweight", "5"], "--no-clustering: --clustering-maxweight."),
        (["--clustering-maxweight", "1", "--clustering-maincolumn", "age"], "--clustering-maincolumn."),
        (
            ["--clusters", '{"InitialCluster":[0,1]}', "--clustering-samplesize", "9"],
            "--clustering-samplesize.",
        ),
        (["--clustering-maincolumn", "age", "--clustering-samplesize", "9"], ""),
        (["--ml-target", "age", "--clustering-maxweight", "9"], ""),
    ],
)
def test_options_that_another_one_leaves_without_effect_are_told(table, output, arguments, said, capfd):
    assert run(table, "--columns", "age", "city", *arguments, "-o", output) == 0
    told = [
        line
        for line in capfd.readouterr().err.splitlines()
        if line.startswith("These options have no effect")
    ]
    assert [line.endswith(said) for line in told] == ([True] if said else [])


@pytest.mark.server
def test_bins_of_what_is_no_number_are_told_to_have_no_effect_whatever_the_name(tmp_path, capfd):
    header = ["person", "town:i", *visits.HEADER[2:]]
    pipeline.write(tmp_path / "visits.csv", visits.rows(), header)
    section = {"columns": [{"name": "town:i"}, "age"]}
    bins = {"Town:i": [0, 5], "age": [0, 30, 60]}
    pipeline.run(from_flat(visits.flat(tmp_path, section, bins=bins)), "generate")
    assert "bins need numbers or times, and these columns hold neither: 'town:i'." in capfd.readouterr().err


class TestLog:
    def test_verbose_warns_first_and_then_tells_dependence_entropy_clusters_time_and_memory(
        self, table, output, capfd
    ):
        assert run(table, "--aidcolumns", "pid", "--verbose", "-o", output) == 0
        lines = capfd.readouterr().err.splitlines()
        assert lines[0].startswith("SENSITIVE") and "not share" in lines[0]
        at = lines.index("Dependence:")
        matrix = [line.split() for line in lines[at + 1 : at + 8]]
        assert matrix[0] == ["0", "1", "2", "3", "4", "total"]
        for number, row in enumerate(matrix[1:6]):
            assert row[1 + number] == "1.00"
            assert float(row[-1]) == pytest.approx(sum(map(float, row[1:-1])), abs=0.03)
        assert matrix[6][0] == "total"
        assert sum("entropy" in line for line in lines) == 5
        (clusters,) = [line for line in lines if line.startswith("Clusters: ")]
        assert "InitialCluster" in json.loads(clusters.removeprefix("Clusters: "))
        assert any(line.startswith("Elapsed: ") and " ms; memory: " in line for line in lines)

    def test_without_verbose_nothing_that_was_read_off_the_data_is_told(self, table, output, capfd):
        assert run(table, "--aidcolumns", "pid", "-o", output) == 0
        said = capfd.readouterr().err.splitlines()
        what, types, made = (line for line in said if "salt" not in line and "syndiffix:" not in line)
        assert what.startswith("SynDiffix is not differentially private")
        assert types.startswith("Types that were inferred: ")  # the output has them too
        rows = len(output.read_text().splitlines()) - 1
        assert made == f"Wrote {rows} synthetic rows of 5 columns to {output}."

    def test_debug_writes_all_but_the_salt_to_a_closed_file(self, table, tmp_path, own_ledger, capfd):
        path = tmp_path / "debug.json"
        asked = ("--columns", "age:i", "city:s", "--aidcolumns", "pid")
        assert run(table, *asked, "--debug", "-o", path) == 0
        assert "SENSITIVE" in capfd.readouterr().err
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        told = json.loads(path.read_text())
        assert told["columns"] == ["age", "city"]
        assert told["null_mappings"] == [120.0, 4.0]
        assert told["bucketization"]["range_low_threshold"] == 15
        assert [tree["combination"] for tree in told["trees"]] == [[0], [1], [0, 1]]
        assert [buckets["combination"] for buckets in told["buckets"]] == [[0], [1], [0, 1]]
        for tree in told["trees"]:
            held = [row for node in tree["nodes"] for row in node.get("rows", [])]
            assert sorted(held) == list(range(400))
        assert len(told["original_rows"]) == 400
        assert told["synthetic_columns"] == ["age", "city"]
        assert told["elapsed_seconds"] > 0
        salt = salt_of(own_ledger, "command")
        content = path.read_text()
        assert salt.hex() not in content and repr(salt) not in content and str(salt) not in content
        assert '"salt"' not in content

    def test_debug_follows_no_link_to_a_stream(self, table, tmp_path, capfd):
        link = tmp_path / "debug.json"
        link.symlink_to("/dev/stdout")
        assert run(table, "--columns", "age", "--debug", "-o", link) == 2
        assert capfd.readouterr().out == ""

    @pytest.mark.parametrize("place", [None, "out.csv", "release/debug.json", "no/folder.json"])
    def test_debug_needs_a_file_of_its_own(self, table, tmp_path, place, capfd):
        (tmp_path / "release").mkdir()
        given = [] if place is None else ["-o", tmp_path / place]
        assert run(table, "--columns", "age", "--debug", *given) == 2
        printed, said = capfd.readouterr()
        assert printed == "" and said.startswith("marginalia: ")
        assert list(tmp_path.rglob("*.json")) == []


TOLD = (
    "This run made a salt for the dataset",
    "with two salts its noise could be averaged away",
    "ATTENTION: some rows have no person",
    "These columns are left out, as they do not help to predict 'smoker': ",
)


def with_gaps(rows):
    return [["", *row[1:]] if number % 7 == 0 else row for number, row in enumerate(rows)]


@pytest.mark.server
def test_the_flow_tells_of_a_new_salt_types_missing_ids_and_what_is_left_out(tmp_path, capfd):
    section = {"clustering": {"target": "smoker"}, "drop_non_features": True}
    rows = with_gaps(visits.rows())
    release = pipeline.run(visits.prepared(tmp_path, rows, section), "generate")
    said = capfd.readouterr().err
    assert all(said.count(each) == 1 for each in TOLD)
    assert "smoker:b" in next(line for line in said.splitlines() if "Types that were inferred" in line)
    (line,) = [line for line in said.splitlines() if "are left out" in line]
    columns = {column["name"] for column in pipeline.json_of(release / "privacy.json")["columns"]}
    left = set(line.partition("'smoker': ")[2].removesuffix(".").split(", "))
    assert left and not left & columns and left | columns == {"town", "age", "income", "visited", "smoker"}
    pipeline.run(visits.prepared(tmp_path, rows, {**section, "columns": []}), "generate")
    said = capfd.readouterr().err
    assert TOLD[0] not in said and "inferred" not in said
    assert "predict 'smoker': " in said and " columns of the input." in said and "income" not in said
    pipeline.run(visits.prepared(tmp_path, visits.rows(2), {"columns": ["town"]}), "generate")
    assert "The synthetic table is empty: every group has fewer people" in capfd.readouterr().err


def test_the_command_tells_of_missing_ids_and_what_is_left_out(tmp_path, capfd):
    table, output = write(tmp_path / "people.csv", with_gaps(people())), tmp_path / "out.csv"
    asked = ("age", "income", "city", "member", "--aidcolumns", "pid", "-o", output)
    assert run(table, "--columns", *asked, "--ml-target", "member", "--ml-drop-non-features") == 0
    said = capfd.readouterr().err
    assert "ATTENTION: some rows have no pid. They count as nobody's" in said
    assert "These columns are left out, as they do not help to predict 'member': " in said
    assert run(write(tmp_path / "whole.csv", people()), "--columns", *asked) == 0
    said = capfd.readouterr().err
    assert "some rows" not in said and "Left out" not in said
