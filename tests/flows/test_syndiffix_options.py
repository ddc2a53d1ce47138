"""The options of ``marginalia syndiffix``: all of the reference's, each once, and what is refused of them."""

import argparse

import pytest

from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.syndiffix import command as syndiffix_command
from flows.command.syndiffix import settings as syndiffix_settings
from tasks.configuration.flat_file import from_flat
from tasks.configuration.protections.syndiffix import SECTION_KEYS, SynDiffix
from tasks.core.errors import ParameterError
from tasks.core.records.cell_reading import CellReading
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster
from tasks.core.syndiffix.reading import ChosenColumn, parse_column
from tasks.core.syndiffix.settings import (
    SETTINGS,
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    FlatteningInterval,
    MlClustering,
    NoClustering,
    SingleClustering,
    SuppressionParameters,
    SynDiffixParameters,
    with_ids,
)
from tasks.core.tables.header import InputFile
from tests.flows.syndiffix_people import HEADER, run, usage

EVERY_OPTION = {
    "--lcf-low-threshold": "2", "-lcf": "2", "--threshold-sd": "0.5", "-thresh_sd": "0.5",
    "--low-mean-gap": "1", "--layer-noise-sd": "2", "-noise_sd": "2", "--outlier-count": "1 2",
    "--top-count": "3 4", "--singularity-low-threshold": "6", "-sing": "6", "--range-low-threshold": "20",
    "-range": "20", "--precision-limit-row-fraction": "100", "--precision-limit-depth-threshold": "5",
    "--clustering-maincolumn": "age", "--clustering-samplesize": "50", "--clustering-maxweight": "4",
    "--clustering-thresh-merge": "0.2", "--clustering-solver-alpha": "0.1",
    "--value-safe-columns": "city age",
    "--ml-target": "city", "--ml_target": "city", "--dataset": "people", "--decimal": ",", "--thousands": "'",
    "--clusters": '{"InitialCluster":[1,0],"DerivedClusters":[]}',
    "--clustering": '{"target":"city"}',
}  # fmt: skip
EVERY_FLAG = ["--no-clustering", "--verbose", "--dev"]


@pytest.mark.parametrize("name", [*EVERY_OPTION, *EVERY_FLAG])
def test_each_option_is_given_only_once(table, name, capfd):
    value = EVERY_OPTION.get(name, "")
    values = [value] if "{" in value else value.split()
    assert usage(table, name, *values, name, *values) == 2
    assert "given twice" in capfd.readouterr().err


