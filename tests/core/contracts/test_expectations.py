"""A contract as Great Expectations says it: its suite judges records, its result holds no value."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.expectations import expectation_suite
from tasks.core.contracts.public_schema import build_schema
from tests.oracles.contracts import GOOD_ROWS, HEADER, contract_of, write_table

ROOT = Path(__file__).resolve().parents[3]
CANARY = "canary-7f3a"
GOOD = {
    "ward": ["north", "south", "north", None],
    "age": ["[18,65]", "<0", None, ">65"],
    "languages_da": ["1", None, None, "1"],
    "remark": ["well", None, "well", "ill"],
    "seen": ["2024-01-31", "2024-02-01", None, "2023-12-24"],
}


@pytest.fixture(scope="module")
def contract():
    return contract_of()


@pytest.fixture(scope="module")
def schema(contract):
    return build_schema(HEADER.split(","), Declarations(), contract, cap_required=True)


def unmet(suite: dict[str, Any], changes: dict[str, list[str | None]]) -> set[str]:
    """Sentences of the suite that a table breaks, by Great Expectations itself."""
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("records").add_dataframe_asset("records")
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch(
        {"dataframe": pd.DataFrame(GOOD | changes, dtype=object)}
    )
    outcome = batch.validate(gx.ExpectationSuite(**json.loads(json.dumps(suite))))
    assert not any(result.exception_info.get("raised_exception", False) for result in outcome.results), (
        "each is one that Great Expectations can judge"
    )
    return {
        result.expectation_config.description or result.expectation_config.type
        for result in outcome.results
        if not result.success
    }


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({}, set()),
        ({"ward": ["west", "south", "north", None]}, {"ward: every value is one of those declared"}),
        ({"ward": [None, None, "north", None]}, {"ward: at most 40 % empty"}),
        ({"age": ["40", None, None, None]}, {"age: every value is one of those declared"}),
        ({"remark": ["a", "b", "c", "d"]}, {"remark: at most 3 distinct values"}),
        (
            {"remark": ["QX1234", "write to jane@x.org", None, None]},
            {
                "remark: nothing that looks like badge numbers",
                "remark: nothing that looks like e-mail addresses",
            },
        ),
        ({"seen": ["yesterday?", None, None, None]}, {"seen: every value is of type date"}),
    ],
)
def test_its_suite_judges_released_records(changes, sentences, contract, schema):
    assert unmet(expectation_suite(contract, schema), changes) == sentences


def test_what_can_not_be_asked_of_the_records_is_said(contract, schema):
    left_out = expectation_suite(contract, schema)["meta"]["left_out"]
    assert left_out[0] == "every record has a subject id"
    assert "languages: at most 2 items a subject" in left_out
    assert all(sentence.startswith("languages: ") for sentence in left_out[1:])


#: What the page's style writes "kept" and "broken" for.
_MARKS = {True: "fa-check-circle text-success", False: "fa-times text-danger"}
_JUDGE = """
import json, os, socket, sys
from pathlib import Path

def refuse(*given, **named):
    raise AssertionError("the network was asked for")

socket.socket.connect = socket.getaddrinfo = refuse
import tasks.core.statement.contract_verdicts
import tasks.core.contracts.draft, tasks.core.contracts.public_schema
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.expectations import expectation_suite, validation_result
from tasks.core.contracts.public_schema import build_schema
from tests.oracles.contracts import COLUMNS, contract_of, judged
from tasks.core.tables.header import InputFile

source = InputFile(Path(sys.argv[1]))
contract = contract_of(COLUMNS.replace("name: remark", "name: remark$ <script>"))
schema = build_schema(source.headers.names, Declarations(), contract, cap_required=False)
judgement = judged(source, contract)
expectation_suite(contract, schema)
assert "great_expectations" not in sys.modules
made = validation_result(judgement, contract, schema)
assert made == validation_result(judgement, contract, schema)
for name, text in zip(("result.json", "docs.html"), made):
    Path(sys.argv[2], name).write_text(text, encoding="utf-8")
"""


def test_its_result_on_a_raw_table_holds_counts_and_asks_neither_network_nor_home(tmp_path):
    """Great Expectations is imported only where a table was judged, and says nothing."""
    rows = (*GOOD_ROWS, *(f"{i},{CANARY},{CANARY},{CANARY},a@{CANARY}.org,{CANARY}" for i in range(5, 9)))
    write_table(tmp_path / "t.csv", rows, HEADER.replace("remark", "remark$ <script>"))
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", _JUDGE, str(tmp_path / "t.csv"), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "MARGINALIA_CACHE": str(tmp_path / "kernels")},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(home.iterdir()) == []
    result = json.loads((tmp_path / "result.json").read_text())
    by_rule = {entry["expectation_config"]["description"]: entry for entry in result["results"]}
    listed = by_rule["ward: every value is one of those listed"]
    assert not result["success"] and not listed["success"]
    assert listed["result"] == {"element_count": 7, "unexpected_count": 4, "unexpected_percent": 400 / 7}
    assert by_rule["at least 3 records"]["result"] == {"observed_value": 8}
    page = (tmp_path / "docs.html").read_text()
    assert "remark$ &lt;script&gt;: at most 3 distinct values" in page
    assert "<script" not in page and "default-src 'none'" in page and "://" not in page
    marks = {passed: page.count(f'<i class="fas {mark}"') for passed, mark in _MARKS.items()}
    assert marks == Counter(entry["success"] for entry in (result, *result["results"]))
    assert CANARY not in page and CANARY not in json.dumps(result)
