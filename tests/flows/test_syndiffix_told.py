"""What ``marginalia syndiffix`` tells whoever runs it, on standard error, beside what it makes."""

import pytest

from flows.command import main as command
from tasks.configuration.flat_file import from_flat
from tests.flows import pipeline, visits
from tests.flows.syndiffix_people import run

pytestmark = pytest.mark.usefixtures("own_ledger")

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
def test_bins_of_what_is_no_number_are_told_to_have_no_effect_whatever_the_name(
    tmp_path, own_ledger, prefect_server, capfd
):
    header = ["person", "town:i", *visits.HEADER[2:]]
    pipeline.write(tmp_path / "visits.csv", visits.rows(), header)
    section = {"columns": [{"name": "town:i"}, "age"]}
    bins = {"Town:i": [0, 5], "age": [0, 30, 60]}
    pipeline.run(from_flat(visits.flat(tmp_path, section, bins=bins)))
    assert "bins need numbers or times, and these columns hold neither: 'town:i'." in capfd.readouterr().err
