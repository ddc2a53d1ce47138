"""What draws the noise of `marginalia syndiffix` anew: ids, the dataset's name, and no other option.

The list of options is the parser's own, so that a new one fails here until it is thought of.
"""

import numpy as np
import pytest

from flows.command import main as command
from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.syndiffix import command as syndiffix_command
from tests.flows.syndiffix_people import syndiffix_parser

PLAIN = ["--columns", "age:i", "zip:i", "rent:r"]
#: Each option with what it is set to; None: it settles where things go and is no part of what is made.
TRIED = {
    "table": None,
    "result": None,
    "output": None,
    "flow": None,
    "verbose": None,
    "debug": None,
    "blob": None,
    "blob_largest": None,
    "syndiffix_args": ["--syndiffix_args", "-lcf 4"],
    "dev": ["--dev"],
    "columns": ["--columns", "rent:s", "zip:s", "age"],
    "value_safe_columns": ["--value-safe-columns", "zip"],
    "decimal": ["--columns", "age:i", "zip:i", "rent", "--decimal", ","],
    "thousands": ["--thousands", "'"],
    "date_formats": ["--columns", "age", "zip:i", "rent:r", "--date-format", "age=%H"],
    "encoding": ["--encoding", "latin-1"],
    "low_threshold": ["-lcf", "2"],
    "layer_sd": ["-thresh_sd", "2"],
    "low_mean_gap": ["--low-mean-gap", "1"],
    "layer_noise_sd": ["-noise_sd", "3"],
    "singularity_low_threshold": ["-sing", "7"],
    "range_low_threshold": ["-range", "20"],
    "precision_limit_row_fraction": ["--precision-limit-row-fraction", "10"],
    "precision_limit_depth_threshold": ["--precision-limit-depth-threshold", "2"],
    "outlier_count": ["--outlier-count", "3", "4"],
    "top_count": ["--top-count", "3", "4"],
    "no_clustering": ["--no-clustering"],
    "clusters": ["--clusters", '{"InitialCluster": [0, 1, 2]}'],
    "main_column": ["--clustering-maincolumn", "age"],
    "main_features": ["--clustering-maincolumn", "age", "--clustering-mainfeatures", "zip"],
    "sample_size": ["--clustering-samplesize", "10"],
    "max_weight": ["--clustering-maxweight", "1"],
    "merge_threshold": ["--clustering-thresh-merge", "0.5"],
    "solver_alpha": ["--clustering-solver-alpha", "0.1"],
    "clustering": ["--clustering", "one"],
    "ml_target": ["--ml-target", "age"],
    "drop_non_features": ["--ml-target", "age", "--ml-drop-non-features"],
}
ANEW = {"aidcolumns": ["--aidcolumns", "name"], "dataset": ["--dataset", "others"]}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("noise") / "people.csv"
    generator = np.random.default_rng(3)
    ages, zips, rents = generator.integers(0, 90, 60), generator.integers(0, 9, 60), generator.random(60)
    rows = [f"{a},{z},{r:.1f},n{n}" for n, (a, z, r) in enumerate(zip(ages, zips, rents * 9, strict=True))]
    path.write_text("age,zip,rent,name\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(autouse=True)
def ledger(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path_factory.getbasetemp() / "ledger of noise"))


def seeds(table, arguments):
    """What all noise follows from under some options: whose the rows are, the headers, the salt."""
    options = syndiffix_options.expand_wrapper_options(
        syndiffix_parser().parse_args([str(table), *arguments])
    )
    _, made = syndiffix_command._prepare(options, syndiffix_command._read_request(options), lambda *_: None)
    names = sorted(column.name for column in made.columns)
    return made._hashes.tolist(), names, made.parameters.anonymization.salt


def given(name):
    arguments = (TRIED | ANEW)[name]
    return arguments if "--columns" in arguments else [*PLAIN, *arguments]


def test_every_option_is_tried():
    known = {action.dest for action in syndiffix_parser()._actions} - {"help"}
    assert known == TRIED.keys() | ANEW.keys()


@pytest.mark.parametrize("option", [name for name, arguments in TRIED.items() if arguments])
def test_an_option_does_not_draw_the_noise_anew(table, option):
    assert seeds(table, given(option)) == seeds(table, PLAIN)


@pytest.mark.parametrize("option", list(ANEW))
def test_who_the_people_are_does(table, option):
    assert command.main(["ledger", "others", "--reason", "other people"]) == 0
    assert seeds(table, given(option)) != seeds(table, PLAIN)


def test_a_selection_of_columns_does_not(table):
    hashes, _, salt = seeds(table, ["--columns", "zip:s"])
    assert (hashes, salt) == seeds(table, PLAIN)[::2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-noise_sd", "0"], "counts have no noise"),
        (["-noise_sd", "0.5"], "counts have less noise"),
        (["-lcf", "2"], "groups are shown from 2 people on"),
        (["-thresh_sd", "0.1"], "thresholds have less noise"),
        (["--outlier-count", "0", "0"], "fewer people with many rows are flattened (0 to 0)"),
        (["--value-safe-columns", "zip"], "rare values of zip are shown"),
        (["-lcf", "5"], ""),
        ([], ""),
    ],
)
def test_weaker_protection_is_said_aloud(table, tmp_path, arguments, said, capfd):
    assert (
        command.main(["syndiffix", *map(str, [table, "-o", tmp_path / "out.csv", *PLAIN, *arguments])]) == 0
    )
    weaker = [line for line in capfd.readouterr().err.splitlines() if "weaker than usual" in line]
    assert bool(weaker) == bool(said)
    assert said in "".join(weaker)
