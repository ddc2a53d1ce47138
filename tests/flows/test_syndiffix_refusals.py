"""What SynDiffix as a flow refuses, before a row is read or anything is made."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ContractViolation, InputError, ParameterError
from tests.flows import pipeline, visits
from tests.flows.server_objects import text_of_everything
from tests.flows.test_runs import fresh_name

pytestmark = pytest.mark.server


def test_a_strict_contract_stops_the_run_before_anything_is_made(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    configuration = visits.prepared(tmp_path, contract=visits.contract(tmp_path, visits.TOWNS[:2]))
    with pytest.raises(ContractViolation):
        pipeline.run(configuration)
    assert not (tmp_path / "out" / "release" / "visits").exists()
    assert not list((tmp_path / "out" / "sensitive").rglob("cluster-*"))


@pytest.mark.parametrize(
    ("section", "changes", "told"),
    [
        ({"columns": ["twon"]}, {}, r"^syndiffix\.columns .*did you mean the name of column \d"),
        ({"columns": ["twon:s", "age"], "tables": [["aeg"]]}, {}, r"'twon'(.|\n)*'aeg'"),
        ({"columns": ["person", "town"]}, {}, "can't be synthesized"),
        ({"main_column": "household"}, {}, "must be among the selected columns"),
        (
            {"clustering": {"target": "twon"}},
            {},
            r"^syndiffix\.clustering .*did you mean the name of column \d",
        ),
        ({"clustering": [["TOWN", "household"]]}, {}, "'household' is not one(.|\n)*every selected column"),
        ({"tables": [["town", "household"]]}, {}, "must name columns that are synthesized"),
        ({"tables": [["town", "age"], ["age", "town"]]}, {}, "each set of columns once"),
        ({"value_safe_columns": ["household"]}, {}, "is not synthesized"),
        ({}, {"bins": {"person": [1, 2]}}, "person"),
    ],
)
def test_columns_that_cannot_be_meant_are_refused_before_a_row_is_read(
    section: dict[str, object],
    changes: dict[str, object],
    told: str,
    tmp_path: Path,
    own_ledger: Path,
    prefect_server: str,
) -> None:
    with pytest.raises(ParameterError, match=told):
        pipeline.run(visits.prepared(tmp_path, section=section, **changes))
    assert not list((tmp_path / "out").rglob("typed_table"))


def test_an_empty_table_is_told(tmp_path: Path, own_ledger: Path, prefect_server: str) -> None:
    with pytest.raises(InputError, match="must hold rows"):
        pipeline.run(visits.prepared(tmp_path, []))


def test_no_salt_is_made_in_the_folder_of_outputs(
    tmp_path: Path, own_ledger: Path, prefect_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "out" / "release" / "ledger"))
    with pytest.raises(ParameterError, match="apart from the outputs"):
        pipeline.run(visits.prepared(tmp_path))
    assert not list(tmp_path.rglob("*.salt"))


def test_flows_of_other_regimes_refuse_it(tmp_path: Path, own_ledger: Path, prefect_server: str) -> None:
    from flows.measure import measure

    with pytest.raises(ParameterError, match="Run the flow syndiffix"):
        measure(visits.prepared(tmp_path))


@pytest.mark.parametrize("header", ["zqxheader", "zqxheader,'zqxheader'"])
def test_a_header_that_nobody_declared_is_told_on_the_terminal_alone(
    tmp_path: Path, own_ledger: Path, prefect_server: str, header: str
) -> None:
    names, dataset = header.split(","), fresh_name("headers")
    columns = [pa.array([1.5, float("inf")] * 100) for _ in names]
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table([pa.array([1, 2] * 100), *columns], names=["age", *names]), path)
    changes = {"sensitive_microdata_path": str(path), "subject_id": None, "syndiffix": {}}
    with pytest.raises(InputError) as raised:
        pipeline.run(from_flat(visits.flat(tmp_path, dataset=dataset, **changes)))
    assert "zqx" not in str(raised.value)
    assert "zqx" in raised.value.operator_detail or "Columns 2 and 3" in str(raised.value)
    assert "zqx" not in text_of_everything(prefect_server, dataset)