def test_an_option_and_its_alias_are_one(table):
    assert usage(table, "-lcf", "2", "--lcf-low-threshold", "2") == 2
    assert usage(table, "--output", "a.csv", "-o", "b.csv") == 2
    assert usage(table, "--syndiffix_args", "-lcf 2", "-lcf", "2") == 2


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
    "commas": (["--columns", "age:i,city:s"], "separated by spaces, not commas: age:i city:s."),
    "commas and spaces": (["--columns", "age:i,", "city"], "separated by spaces, not commas: age:i."),
    "no name": (["--columns", ":i"], "name:letter"),
    "no such column": (["--columns", "agee:i"], "'agee'"),
    "a column twice": (["--columns", "age:i", "age:r"], "age"),
    "no such id": (["--aidcolumns", "person"], "'person'"),
    "an id that is synthesized": (
        ["--aidcolumns", "pid", "--columns", "pid:i", "age"],
        "'pid' says whose row",
    ),
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
    "one cluster and others": (
        ["--no-clustering", "--clusters", "{}"],
        "--no-clustering or --clusters, not both",
    ),
    "one cluster and a main column": (
        ["--no-clustering", "--clustering-maincolumn", "age"],
        "--no-clustering or --clustering-maincolumn, not both",
    ),
    "a target's slip": (
        ["--ml-target", "AGEE"],
        "--ml-target must name selected columns, and 'AGEE' is not one: did you mean 'age'?",
    ),
    "a target's type": (["--ml-target", "age:i"], "give it without its type, age."),
    "a target elsewhere": (["--columns", "age", "--ml-target", "income"], "add it to --columns"),
    "another letter": (["--columns", "AGEE"], "did you mean 'age'?"),
    "outliers": (["--outlier-count", "5", "2"], "--outlier-count must be two whole numbers"),
    "negative outliers": (["--outlier-count", "-1", "2"], "the first at least 0"),
    "top": (["--top-count", "3", "2"], "--top-count must be two whole numbers"),
    "threshold": (["-lcf", "1"], "-lcf must be a whole number of at least 2, not 1"),
    "singularity": (["-sing", "1"], "-sing must be a whole number of at least 2"),
    "range": (["--range-low-threshold", "1"], "--range-low-threshold must be a whole number"),
    "fraction": (
        ["--precision-limit-row-fraction", "0"],
        "--precision-limit-row-fraction must be a whole number of at least 1",
    ),
    "depth": (
        ["--precision-limit-depth-threshold", "-1"],
        "--precision-limit-depth-threshold must be a whole number of at least 0",
    ),
    "threshold sd": (["-thresh_sd", "-1"], "-thresh_sd must be a number from 0 to 1e+06, not -1.0"),
    "no number": (["-thresh_sd", "nan"], "-thresh_sd must be a number"),
    "noise sd": (["-noise_sd", "nan"], "-noise_sd must be a number"),
    "gap": (["--low-mean-gap", "-1"], "--low-mean-gap must be a number"),
    "sample": (["--clustering-samplesize", "0"], "--clustering-samplesize must be"),
    "weight": (["--clustering-maxweight", "-1"], "--clustering-maxweight must be"),
    "merge": (["--clustering-thresh-merge", "1.5"], "--clustering-thresh-merge must be"),
    "alpha": (["--clustering-solver-alpha", "0"], "--clustering-solver-alpha must be"),
    "clusters": (["--clusters", "{"], "JSON"),
    "clusters' file": (["--clusters", "nowhere.json"], "nowhere.json"),
    "clusters' columns": (["--clusters", '{"InitialCluster":[0]}'], "every selected column"),
    "no clustering": (["--clustering", "single"], "clustering must be 'default', 'one', 'none', {"),
    "clustering's JSON": (["--clustering", "[[age]]"], "clustering must be valid JSON"),
    "clustering's numbers": (["--clustering", "[[0, 1]]"], "must have in list 1 names of columns."),
    "clustering's owner": (
        ["--clustering", '[["age"], {"columns": ["city"], "owner": "me"}]'],
        "must have in list 2 names of columns, or such as",
    ),
    "clustering's slip": (
        ["--columns", "age", "city", "--clustering", '[["age"], ["agee", "city"]]'],
        "--clustering must name selected columns, and 'agee' is not one: did you mean 'age'?",
    ),
    "clustering's target": (
        ["--columns", "age", "city", "--clustering", '{"target": "income"}'],
        "--clustering must name selected columns, and 'income' is not one",
    ),
    "clustering that lacks a column": (
        ["--columns", "age", "city", "income", "--clustering", '[["age", "city"]]'],
        "every selected column in a list, and 'income' is in none",
    ),
    "clustering that adds nothing": (
        ["--columns", "age", "city", "--clustering", '[["age", "city"], ["city"]]'],
        "list 2 must add a column to those before",
    ),
    "clustering and the reference's": (
        ["--clustering", "one", "--no-clustering"],
        "--clustering or --no-clustering, not both",
    ),
    "clustering without effect": (
        ["--clustering", "one", "--clustering-maxweight", "5"],
        "--clustering-maxweight has no effect where --clustering is one",
    ),
    "quotes": (["--syndiffix_args", "'"], "quote"),
    "a blob's size alone": (["--blob-largest", "2"], "--blob"),
    "no dataset": (["--dataset", ""], "must have a name"),
    "a type that no cell has": (["--columns", "city:i", "age:i"], "integers to be read as city:i"),
    "value-safe elsewhere": (
        ["--columns", "age", "--value-safe-columns", "city"],
        "leave it out, or add it to --columns.",
    ),
    "value-safe's slip": (["--columns", "age", "--value-safe-columns", "ctiy"], "did you mean 'city'"),
}


