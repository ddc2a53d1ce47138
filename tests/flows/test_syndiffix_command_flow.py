"""``marginalia syndiffix --flow``: the same table as without, in a release of its own."""

import argparse

import pytest

from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.syndiffix import command as syndiffix_command
from flows.command.syndiffix import settings as syndiffix_settings
from tasks.configuration.flat_file import from_flat
from tasks.core.records.cell_reading import CellReading
from tasks.core.syndiffix.reading import ChosenColumn, parse_column
from tasks.core.syndiffix.settings import SynDiffixParameters
from tasks.core.tables.header import InputFile
from tests.flows.syndiffix_people import run

pytestmark = pytest.mark.usefixtures("own_ledger")


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
    options = syndiffix_options.unfold(options)
    dated = ChosenColumn("city", reading=CellReading(date_formats=("%d.%m.%Y", "%Y")))
    columns = [parse_column("age:i"), dated, ChosenColumn("a:i")]
    names = [column.name for column in columns]
    section = syndiffix_settings.section_of(options, names)
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
