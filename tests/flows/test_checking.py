"""``marginalia check``: what it tells of a configuration before anything is read or drawn."""

import re
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from flows.command import main as command
from flows.command.checking import print_fitted
from tasks.configuration.flat_file import from_flat
from tasks.core.records.columns import Column, Schema
from tests.flows import pipeline, visits
from tests.flows.pipeline import checked
from tests.flows.processes import python


def test_a_first_line_that_may_be_a_record_is_told(tmp_path, capsys):
    table = [row[:3] for row in pipeline.rows(50)]
    pipeline.write(tmp_path / "people.csv", table[1:], table[0])
    body = {"sensitive_microdata_path": str(tmp_path / "people.csv"), "output_dir": str(tmp_path / "out")}
    assert "column 3 is a number" in checked(tmp_path, capsys, body)
    said = checked(tmp_path, capsys, body | {"sensitive_microdata_header": ["person", "town", "age"]})
    assert "ATTENTION" not in said and "person, town, age" in said


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_without_a_record_is_told_before_anything_is_charged(ending, tmp_path, capsys):
    empty = pa.table({name: pa.array([], pa.string()) for name in pipeline.HEADER})
    (pa_csv.write_csv if ending == "csv" else pq.write_table)(empty, tmp_path / f"people.{ending}")
    table = {"sensitive_microdata_path": str(tmp_path / f"people.{ending}")}
    # Under differential privacy no table stops a run.
    lines = checked(tmp_path, capsys, pipeline.flat(tmp_path) | table).splitlines()
    assert lines[1].startswith("ATTENTION: The table has a header and no record below it.")
    assert lines[-1].endswith("the table holds no record: see ATTENTION above.")
    refused = checked(tmp_path, capsys, pipeline.anonymous(tmp_path) | table, code=2)
    assert "at least one record below its header, but holds none" in refused


def test_a_batch_file_and_a_configuration_are_told_apart(tmp_path, capsys):
    body = {"sensitive_microdata_path": "people.csv", "output_dir": str(tmp_path / "out")}
    batch = {"base_config": body, "runs": {"g": [{"name": "a"}]}}
    assert command.main(["batch", pipeline.saved(tmp_path, body, "run.json")]) == 2
    assert command.main(["run", pipeline.saved(tmp_path, batch, "batch.json")]) == 2
    said = capsys.readouterr().err
    assert "give it to marginalia run" in said and "give it to marginalia batch" in said


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_only_the_rows_of_a_text_are_guessed(ending, tmp_path, capsys):
    body = visits.flat(tmp_path, {"columns": ["town", "age"]})
    columns = zip(*visits.rows(20), strict=True)
    table = pa.table(dict(zip(visits.HEADER, map(list, columns), strict=True)))
    write = pa_csv.write_csv if ending == "csv" else pq.write_table
    write(table, tmp_path / f"visits.{ending}")
    body["sensitive_microdata_path"] = str(tmp_path / f"visits.{ending}")
    for looks in (False, None):
        said = checked(tmp_path, capsys, body | {"check_looks_at_lines": looks})
        known = ending == "parquet" or looks is None
        assert (f"For {table.num_rows} records the run needs at most" in said) is known
        assert ("there are likely far fewer" in said) is not known
        assert ("is guessed from the file's size and the lengths" in said) is (known and ending == "csv")
    assert "The count of each group has noise" in said and "may be off by much more" in said


def test_columns_of_syndiffix_are_listed_by_their_headers_in_the_order_asked_for(tmp_path, capsys):
    header = ("person", "town", "free:b", "age")
    pipeline.write(tmp_path / "visits.csv", [row[: len(header)] for row in visits.rows(20)], header)
    section = {"columns": [{"name": "free:b"}, "age:i", "town"]}
    assert "\n3 columns:\n  free:b, age, town\n" in checked(tmp_path, capsys, visits.flat(tmp_path, section))