class TestRefusals:
    @pytest.mark.parametrize("arguments", USAGE, ids=lambda arguments: " ".join(arguments))
    def test_what_is_no_command_line_ends_with_2(self, table, arguments, capfd):
        assert usage(*([table] if arguments else []), *arguments) == 2
        assert "usage: marginalia" in capfd.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["t.csv", "--colums", "age"], "unrecognized arguments: --colums age; did you mean --columns?"),
            (["t.csv", "--lcf", "4"], "did you mean -lcf?"),
            (["t.csv", "--syndiffix_args", "--ouput x"], "did you mean --output?"),
            (["--columns", "age", "t.csv"], "required: FILE: give FILE first"),
        ],
    )
    def test_a_slip_is_told_with_what_helps_and_the_usage_of_the_command(self, arguments, told, capfd):
        assert usage(*arguments) == 2
        said = capfd.readouterr().err
        assert said.startswith("usage: marginalia syndiffix") and told in said

    @pytest.mark.parametrize("which", REFUSED)
    def test_arguments_that_do_not_fit_are_told_before_a_salt_is_made(
        self, table, output, own_ledger, which, capfd
    ):
        arguments, words = REFUSED[which]
        assert run(table, *arguments, "-o", output) == 2
        printed, said = capfd.readouterr()
        assert printed == ""
        assert any(line.startswith("marginalia: ") and words in line for line in said.splitlines()), said
        assert not output.exists() and not (own_ledger / "salts").exists()

    @pytest.mark.parametrize(
        "place", ["people.csv", "ledger/out.csv", "link/out.csv", ".", "no/folder.csv", "/proc/out.csv"]
    )
    def test_an_output_that_must_not_be_there_is_refused(self, table, tmp_path, own_ledger, place, capfd):
        own_ledger.mkdir(mode=0o700)
        (tmp_path / "link").symlink_to(own_ledger)
        before = table.read_bytes()
        assert run(table, "-o", tmp_path / place) == 2
        assert "output" in capfd.readouterr().err
        assert table.read_bytes() == before and list(own_ledger.iterdir()) == []

    @pytest.mark.parametrize("name", ["t.xlsx", "t.tsv.gz", "t.parquet.out", "t.json", "t"])
    def test_an_output_whose_ending_names_no_format_is_refused(
        self, table, tmp_path, own_ledger, name, capfd
    ):
        assert run(table, "-o", tmp_path / name) == 2
        assert "one of .csv, .txt, .tsv, .tab, .parquet, .pq" in capfd.readouterr().err
        assert not (tmp_path / name).exists() and not (own_ledger / "salts").exists()

    def test_an_output_is_named_once(self, table, output, capfd):
        assert run(table, output, "-o", output) == 2
        assert "named once" in capfd.readouterr().err


def test_each_option_becomes_its_parameter():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    syndiffix_options.add_arguments(parser)
    numbers = (
        "t.csv -lcf 4 -thresh_sd 0.5 --low-mean-gap 1.5 -noise_sd 0.25 --outlier-count 1 6 --top-count 3 7 "
        "-sing 8 -range 16 --precision-limit-row-fraction 17 --precision-limit-depth-threshold 18 "
        "--clustering-maincolumn b --clustering-samplesize 19 --clustering-maxweight 20 "
        "--clustering-thresh-merge 0.75 --clustering-solver-alpha 0.125"
    )
    options = syndiffix_options.expand_wrapper_options(parser.parse_args(numbers.split()))
    salt = bytes(range(32))
    assert SynDiffixParameters.of(
        syndiffix_settings.settings_section(options, ["a", "b"]), salt
    ) == SynDiffixParameters(
        AnonymizationParameters(
            salt, SuppressionParameters(4, 0.5, 1.5), FlatteningInterval(1, 6), FlatteningInterval(3, 7), 0.25
        ),
        BucketizationParameters(8, 16, 17, 18),
        DefaultClustering("b", 19, 20.0, 0.75, 0.125),
    )


COLUMNS = ["age", "sex", "0"]
ALL = '{"InitialCluster": [2, 1, 0]}'
STITCHED = (
    '{"InitialCluster": [0, 1], "DerivedClusters": '
    '[{"StitchOwner": "right", "StitchColumns": [1], "DerivedColumns": [2]}]}'
)


def chosen(arguments):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    syndiffix_options.add_arguments(parser)
    options = syndiffix_options.expand_wrapper_options(parser.parse_args(["t.csv", *arguments]))
    found = SynDiffixParameters.of(syndiffix_settings.settings_section(options, COLUMNS)).clustering
    return with_ids(found, COLUMNS)


