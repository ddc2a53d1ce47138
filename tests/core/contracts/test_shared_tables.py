"""The contracts of public tables fit the tables: no cell outside a declared domain."""

import os
from pathlib import Path

import pytest

from tasks.configuration.flat_file import read_configuration
from tasks.core.contracts.odcs import load_contract
from tasks.core.tables.header import InputFile
from tests.oracles.contracts import judged

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("MARGINALIA_DATA", ROOT.parent / "shared" / "data"))


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", ["adult", "national2019"])
def test_the_contract_of_a_public_table_holds(name):
    path = DATA / f"{name}.csv"
    if not path.is_file():
        missing = f"{path} is missing"
        if os.environ.get("MARGINALIA_NO_SKIPS"):
            pytest.fail(missing)
        pytest.skip(missing)
    declared = read_configuration(ROOT / "deployments" / "configurations" / f"{name}.json").input
    assert declared.contract is not None
    contract = load_contract(ROOT / declared.contract)
    assert all(judged(InputFile(path), contract).verdicts)