def test_a_file_that_is_not_there_is_told_before_what_takes_seconds_to_load(tmp_path):
    code = (
        "import sys; from flows.command import main as command; code = command.main(['check', sys.argv[1]]); "
        "sys.exit(code if 'prefect' not in sys.modules else 99)"
    )
    ended = python(code, tmp_path / "nope.json")
    assert ended.returncode == 2, ended.stderr
    assert "does not exist" in ended.stderr


def _told(folder: Path, capsys: pytest.CaptureFixture[str], number: int, **changes: Any) -> list[str]:
    """What check prints of so many people; it is to end well."""
    pipeline.write(folder / "people.csv", pipeline.rows(number))
    body = pipeline.flat(folder, **({"check_looks_at_lines": True} | changes))
    return checked(folder, capsys, body).splitlines()


def _warned(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("ATTENTION") and "cap" not in line]


def test_noise_that_exceeds_the_records_is_told_with_what_helps(tmp_path, capsys):
    loud = {"noise_epsilon": 0.05, "privacy": {"releases": 1}}
    lines = _told(tmp_path, capsys, 60, **loud)
    columns, sets = _warned(lines)[-2:]
    assert (
        "'age'" in columns
        and "worthless" in columns
        and re.search(r"\(the noisiest first: '\w+' with '\w+'", sets)
    )
    assert any("'town'" in line and "none could reach that" in line for line in _warned(lines))
    assert lines[-1] == (
        "The configuration can be run, but much of its release would be noise: see ATTENTION above."
    )
    assert any(line.startswith("What helps") and "use_columns" in line for line in lines)
    lines = _told(tmp_path, capsys, 600, **loud)
    (said,) = [line for line in lines if line.startswith("What helps")]
    named = re.search(r"epsilon ([0-9.]+)", said)
    assert _warned(lines) and named
    mended = _told(tmp_path, capsys, 600, **loud | {"noise_epsilon": float(named[1])})
    assert not _warned(mended) and mended[-1] == "The configuration can be run."


def test_the_price_is_a_share_of_the_budget(tmp_path, capsys):
    lines = _told(tmp_path, capsys, 600, noise_epsilon=1, privacy={"releases": 4})
    (said,) = [line for line in lines if line.startswith("This release claims epsilon 1,")]
    share = re.search(r"It uses (\S+) % of the dataset's budget \(mu\^2 [0-9.]+\)\.$", said)
    assert share and 24.9 < float(share[1]) <= 25


def test_under_k_anonymity_of_rows_the_group_that_one_person_may_be_has_a_number(tmp_path, capsys):
    pipeline.write(tmp_path / "people.csv", [row[1:] for row in pipeline.rows(200)], pipeline.HEADER[1:])
    body = pipeline.anonymous(tmp_path) | {"subject_id": None, "reporting_resolution": 7}
    said = checked(tmp_path, capsys, body)
    assert "a group of 7 rows (reporting_resolution) can be that person alone" in said


def test_how_many_values_an_open_column_may_have_is_told(tmp_path, capsys):
    lines = _told(tmp_path, capsys, 6000, noise_epsilon=4, privacy={"releases": 1})
    (said,) = [line for line in lines if line.startswith("note: a value of 'town'")]
    named = re.search(r"a noisy count of about (\d+) to be .* no more than (\d+) values", said)
    assert named and int(named[2]) == 6000 // int(named[1]) > 4
    assert lines[-1] == "The configuration can be run."
    lengths = {"synthesis_mode": "aggregate_seeded", "noise_epsilon": 4, "privacy": {"releases": 1}}
    assert any("A column of more values" in line for line in _told(tmp_path, capsys, 6000, **lengths))
    closed = {"use_columns": ["age", "sex"], "multi_value_columns": {}, "max_items": {}}
    assert not any("A column of more values" in line for line in _told(tmp_path, capsys, 6000, **closed))


