"""What was not counted is in ``sensitive/``, and the operator is told where; under privacy always."""

import re
from pathlib import Path

import pytest

from flows.command.run import run_showcase
from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tests.flows import pipeline, visits
from tests.flows.server_objects import text_of_everything

pytestmark = pytest.mark.server
CANARY = "Ottoline"


def lines_of(configuration: RunConfiguration, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What a run says of cells, without the name of its folder."""
    run_showcase(configuration, ("aggregate",), verbose=False)
    said = capfd.readouterr().err
    assert CANARY not in said
    return [re.sub(r"\d{8}T\d{6}-\w+", "RUN", line) for line in said.splitlines() if "cells" in line]


def tables(configuration: RunConfiguration) -> list[str]:
    """The tables of dropped cells, oldest first."""
    home = Path(configuration.output_dir) / "sensitive" / configuration.dataset
    found = sorted(home.glob("*/*_dropped_cells.tsv"), key=lambda path: path.stat().st_mtime_ns)
    return [path.read_text() for path in found]


def messy() -> list[list[str]]:
    """The people of the pipeline, of whom 40 have an age that is none, and one a name for it."""
    table = pipeline.rows(400)
    for row in table[:40]:
        row[2] = "21,5"
    table[40][2] = CANARY
    return table


def test_under_privacy_the_same_line_is_said_whatever_was_dropped(tmp_path, prefect_server, capfd):
    said = []
    for number, table in enumerate([pipeline.rows(400), messy(), messy()]):
        configuration = pipeline.prepared(tmp_path, table, vintage=f"v{number}", domains={"sex": ["m"]})
        said.append(lines_of(configuration, capfd))
    assert said[0] == said[1] == said[2], "the third reads nothing: what it skips is not told either"
    [line] = said[0]
    assert "people_dropped_cells.tsv" in line and line.startswith("ATTENTION: ")
    clean, first, again = tables(configuration)
    assert first == again and first != clean
    assert "age\tnot a number\t41\n" in first and "age\t" not in clean
    assert "sex\toutside the domain\t200\n" in clean or re.search(r"sex\toutside the domain\t\d+\n", clean)
    assert CANARY not in text_of_everything(prefect_server, configuration.dataset)


def test_under_privacy_a_column_that_is_noise_alone_is_told_from_released_numbers(tmp_path, capfd):
    table = [[*row[:2], f"{row[2]},5", *row[3:]] for row in pipeline.rows(400)]
    configuration = pipeline.prepared(tmp_path, table, vintage="commas")
    run_showcase(configuration, ("navigate",), verbose=False)
    assert "ATTENTION: Mostly empty, by their counts: 'age'" in capfd.readouterr().err
    release = pipeline.latest(configuration)
    statement = pipeline.json_of(release / "privacy.json")
    [*nothing, empty] = statement["columns_to_look_at"]
    [total] = [column["noisy_total"] for column in statement["columns"] if column["name"] == "age"]
    # In one draw of forty, noise alone lies above its own half width: the column is then called low.
    assert len(nothing) == (total["value"] <= total["half_width_95"]) and "decimal" in empty
    page = (release / "people_data_showcase.html").read_text()
    assert all(sentence.replace("'", "&#39;") in page for sentence in (*nothing, empty))


def test_under_k_anonymity_and_by_syndiffix_it_is_said_where_cells_were_dropped(tmp_path, capfd):
    clean = pipeline.prepared_anonymous(tmp_path, domains={})
    assert lines_of(clean, capfd) == [] and tables(clean) == ["column\treason\tcells\n"]
    dirty = pipeline.prepared_anonymous(tmp_path, messy(), domains={}, vintage="messy")
    [line] = lines_of(dirty, capfd)
    assert "ATTENTION: some cells were not counted" in line and "people_dropped_cells.tsv" in line
    assert tables(dirty)[1] == "column\treason\tcells\nage\tnot a number\t41\n"
    rows = visits.rows(60)
    for row in rows[:5]:
        row[3] = CANARY
    pipeline.write(tmp_path / "visits.csv", rows, visits.HEADER)
    body = visits.flat(tmp_path, {"columns": ["age", "income:r"]}, output_dir=str(tmp_path / "trees"))
    trees = from_flat(body)
    [_, line] = lines_of(trees, capfd)
    assert "visits_dropped_cells.tsv" in line
    assert tables(trees) == ["column\treason\tcells\nincome\tnot a number\t5\n"]