@pytest.mark.parametrize(
    ("arguments", "strategy"),
    [
        ([], DefaultClustering()),
        (
            [
                "--clustering-samplesize",
                "5",
                "--clustering-maxweight",
                "3",
                "--clustering-thresh-merge",
                "0.2",
            ],
            DefaultClustering(None, 5, 3.0, 0.2),
        ),
        (["--clustering-maincolumn", "age"], DefaultClustering(main_column=0)),
        (["--clustering-maincolumn", "0"], DefaultClustering(main_column=2)),
        (["--no-clustering", "--clustering-maxweight", "1"], SingleClustering()),
        (["--clustering-maxweight", "1", "--clusters", ALL], NoClustering()),
        (["--clustering-maxweight", "0.5", "--clustering-maincolumn", "age"], NoClustering()),
        (["--clusters", ALL, "--clustering-maincolumn", "age"], Clusters((2, 1, 0))),
        (
            ["--clusters", ALL, "--clustering-maincolumn", "age", "--clustering-mainfeatures", "0"],
            Clusters((2, 1, 0)),
        ),
        (["--clusters", STITCHED], Clusters((0, 1), (DerivedCluster("right", (1,), (2,)),))),
        (
            [
                "--clustering-maincolumn",
                "age",
                "--clustering-mainfeatures",
                "0",
                "--clustering-maxweight",
                "3",
            ],
            MlClustering(0, max_weight=3.0, main_features=(2,)),
        ),
        (["--ml-target", "sex", "--ml-drop-non-features"], MlClustering(1, drop_non_features=True)),
        (["--clustering", "default", "--clustering-maincolumn", "age"], DefaultClustering(main_column=0)),
        (["--clustering", "one"], SingleClustering()),
        (["--clustering", "none"], NoClustering()),
        (
            ["--clustering", '{"target": "sex"}', "--clustering-mainfeatures", "age"],
            MlClustering(1, main_features=(0,)),
        ),
        (
            ["--clustering", '[["age", "sex"], {"columns": ["sex", "0"], "owner": "right"}]'],
            Clusters((0, 1), (DerivedCluster("right", (1,), (2,)),)),
        ),
        (
            ["--clustering", '[["sex", "age"], ["0"]]'],
            Clusters((1, 0), (DerivedCluster("shared", (), (2,)),)),
        ),
        (["--ml-target", "sex", "--clustering-maxweight", "1"], MlClustering(1, max_weight=1.0)),
    ],
)
def test_one_option_prevails_in_the_references_order(arguments, strategy):
    assert chosen(arguments) == strategy


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--clustering-mainfeatures", "age"], "--clustering-maincolumn"),
        (["--clustering-maincolumn", "income"], "'income' is not one"),
        (["--clustering-maincolumn", "age", "--clustering-mainfeatures", "income"], "'income' is not one"),
        (["--clusters", '{"InitialCluster": [0, 1]}'], "every selected column, and 2 "),
        (["--no-clustering", "--clustering-samplesize", "0"], "--clustering-samplesize must be"),
        (["--clustering-maxweight", "1", "--clusters", "{"], "valid JSON"),
        (
            ["--clusters", ALL, "--clustering-maincolumn", "age", "--clustering-mainfeatures", "age"],
            "must differ",
        ),
    ],
)
def test_options_that_cannot_be_used_are_refused_whatever_overrides_them(arguments, complaint):
    with pytest.raises(ParameterError, match=complaint):
        chosen(arguments)


def test_all_numbers_out_of_range_are_told_at_once_by_the_options_as_they_were_given():
    with pytest.raises(ParameterError) as raised:
        chosen(["-lcf", "1", "--range-low-threshold", "0", "--outlier-count", "5", "2"])
    assert [problem.split()[0] for problem in raised.value.problems] == [
        "-lcf",
        "--outlier-count",
        "--range-low-threshold",
    ]


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda each: each.name)
def test_option_key_form_and_checks_follow_from_a_setting_s_declaration(setting):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    syndiffix_options.add_arguments(parser)
    (action,) = [each for each in parser._actions if each.dest == setting.name]
    assert (action.option_strings, action.default) == (setting.options, setting.default)
    assert action.help.startswith(setting.meaning)
    field = SynDiffix.model_fields[setting.name]
    assert setting.name in SECTION_KEYS and field.default == setting.default
    assert field.description.lower() == f"{setting.meaning}.".lower()


