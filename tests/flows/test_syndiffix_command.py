"""``marginalia syndiffix``: its two forms, its options, where it writes, and what it refuses."""

import csv
import io
import json
import stat
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from flows import command
from tasks.core.syndiffix.salt import salt_of

pytestmark = pytest.mark.usefixtures("own_ledger")

HEADER = ["pid", "age", "income", "city", "joined", "member"]
TOKEN = "tell-nobody"


def people(rows: int = 400) -> list[list[str]]:
    """People of some ages, cities and incomes; every other one is a member."""
    return [
        [
            str(row),
            str(20 + row % 5 * 10),
            str(1000.5 * (1 + row % 4)),
            ("Ulm", "Graz", "Bern, old town")[row % 3],
            f"2024-0{1 + row % 4}-01",
            ("true", "false")[row % 2],
        ]
        for row in range(rows)
    ]


def write(path: Path, rows: Sequence[Sequence[object]], header: Sequence[str] = HEADER) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "people.csv", people())


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.csv"


def run(*arguments: object) -> int:
    return command.main(["syndiffix", *map(str, arguments)])


def usage(*arguments: object) -> int:
    """The exit code of a command line that argparse refuses."""
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


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
        assert {row[3] for row in rows} == {f"{day} 00:00:00" for day in known[4]}
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

    def test_a_name_without_a_type_is_inferred(self, table, tmp_path):
        assert run(table, "--columns", "age", "income:s", "-o", tmp_path / "out.parquet") == 0
        assert [str(field.type) for field in pq.read_schema(tmp_path / "out.parquet")] == ["int64", "string"]

    def test_a_colon_in_a_header_is_part_of_it_where_nothing_else_is_one(self, tmp_path, output):
        rows = [[row[1], row[3]] for row in people()]
        table = write(tmp_path / "t.csv", rows, ["a:i", "b:x"])
        assert run(table, "--columns", "b:x", "a:i", "-o", output) == 0
        assert read(output)[0] == ["b:x", "a:i"]
        assert run(table, "--columns", "a:i:i", "-o", output) == 0
        assert read(output)[0] == ["a:i"]

    def test_the_output_is_the_same_each_time_and_the_salt_of_another_dataset_makes_another(
        self, table, tmp_path
    ):
        found = []
        for number, dataset in enumerate(("people", "people", "others")):
            path = tmp_path / f"{number}.csv"
            assert run(table, "--aidcolumns", "pid", "--dataset", dataset, "-o", path) == 0
            found.append(path.read_bytes())
        assert found[0] == found[1] != found[2]

    def test_a_copied_or_renamed_table_has_the_same_salt(self, table, tmp_path):
        copy = tmp_path / "renamed.csv"
        copy.write_bytes(table.read_bytes())
        for source, name in ((table, "one.csv"), (copy, "other.csv")):
            assert run(source, "--columns", "age", "city", "-o", tmp_path / name) == 0
        assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()

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


EVERY_OPTION = {
    "--lcf-low-threshold": "2", "-lcf": "2", "--threshold-sd": "0.5", "-thresh_sd": "0.5",
    "--low-mean-gap": "1", "--layer-noise-sd": "2", "-noise_sd": "2", "--outlier-count": "1 2",
    "--top-count": "3 4", "--singularity-low-threshold": "6", "-sing": "6", "--range-low-threshold": "20",
    "-range": "20", "--precision-limit-row-fraction": "100", "--precision-limit-depth-threshold": "5",
    "--clustering-maincolumn": "age", "--clustering-samplesize": "50", "--clustering-maxweight": "4",
    "--clustering-thresh-merge": "0.2", "--clustering-solver-alpha": "0.1",
    "--value-safe-columns": "city age",
    "--ml-target": "city", "--ml_target": "city", "--dataset": "people",
    "--clusters": '{"InitialCluster":[1,0],"DerivedClusters":[]}',
}  # fmt: skip
EVERY_FLAG = ["--no-clustering", "--verbose", "--dev"]


