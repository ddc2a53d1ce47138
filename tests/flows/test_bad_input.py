"""Bad input: what is refused, with which exit code and which line; and what is accepted all the same."""

import csv
import math
from pathlib import Path
from typing import Any

import pytest

from flows.command import main as command
from tasks.core.ledger.ledger import open_ledger
from tests.flows import pipeline
from tests.flows.processes import assert_whole, configuration_file, configured, phases, releases

HEADER = ",".join(pipeline.HEADER)


def lines_of(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What the command said of its failure."""
    said = capfd.readouterr().err
    assert "Traceback" not in said
    return [
        line.removeprefix("marginalia: ") for line in said.splitlines() if line.startswith("marginalia: ")
    ]


def refused(path: Path, words: str, capfd: pytest.CaptureFixture[str], name: str = "check") -> None:
    """The command ends with 2 and one line that holds the words."""
    capfd.readouterr()
    assert command.main([name, str(path)]) == 2
    lines = lines_of(capfd)
    assert len(lines) == 1, lines
    assert words in lines[0]


def release_of(folder: Path) -> Path:
    return (folder / "out" / "release" / "people" / "latest").resolve()


#: Keys of a draw by lengths have no effect on another.
BY_LENGTHS: dict[str, Any] = {"synthesis_mode": "aggregate_seeded"}


def epsilon(value: float) -> dict[str, Any]:
    return {"noise_epsilon": value}


def delta(value: float) -> dict[str, Any]:
    return {"privacy": {"delta": value}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *[(epsilon(value), "noise_epsilon must be ") for value in (0, -1, math.nan, math.inf, -math.inf)],
        *[(delta(value), "privacy.delta must be ") for value in (0, 1, 2, -1e-6, math.nan, math.inf)],
        (epsilon(1e9), "epsilon"),
        ({"reporting_length": -2}, "reporting_length must be at least 1, or -1 for all lengths; it is -2"),
        (
            BY_LENGTHS | {"sigma_proportions": [1.0]},
            "sigma_proportions must have one number for each length (2); it has 1",
        ),
        (
            BY_LENGTHS | {"sigma_proportions": [1.0, 1.0], "reporting_length": -1},
            "sigma_proportions must have one number for each length, and there are 6 here; it has 2",
        ),
        (
            BY_LENGTHS | {"noise_threshold_type": "fixed", "noise_threshold_values": {"1": 3}},
            "noise_threshold_values is for lengths from 2; it has 1",
        ),
        ({"dp_aggregates": "no"}, "dp_aggregates must be true or false"),
        ({"synthesis_mode": "row_seeded"}, "synthesis_mode row_seeded reads the raw records"),
        ({"use_columns": ["twon"]}, "use_columns names the column 'twon', which the input does not have"),
        ({"bins": {"Alter": [0, 1]}}, "bins names the column 'Alter', which the input does not have"),
        ({"sensitive_microdata_delimiter": ";"}, "';' leaves a single column, which holds a comma"),
        ({"sensitive_microdata_delimiter": ",,"}, "sensitive_microdata_delimiter must be "),
        (
            {"noise_epsilom": 1},
            "noise_epsilom is not a key of the configuration: did you mean noise_epsilon?",
        ),
    ],
)
def test_a_configuration_that_cannot_be_meant_is_refused_before_anything_runs(
    changes, words, tmp_path, capfd
):
    refused(configuration_file(tmp_path, **changes), words, capfd)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (HEADER.replace("work", "Town ").encode(), "Columns 2 and 6 of the input have the same name"),
        (HEADER.encode() + b",\xe9tat\n", "The input must be text in utf-8, but its header is not"),
    ],
)
def test_a_file_whose_header_cannot_be_used_is_refused(content, words, tmp_path, capfd):
    path = configuration_file(tmp_path)
    (tmp_path / "people.csv").write_bytes(content)
    refused(path, words, capfd)


@pytest.mark.server
def test_a_missing_file_is_refused_by_check_and_by_run(tmp_path, capfd):
    path = configuration_file(tmp_path)
    (tmp_path / "people.csv").unlink()
    refused(path, "does not exist", capfd)
    refused(path, "does not exist", capfd, "run")
    refused(tmp_path / "absent.json", "absent.json does not exist", capfd, "run")


@pytest.mark.server
@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"p1,Aberwick,33\n", "must have as many cells as the header"),
        (b"p1,Aberwick,33,m,pool,employed,more\n", "must have as many cells as the header"),
        (b"p1,\xe9tat,33,m,pool,employed\n", "must be text in utf-8"),
        (b'p1,"Aberwick,33,m,pool,employed\n', "quote"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_and_costs_nothing(row, words, tmp_path, capfd):
    path = configuration_file(tmp_path)
    with (tmp_path / "people.csv").open("ab") as file:
        file.write(row)
    capfd.readouterr()
    assert command.main(["run", str(path)]) == 2
    lines = [line for line in lines_of(capfd) if not line.startswith("for the operator alone: ")]
    assert len(lines) == 1 and words in lines[0], lines
    assert phases() == []
    assert releases(tmp_path) == []
    (stop,) = open_ledger().stops("people")
    assert (stop.vintage, stop.why) == ("2026-11", "unread")
    assert "Aberwick" not in str([entry.body for entry in open_ledger().entries()])


@pytest.mark.server
def test_an_output_that_cannot_be_written_is_refused(tmp_path, own_ledger, capfd):
    path = configuration_file(tmp_path, output_dir=str(tmp_path / "file" / "out"))
    (tmp_path / "file").touch()
    refused(path, "output_dir must be a folder that you can write", capfd, "run")
    assert not (own_ledger / "ledger.sqlite").exists()


@pytest.mark.server
def test_an_exhausted_budget_ends_with_3_before_any_row_is_read(tmp_path, capfd):
    path = configuration_file(tmp_path, privacy={"cap": {"epsilon": 5.0, "delta": 1e-5}})
    with (tmp_path / "people.csv").open("a") as file:
        file.write("a row that would be refused, if anybody read it\n")
    for name in ("run", "check"):
        capfd.readouterr()
        assert command.main([name, str(path)]) == 3
        (line,) = lines_of(capfd)
        assert "people" in line and "cap" in line
    assert open_ledger().datasets() == ()
    # A run marks that it is at work there, so that no purge takes its folder away; nothing else is made.
    assert {path.name for path in (tmp_path / "out" / "sensitive" / "people").iterdir()} <= {".in_use"}


CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: people
version: 1.0.0
status: active
schema:
  - name: people
    customProperties: [{property: subjectId, value: person}]
    quality: [{metric: rowCount, mustBeGreaterOrEqualTo: 98765432}]
    properties:
      - {name: person, required: true}
      - {name: town}
      - {name: age, logicalType: integer, customProperties: [{property: bins, value: [0, 18, 40, 65]}]}
      - {name: sex}
      - name: services
        logicalType: array
        logicalTypeOptions: {maxItems: 2}
        customProperties: [{property: delimiter, value: ";"}]
      - {name: work}
"""


@pytest.mark.server
def test_a_broken_strict_contract_ends_with_4_and_its_verdict_stays_on_the_terminal(
    tmp_path, prefect_server, capfd
):
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    contract = {"path": str(tmp_path / "contract.yaml"), "mode": "strict"}
    path = configuration_file(tmp_path, contract=contract, dataset="strict")
    capfd.readouterr()
    assert command.main(["run", str(path)]) == 4
    said = capfd.readouterr().err
    assert "98765432" in said
    (line,) = [line for line in said.splitlines() if line.startswith("marginalia: ")]
    assert "98765432" not in line and "must keep its data contract" in line
    assert phases("strict") == []
    assert not (tmp_path / "out" / "release" / "strict").exists()

    from tests.flows.server_objects import text_of_everything

    told = text_of_everything(prefect_server, "strict")
    assert "must keep its data contract" in told
    assert "98765432" not in told and "rowCount" not in told


@pytest.mark.server
def test_odd_values_are_released_as_they_are(tmp_path):
    towns = ["a\tb", 'say "hi"', "two\nlines", "x;y", "k:v"]
    table = [[f"p{n}", towns[n % 5], "33", "mf"[n % 2], "pool", "employed"] for n in range(500)]
    table += [["p500", "y" * 1_000_000, "33", "m", "", ""]]
    path = configuration_file(tmp_path, table)
    text = (tmp_path / "people.csv").read_text(encoding="utf-8")
    (tmp_path / "people.csv").write_text("\ufeff" + text, encoding="utf-8")
    assert command.main(["run", str(path)]) == 0
    assert_whole(tmp_path)
    with (release_of(tmp_path) / "people_synthetic_microdata.tsv").open(newline="") as file:
        found = {row["town"] for row in csv.DictReader(file, delimiter="\t")}
    # As in SDS, which joins attributes with these two.
    assert found - {""} == {"a\tb", 'say "hi"', "two\nlines", "x<semicolon>y", "k<colon>v"}


@pytest.mark.server
def test_a_reporting_length_beyond_the_columns_is_clamped_and_costs_nothing(tmp_path, capfd):
    sigmas = []
    changes = {"multi_value_columns": {}, "max_items": {}, "bins": {}, "sensitive_zeros": []}
    changes["use_columns"] = ["sex", "work"]
    for length, label in ((2, "exact"), (9, "beyond")):
        path = configuration_file(tmp_path, vintage=label, reporting_length=length, **changes, **BY_LENGTHS)
        assert command.main(["run", "--aggregate", str(path)]) == 0
        levels = pipeline.json_of(release_of(tmp_path) / "privacy.json")["levels"]
        sigmas.append([level["sigma"] for level in levels])
    assert sigmas[0] == sigmas[1] and len(sigmas[0]) == 2
    assert (
        "reporting_length 9 is more than the number of values that a record can hold, 2:"
        in capfd.readouterr().err
    )


@pytest.mark.server
def test_of_fitted_records_combinations_are_counted_up_to_the_columns(tmp_path):
    changes: dict[str, Any] = {"multi_value_columns": {}, "max_items": {}, "bins": {}, "sensitive_zeros": []}
    changes["use_columns"] = ["sex", "work"]
    counts = []
    for length in (2, -1):
        path = configuration_file(tmp_path, reporting_length=length, **changes)
        assert command.main(["run", "--aggregate", str(path)]) == 0
        counts.append((release_of(tmp_path) / "people_reportable_aggregates.tsv").read_bytes())
    assert counts[0] == counts[1] and counts[0].count(b";") > 0


@pytest.mark.server
@pytest.mark.parametrize(
    ("table", "domains"),
    [
        ([], {}),
        ([["p1", "Aberwick", "33", "m", "pool;clinic", "employed"]], {"sex": ["m", "f"]}),
        ([[f"p{number}", "", "", "", "", ""] for number in range(300)], {}),
    ],
    ids=["no record", "one record", "all missing"],
)
def test_hardly_any_data_is_a_release(table, domains, tmp_path):
    path = configuration_file(tmp_path, table, domains=domains)
    assert command.main(["run", str(path)]) == 0
    assert_whole(tmp_path)
    assert (release_of(tmp_path) / "people_data_showcase.html").exists()
    assert phases() == ["commit"]


@pytest.mark.server
def test_one_column_is_a_release(tmp_path):
    body = {
        "sensitive_microdata_path": str(tmp_path / "one.csv"),
        "dp_aggregates": True,
        "noise_epsilon": 1,
        "dataset": "people",
        "output_dir": str(tmp_path / "out"),
    }
    (tmp_path / "one.csv").write_text("town\n" + "Aberwick\nBrenmoor\n\n" * 200)
    path = configured(tmp_path, **dict.fromkeys(pipeline.flat(tmp_path)) | body)
    assert command.main(["run", str(path)]) == 0
    assert_whole(tmp_path)