@pytest.mark.parametrize(
    "name", [name for name, each in SETTINGS.items() if each.kind in ("whole", "number")]
)
def test_a_number_out_of_range_is_refused_alike_by_the_core_the_file_and_the_command(name):
    setting = SETTINGS[name]
    bad = int(setting.least) - 1
    told = f" must be a {'whole ' if setting.kind == 'whole' else ''}number "
    asked = {"sensitive_microdata_path": "t.csv", "synthesis_mode": "syndiffix", "syndiffix": {name: bad}}
    option = setting.options[-1]
    for refused, shown in [
        (lambda: SynDiffixParameters.of({name: bad}), name),
        (lambda: from_flat(asked), f"syndiffix.{name}"),
        (lambda: chosen([f"{option}={bad}"]), option),
    ]:
        with pytest.raises(ParameterError) as raised:
            refused()
        (problem,) = raised.value.problems
        assert problem.startswith(f"{shown}{told}") and f"not {bad}" in problem


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
def test_the_flow_releases_the_table_that_the_command_writes(table, tmp_path):
    asked = ("--columns", "age:i", "city", "--aidcolumns", "pid", "-lcf", "4", "--dataset", "people")
    assert run(table, *asked, "-o", tmp_path / "here.tsv") == 0
    assert run(table, *asked, "--flow", "-o", tmp_path / "out") == 0
    (released,) = (tmp_path / "out" / "release" / "people" / "latest").glob("*_microdata.tsv")
    lines = [sorted(path.read_text().splitlines()) for path in (tmp_path / "here.tsv", released)]
    assert lines[0] == lines[1]


CHOICES = {
    "default": ["--clustering-maincolumn", "city", "--clustering-samplesize", "9"],
    "single": ["--no-clustering"],
    "none": ["--clustering-maxweight", "1"],
    "clusters": [
        "--clusters",
        '{"InitialCluster":[1],"DerivedClusters":[{"StitchOwner":"left","DerivedColumns":[0,2]}]}',
    ],
    "target": ["--ml-target", "city", "--ml-drop-non-features"],
    "features": ["--clustering-maincolumn", "city", "--clustering-mainfeatures", "age"],
}


@pytest.mark.parametrize("choice", CHOICES)
def test_the_configuration_says_what_the_options_say(table, tmp_path, choice):
    numbers = (
        "--aidcolumns pid -lcf 4 -thresh_sd 0.5 --low-mean-gap 1.5 -noise_sd 0.25 --outlier-count 1 6 "
        "--top-count 3 7 -sing 8 -range 16 --precision-limit-row-fraction 17 "
        "--precision-limit-depth-threshold 18 --value-safe-columns city --decimal , age=. --thousands a:i='"
    )
    parser = argparse.ArgumentParser(allow_abbrev=False)
    syndiffix_options.add_arguments(parser)
    options = parser.parse_args([str(table), str(tmp_path / "out"), *numbers.split(), *CHOICES[choice]])
    options = syndiffix_options.expand_wrapper_options(options)
    dated = ChosenColumn("city", reading=CellReading(date_formats=("%d.%m.%Y", "%Y")))
    columns = [parse_column("age:i"), dated, ChosenColumn("a:i")]
    names = [column.name for column in columns]
    section = syndiffix_settings.settings_section(options, names)
    source = InputFile(table)
    configuration = from_flat(syndiffix_command.flat_configuration(options, source, columns, section))
    settings = configuration.protection
    assert settings.parameters() == SynDiffixParameters.of(section)
    assert settings.value_safe_columns == ("city",)
    assert settings.types == {"age": "i"}
    assert configuration.input.use_columns == ("age", "city", "a:i")
    assert configuration.input.date_formats == {"city": ("%d.%m.%Y", "%Y")}
    assert configuration.input.subject_id == "pid"
    assert configuration.input.decimal == {"*": ",", "age": "."}
    assert configuration.input.thousands == {"a:i": "'"}


@pytest.mark.parametrize(
    "arguments", [[], ["-o", "out.csv"], ["-o", "out.json", "--debug"], ["-o", "people.csv"]]
)
def test_a_flow_needs_a_folder(table, arguments, capfd):
    assert run(table, "--columns", "age", "--flow", *arguments) == 2
    assert capfd.readouterr().err.startswith("marginalia: ")