class TestOptions:
    @pytest.mark.parametrize("name", EVERY_OPTION)
    def test_each_option_is_taken_and_only_once(self, table, output, name, capfd):
        values = [EVERY_OPTION[name]] if "{" in EVERY_OPTION[name] else EVERY_OPTION[name].split()
        assert run(table, "--columns", "age:i", "city:s", name, *values, "-o", output) == 0
        assert len(read(output)) > 100
        assert usage(table, name, *values, name, *values) == 2
        assert "given twice" in capfd.readouterr().err

    @pytest.mark.parametrize("name", EVERY_FLAG)
    def test_each_flag_is_taken_and_only_once(self, table, output, name, capfd):
        assert run(table, "--columns", "age:i", "city:s", name, "-o", output) == 0
        assert usage(table, name, name) == 2
        assert "given twice" in capfd.readouterr().err

    def test_an_option_and_its_alias_are_one(self, table):
        assert usage(table, "-lcf", "2", "--lcf-low-threshold", "2") == 2
        assert usage(table, "--output", "a.csv", "-o", "b.csv") == 2
        assert usage(table, "--syndiffix_args", "-lcf 2", "-lcf", "2") == 2

    def test_defaults_are_the_references(self, table, tmp_path):
        found = []
        numbers = (
            "--lcf-low-threshold 3 --threshold-sd 1 --low-mean-gap 2 --layer-noise-sd 1 --outlier-count 2 5 "
            "--top-count 2 5 --singularity-low-threshold 5 --range-low-threshold 15 "
            "--precision-limit-row-fraction 10000 --precision-limit-depth-threshold 15 "
            "--clustering-maxweight 15 --clustering-thresh-merge 0.1"
        )
        for number, given in enumerate(([], numbers.split())):
            path = tmp_path / f"{number}.csv"
            assert run(table, "--aidcolumns", "pid", *given, "-o", path) == 0
            found.append(path.read_bytes())
        assert found[0] == found[1]

    def test_a_high_threshold_hides_and_value_safe_columns_show_all_the_same(self, tmp_path, output):
        rows = [["common"]] * 200 + [["rare"]] * 10 + [["usual"]] * 200
        table = write(tmp_path / "t.csv", rows, ["word"])
        assert run(table, "-lcf", "30", "-o", output) == 0
        assert "rare" not in {row[0] for row in read(output)}
        assert run(table, "-lcf", "30", "--value-safe-columns", "word", "-o", output) == 0
        assert "rare" in {row[0] for row in read(output)}

    def test_clusters_are_read_from_a_file(self, table, tmp_path, output):
        path = tmp_path / "clusters.json"
        path.write_text(
            '{"InitialCluster":[0],"DerivedClusters":[{"StitchOwner":"left","DerivedColumns":[1]}]}'
        )
        assert run(table, "--columns", "age", "city", "--clusters", path, "-o", output) == 0
        assert read(output)[0] == ["age", "city"]

    def test_a_target_keeps_what_helps_to_predict_it_alone_where_asked(self, tmp_path, output):
        generator = np.random.default_rng(1)
        rows = [[str(n % 4), "abcd"[n % 4], str(generator.integers(1000))] for n in range(600)]
        table = write(tmp_path / "t.csv", rows, ["grade", "class", "noise"])
        assert run(table, "--ml-target", "class", "--ml-drop-non-features", "-o", output) == 0
        assert read(output)[0] == ["grade", "class"]


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
        assert [line for line in said if "salt" not in line and "syndiffix:" not in line] == []

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

    @pytest.mark.parametrize("place", [None, "out.csv", "release/debug.json", "no/folder.json"])
    def test_debug_needs_a_file_of_its_own(self, table, tmp_path, place, capfd):
        (tmp_path / "release").mkdir()
        given = [] if place is None else ["-o", tmp_path / place]
        assert run(table, "--columns", "age", "--debug", *given) == 2
        printed, said = capfd.readouterr()
        assert printed == "" and said.startswith("marginalia: ")
        assert list(tmp_path.rglob("*.json")) == []


USAGE = [
    [],
    ["--unknown"],
    ["--column", "age:i"],
    ["--columns"],
    ["--outlier-count", "2"],
    ["--outlier-count", "1", "2", "3"],
    ["--top-count", "a", "b"],
    ["-lcf", "2.5"],
    ["-noise_sd", "much"],
    ["--verbose", "yes", "--dev", "more"],
    ["--syndiffix_args", "--unknown"],
]

