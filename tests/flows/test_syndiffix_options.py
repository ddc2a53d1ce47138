"""The options of ``marginalia syndiffix``: all of the reference's, each once, and what is refused of them."""

import shlex

import pytest

from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.syndiffix import command as syndiffix_command
from tasks.configuration.flat_file import from_flat
from tasks.configuration.protections import SECTION_KEYS, SynDiffix
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
from tests.flows.syndiffix_people import HEADER, run, syndiffix_parser, usage


def parsed(*words):
    """The options of a command line."""
    return syndiffix_options.expand_wrapper_options(syndiffix_parser().parse_args([*map(str, words)]))


def test_each_option_is_given_only_once_but_for_formats_of_dates(table, capfd):
    actions = [action for action in syndiffix_parser()._actions if action.option_strings][1:]
    assert all(isinstance(action, syndiffix_options._Once) for action in actions)
    assert [action.dest for action in actions if action.repeats] == ["date_formats"]
    assert usage(table, "-lcf", "2", "--lcf-low-threshold", "2") == 2
    assert "given twice" in capfd.readouterr().err
    assert usage(table, "--syndiffix_args", "-lcf 2", "-lcf", "2") == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "usage: marginalia"),
        ("t.csv --columns", "usage: marginalia"),
        ("t.csv --outlier-count 2", "usage: marginalia"),
        ("t.csv -lcf 2.5", "usage: marginalia"),
        ("t.csv --verbose yes --dev more", "usage: marginalia"),
        ("t.csv --colums age", "unrecognized arguments: --colums age; did you mean --columns?"),
        ("t.csv --lcf 4", "did you mean -lcf?"),
        ("t.csv --syndiffix_args '--ouput x'", "did you mean --output?"),
        ("--columns age t.csv", "required: FILE: give FILE first"),
    ],
)
def test_what_is_no_command_line_ends_with_2_and_what_helps(arguments, told, capfd):
    assert usage(*shlex.split(arguments)) == 2
    said = capfd.readouterr().err
    assert said.startswith("usage: marginalia syndiffix") and told in said