def test_lengths_that_hardly_anything_can_reach_are_told(tmp_path, capsys):
    by_lengths = {"synthesis_mode": "aggregate_seeded", "reporting_length": 3, "privacy": {"releases": 1}}
    lines = _told(tmp_path, capsys, 600, noise_epsilon=0.5, **by_lengths)
    assert any("combinations of 3 values need a noisy count of" in line for line in _warned(lines))
    assert lines[-1].endswith("see ATTENTION above.")
    beyond = _told(tmp_path, capsys, 600, noise_epsilon=0.5, **by_lengths | {"reporting_length": 9})
    clamped = "reporting_length 9 is more than the number of values that a record can hold, 6:"
    assert any(clamped in line for line in beyond)
    calm = _told(tmp_path, capsys, 6000, noise_epsilon=4, **by_lengths)
    assert not _warned(calm) and calm[-1] == "The configuration can be run."


def test_of_many_columns_that_are_mostly_empty_it_is_told_what_helps(tmp_path, capsys):
    names = [f"c{number}" for number in range(40)]
    pipeline.write(tmp_path / "table.csv", [["0"] * 39 + ["1"]] * 50, names)
    body = {
        "sensitive_microdata_path": str(tmp_path / "table.csv"),
        "output_dir": str(tmp_path / "out"),
        "dp_aggregates": True,
        "noise_epsilon": 4.0,
        "synthesis_mode": "aggregate_seeded",
    }
    cure = '"privacy": {"contribution": "profile"}'
    told = checked(tmp_path, capsys, body)
    assert "the noise is for records of up to 9,880 combinations of 3 values" in told and cure in told
    assert f"{cure} with the accountant gdp" in checked(
        tmp_path, capsys, body | {"privacy": {"accountant": "zcdp"}}
    )
    assert cure not in checked(tmp_path, capsys, body | {"percentile_percentage": 99})


@pytest.mark.parametrize("absent", ["table", "contract", "configuration"])
def test_of_a_relative_path_it_is_told_where_it_was_looked_for(absent, tmp_path, monkeypatch, capsys):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    pipeline.write(tmp_path / "people.csv", pipeline.rows(40))
    body = pipeline.flat(tmp_path)
    names = {"table": "people.csv", "contract": "people.yaml", "configuration": "run.json"}
    if absent == "table":
        body["sensitive_microdata_path"] = names[absent]
    elif absent == "contract":
        body["contract"] = names[absent]
    pipeline.saved(tmp_path, body, "run.json")
    given = names[absent] if absent == "configuration" else str(tmp_path / "run.json")
    assert command.main(["check", given]) == 2
    said = capsys.readouterr().err
    assert f"{names[absent]} does not exist. It was looked for at {elsewhere / names[absent]}" in said
    assert "a relative path starts at the current folder" in said
    monkeypatch.chdir(tmp_path)
    pipeline.saved(tmp_path, pipeline.flat(Path()), "run.json")  # the same paths, from here
    assert command.main(["check", "run.json"]) == 0


def test_what_a_wide_table_is_asked_for_fits_into_memory(capsys):
    """Sets of three of 300 columns are four million, which nobody asked for."""
    schema = Schema(tuple(Column(f"c{place}", domain=("no", "yes")) for place in range(300)))
    private = {"dataset": "a", "dp_aggregates": True, "noise_epsilon": 1, "delta": 1e-6}
    asked = from_flat({"sensitive_microdata_path": "a.csv", **private})
    tracemalloc.start()
    try:
        print_fitted(asked, schema, 1_000)
        assert tracemalloc.get_traced_memory()[1] < 150e6
    finally:
        tracemalloc.stop()
    said = capsys.readouterr().out
    assert "depend on each other most (up to 1,000 of 44,850)" in said
    assert "ATTENTION: of 44,850 pairs of columns at most 1,000 are measured, and likely few." in said
    assert "up to 45 columns (use_columns)" in said and "workload" in said and "larger epsilon" in said