REFUSED = {
    "age:x": (["--columns", "age:x"], "name:letter"),
    "no name": (["--columns", ":i"], "name:letter"),
    "no such column": (["--columns", "agee:i"], "'agee'"),
    "a column twice": (["--columns", "age:i", "age:r"], "age"),
    "no such id": (["--aidcolumns", "person"], "'person'"),
    "an id twice": (["--aidcolumns", "pid", "pid"], "listed twice"),
    "only ids": (["--aidcolumns", *HEADER], "a column besides those of ids"),
    "features alone": (["--clustering-mainfeatures", "age"], "main column"),
    "main column": (["--columns", "age", "city", "--clustering-maincolumn", "income"], "'income'"),
    "a feature": (
        ["--columns", "age", "--clustering-maincolumn", "age", "--clustering-mainfeatures", "city"],
        "'city'",
    ),
    "itself": (["--clustering-maincolumn", "age", "--clustering-mainfeatures", "age"], "differ"),
    "target": (["--columns", "age", "city", "--ml-target", "income"], "'income'"),
    "features only": (["--ml-drop-non-features"], "--ml-target"),
    "two ways": (["--ml-target", "age", "--no-clustering"], "not both"),
    "outliers": (["--outlier-count", "5", "2"], "outlier_count"),
    "negative outliers": (["--outlier-count", "-1", "2"], "outlier_count"),
    "top": (["--top-count", "3", "2"], "top_count"),
    "threshold": (["-lcf", "1"], "low_threshold"),
    "singularity": (["-sing", "1"], "singularity_low_threshold"),
    "range": (["-range", "1"], "range_low_threshold"),
    "fraction": (["--precision-limit-row-fraction", "0"], "precision_limit_row_fraction"),
    "depth": (["--precision-limit-depth-threshold", "-1"], "precision_limit_depth_threshold"),
    "threshold sd": (["-thresh_sd", "-1"], "layer_sd"),
    "no number": (["-thresh_sd", "nan"], "layer_sd"),
    "noise sd": (["-noise_sd", "-0.5"], "layer_noise_sd"),
    "gap": (["--low-mean-gap", "-1"], "low_mean_gap"),
    "sample": (["--clustering-samplesize", "0"], "sample_size"),
    "weight": (["--clustering-maxweight", "-1"], "max_weight"),
    "merge": (["--clustering-thresh-merge", "1.5"], "merge_threshold"),
    "alpha": (["--clustering-solver-alpha", "0"], "solver_alpha"),
    "clusters": (["--clusters", "{"], "JSON"),
    "clusters' file": (["--clusters", "nowhere.json"], "nowhere.json"),
    "clusters' columns": (["--clusters", '{"InitialCluster":[0]}'], "every selected column"),
    "value-safe": (["--columns", "age", "--value-safe-columns", "city"], "'city'"),
    "quotes": (["--syndiffix_args", "'"], "quotes"),
    "no dataset": (["--dataset", ""], "must have a name"),
}


class TestRefusals:
    @pytest.mark.parametrize("arguments", USAGE, ids=lambda arguments: " ".join(arguments))
    def test_what_is_no_command_line_ends_with_2(self, table, arguments, capfd):
        assert usage(*([table] if arguments else []), *arguments) == 2
        assert "usage: marginalia" in capfd.readouterr().err

    @pytest.mark.parametrize("which", REFUSED)
    def test_arguments_that_do_not_fit_are_told_before_a_salt_is_made(
        self, table, output, own_ledger, which, capfd
    ):
        arguments, words = REFUSED[which]
        assert run(table, *arguments, "-o", output) == 2
        printed, said = capfd.readouterr()
        assert printed == ""
        assert said.startswith("marginalia: ") and words in said, said
        assert not output.exists() and not (own_ledger / "salts").exists()

    @pytest.mark.parametrize("place", ["people.csv", "ledger/out.csv", ".", "no/folder.csv"])
    def test_an_output_that_must_not_be_there_is_refused(self, table, tmp_path, own_ledger, place, capfd):
        own_ledger.mkdir(mode=0o700)
        before = table.read_bytes()
        assert run(table, "-o", tmp_path / place) == 2
        assert "output" in capfd.readouterr().err
        assert table.read_bytes() == before and list(own_ledger.iterdir()) == []

    def test_a_link_into_the_ledger_is_no_way_around(self, table, tmp_path, own_ledger):
        own_ledger.mkdir(mode=0o700)
        (tmp_path / "link").symlink_to(own_ledger)
        assert run(table, "-o", tmp_path / "link" / "out.csv") == 2

    def test_an_output_is_named_once(self, table, output, capfd):
        assert run(table, output, "-o", output) == 2
        assert "named once" in capfd.readouterr().err

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "empty"),
            (b"age,city\n", "rows"),
            (b"age,age\n1,tell-nobody\n", "Columns 1 and 2"),
            (b"age,city\n1\n2,tell-nobody\n", "2"),
            (b"age,city\n\xff\xfe,tell-nobody\n", "UTF-8"),
            (b"age,\n1,tell-nobody\n", "no name"),
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
        assert "none.csv" in capfd.readouterr().err