#: A command line -> words of its refusal. What is a number is in `SETTINGS`, and tried below.
REFUSED = {
    "--columns age:x": "name:letter",
    "--columns age:i,city:s": "separated by spaces, not commas: age:i city:s.",
    "--columns age:i, city": "separated by spaces, not commas: age:i.",
    "--columns :i": "name:letter",
    "--columns agee:i": "'agee'",
    "--columns AGEE": "did you mean 'age'?",
    "--columns age:i age:r": "age",
    "--columns city:i age:i": "integers to be read as city:i",
    "--aidcolumns person": "'person'",
    "--aidcolumns pid --columns pid:i age": "'pid' says whose row",
    "--aidcolumns pid pid": "listed twice",
    f"--aidcolumns {' '.join(HEADER)}": "a column besides those of ids",
    "--columns age --value-safe-columns city": "'city' is not one: add it to --columns",
    "--aidcolumns pid --value-safe-columns pid": "'pid' is not one: leave it out.",
    "--columns age --value-safe-columns ctiy": "did you mean 'city'",
    "--clustering-mainfeatures age": "main column",
    "--columns age city --clustering-maincolumn income": "'income'",
    "--columns age --clustering-maincolumn age --clustering-mainfeatures city": "'city'",
    "--clustering-maincolumn age --clustering-mainfeatures age": "differ",
    "--columns age city --ml-target income": "'income'",
    "--columns age --ml-target income": "add it to --columns",
    "--ml-drop-non-features": "--ml-target",
    "--ml-target AGEE": "--ml-target must name selected columns, and 'AGEE' is not one: did you mean 'age'?",
    "--ml-target *": "--ml-target must name selected columns",
    "--ml-target age:i": "give it without its type, age.",
    "--ml-target age --no-clustering": "not both",
    "--no-clustering --clusters {}": "--no-clustering or --clusters, not both",
    "--no-clustering --clustering-maincolumn age": "--no-clustering or --clustering-maincolumn, not both",
    "--outlier-count 5 2": "--outlier-count must be two whole numbers",
    "--outlier-count -1 2": "the first at least 0",
    "--top-count 3 2": "--top-count must be two whole numbers",
    "-noise_sd nan": "-noise_sd must be a number",
    "--no-clustering --clustering-samplesize 0": "--clustering-samplesize must be",
    "--clusters {": "JSON",
    "--clustering-maxweight 1 --clusters {": "valid JSON",
    "--clusters nowhere.json": "nowhere.json",
    """--clusters '{"InitialCluster":[0]}'""": "every selected column",
    "--clustering single": "clustering must be 'default', 'one', 'none', {",
    "--clustering [[age]]": "clustering must be valid JSON",
    "--clustering '[[0, 1]]'": "must have in list 1 names of columns.",
    """--clustering '[["age"], {"columns": ["city"], "owner": "me"}]'""": "must have in list 2 names of",
    """--columns age city --clustering '[["age"], ["agee", "city"]]'""": "'agee' is not one: did you mean",
    """--columns age city --clustering '{"target": "income"}'""": "columns, and 'income' is not one",
    """--columns age city income --clustering '[["age", "city"]]'""": "a list, and 'income' is in none",
    """--columns age city --clustering '[["age", "city"], ["city"]]'""": "list 2 must add a column to those",
    "--clustering one --no-clustering": "--clustering or --no-clustering, not both",
    "--clustering one --clustering-maxweight 5": "has no effect where --clustering is one",
    """--syndiffix_args "'" """: "quote",
    "--blob-largest 2": "--blob",
    "--dataset ''": "must have a name",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_arguments_that_do_not_fit_are_told_before_a_salt_is_made(
    table, output, own_ledger, arguments, capfd
):
    assert run(table, *shlex.split(arguments), "-o", output) == 2
    printed, said = capfd.readouterr()
    assert printed == ""
    lines = [line for line in said.splitlines() if line.startswith("marginalia: ")]
    assert any(REFUSED[arguments] in line for line in lines), said
    assert not output.exists() and not (own_ledger / "salts").exists()


@pytest.mark.parametrize(
    "place",
    [
        "people.csv",
        "ledger/out.csv",
        "link/out.csv",
        ".",
        "no/folder.csv",
        "/proc/out.csv",
        "t.xlsx",
        "t.tsv.gz",
    ],
)
def test_an_output_that_must_not_be_there_or_names_no_format_is_refused(
    table, tmp_path, own_ledger, place, capfd
):
    own_ledger.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(own_ledger)
    before = table.read_bytes()
    assert run(table, "-o", tmp_path / place) == 2
    words = "one of .csv, .txt, .tsv, .tab, .parquet, .pq" if place.startswith("t.") else "output"
    assert words in capfd.readouterr().err
    assert table.read_bytes() == before and list(own_ledger.iterdir()) == []


def test_an_output_is_named_once(table, output, capfd):
    assert run(table, output, "-o", output) == 2
    assert "named once" in capfd.readouterr().err


def test_each_option_becomes_its_parameter():
    numbers = (
        "t.csv -lcf 4 -thresh_sd 0.5 --low-mean-gap 1.5 -noise_sd 0.25 --outlier-count 1 6 --top-count 3 7 "
        "-sing 8 -range 16 --precision-limit-row-fraction 17 --precision-limit-depth-threshold 18 "
        "--clustering-maincolumn b --clustering-samplesize 19 --clustering-maxweight 20 "
        "--clustering-thresh-merge 0.75 --clustering-solver-alpha 0.125"
    )
    options = parsed(*numbers.split())
    salt = bytes(range(32))
    section = syndiffix_options.settings_section(options, ["a", "b"])
    assert SynDiffixParameters.of(section, salt) == SynDiffixParameters(
        AnonymizationParameters(
            salt, SuppressionParameters(4, 0.5, 1.5), FlatteningInterval(1, 6), FlatteningInterval(3, 7), 0.25
        ),
        BucketizationParameters(8, 16, 17, 18),
        DefaultClustering("b", 19, 20.0, 0.75, 0.125),
    )


COLUMNS = ["age", "sex", "0"]
ALL = """--clusters '{"InitialCluster": [2, 1, 0]}'"""
STITCHED = (
    """--clusters '{"InitialCluster": [0, 1], "DerivedClusters": """
    """[{"StitchOwner": "right", "StitchColumns": [1], "DerivedColumns": [2]}]}'"""
)
RIGHT = Clusters((0, 1), (DerivedCluster("right", (1,), (2,)),))


def chosen(arguments):
    """The clustering that options of a table of three columns ask for."""
    options = parsed("t.csv", *shlex.split(arguments))
    found = SynDiffixParameters.of(syndiffix_options.settings_section(options, COLUMNS)).clustering
    return with_ids(found, COLUMNS)


@pytest.mark.parametrize(
    ("arguments", "strategy"),
    [
        ("", DefaultClustering()),
        (
            "--clustering-samplesize 5 --clustering-maxweight 3 --clustering-thresh-merge 0.2",
            DefaultClustering(None, 5, 3.0, 0.2),
        ),
        ("--clustering-maincolumn age", DefaultClustering(main_column=0)),
        ("--clustering-maincolumn 0", DefaultClustering(main_column=2)),
        ("--no-clustering --clustering-maxweight 1", SingleClustering()),
        (f"--clustering-maxweight 1 {ALL}", NoClustering()),
        ("--clustering-maxweight 0.5 --clustering-maincolumn age", NoClustering()),
        (f"{ALL} --clustering-maincolumn age --clustering-mainfeatures 0", Clusters((2, 1, 0))),
        (STITCHED, RIGHT),
        (
            "--clustering-maincolumn age --clustering-mainfeatures 0 --clustering-maxweight 3",
            MlClustering(0, max_weight=3.0, main_features=(2,)),
        ),
        ("--ml-target sex --ml-drop-non-features", MlClustering(1, drop_non_features=True)),
        ("--ml-target sex --clustering-maxweight 1", MlClustering(1, max_weight=1.0)),
        ("--clustering default --clustering-maincolumn age", DefaultClustering(main_column=0)),
        ("--clustering one", SingleClustering()),
        ("--clustering none", NoClustering()),
        (
            """--clustering '{"target": "sex"}' --clustering-mainfeatures age""",
            MlClustering(1, main_features=(0,)),
        ),
        ("""--clustering '[["age", "sex"], {"columns": ["sex", "0"], "owner": "right"}]'""", RIGHT),
        (
            """--clustering '[["sex", "age"], ["0"]]'""",
            Clusters((1, 0), (DerivedCluster("shared", (), (2,)),)),
        ),
    ],
)
def test_one_option_prevails_in_the_references_order(arguments, strategy):
    assert chosen(arguments) == strategy


def test_all_numbers_out_of_range_are_told_at_once_by_the_options_as_they_were_given():
    with pytest.raises(ParameterError) as raised:
        chosen("-lcf 1 --range-low-threshold 0 --outlier-count 5 2")
    named = [problem.split()[0] for problem in raised.value.problems]
    assert named == ["-lcf", "--outlier-count", "--range-low-threshold"]


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda each: each.name)
def test_option_key_form_and_checks_follow_from_a_setting_s_declaration(setting):
    (action,) = [each for each in syndiffix_parser()._actions if each.dest == setting.name]
    assert (action.option_strings, action.default) == (setting.options, setting.default)
    assert action.help.startswith(setting.meaning)
    field = SynDiffix.model_fields[setting.name]
    assert setting.name in SECTION_KEYS and field.default == setting.default
    assert field.description.lower() == f"{setting.meaning}.".lower()
    if setting.kind not in ("whole", "number"):
        return
    # A number out of range is refused alike by the core, the file and the command.
    bad = int(setting.least) - 1
    told = f" must be a {'whole ' if setting.kind == 'whole' else ''}number "
    section = {setting.name: bad}
    asked = {"sensitive_microdata_path": "t.csv", "synthesis_mode": "syndiffix", "syndiffix": section}
    option = setting.options[-1]
    for refused, shown in [
        (lambda: SynDiffixParameters.of(section), setting.name),
        (lambda: from_flat(asked), f"syndiffix.{setting.name}"),
        (lambda: chosen(f"{option}={bad}"), option),
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


@pytest.mark.parametrize(
    "choice",
    [
        "--clustering-maincolumn city --clustering-samplesize 9",
        "--no-clustering",
        "--clustering-maxweight 1",
        "--clusters "
        """'{"InitialCluster":[1],"DerivedClusters":[{"StitchOwner":"left","DerivedColumns":[0,2]}]}'""",
        "--ml-target city --ml-drop-non-features",
        "--clustering-maincolumn city --clustering-mainfeatures age",
    ],
)
def test_the_configuration_says_what_the_options_say(table, tmp_path, choice):
    numbers = (
        "--aidcolumns pid -lcf 4 -thresh_sd 0.5 --low-mean-gap 1.5 -noise_sd 0.25 --outlier-count 1 6 "
        "--top-count 3 7 -sing 8 -range 16 --precision-limit-row-fraction 17 "
        "--precision-limit-depth-threshold 18 --value-safe-columns city --decimal , age=. --thousands a:i='"
    )
    options = parsed(table, tmp_path / "out", *numbers.split(), *shlex.split(choice))
    dated = ChosenColumn("city", reading=CellReading(date_formats=("%d.%m.%Y", "%Y")))
    columns = [parse_column("age:i"), dated, ChosenColumn("a:i")]
    section = syndiffix_options.settings_section(options, [column.name for column in columns])
    flat = syndiffix_command.flat_configuration(options, InputFile(table), columns, section)
    configuration = from_flat(flat)
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
