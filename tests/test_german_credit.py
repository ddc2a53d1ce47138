"""The sample of the peer, German credit: it is there, and is read, judged and coded as declared."""

from pathlib import Path

import pytest

from tasks.configuration.flat_file import read_configuration
from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import declarations
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.odcs import load_contract
from tasks.core.contracts.public_schema import build_schema
from tasks.core.contracts.validation import judge_table
from tasks.core.queries import connect
from tasks.core.records.columns import Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def configuration():
    return read_configuration(ROOT / "deployments" / "configurations" / "german_credit.json")


@pytest.fixture(scope="module")
def source(configuration):
    path = ROOT / configuration.input.path
    return InputFile(path, delimiter=configuration.input.delimiter, header=configuration.input.header)


def described(configuration: RunConfiguration, source: InputFile) -> tuple[Schema, Contract]:
    assert configuration.input.contract is not None
    contract = load_contract(ROOT / configuration.input.contract)
    names = source.headers.names
    return build_schema(names, declarations(configuration, names), contract, cap_required=False), contract


def test_it_is_the_published_data_under_its_licence(source):
    """Counts of the documentation: 700 good and 300 bad risks, 21 cells each, of 79,793 bytes."""
    rows = [line.split(" ") for line in source.path.read_text(encoding="ascii").splitlines()]
    assert (len(rows), {len(row) for row in rows}, source.path.stat().st_size) == (1000, {21}, 79_793)
    assert [sum(row[-1] == risk for row in rows) for risk in "12"] == [700, 300]
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert "data/german.data" in notice and "Hofmann" in notice and "CC BY 4.0" in notice


def test_every_cell_has_a_value(configuration, source):
    """The peer's bins leave what is above the last edge blank; ours are open at both ends."""
    schema, _ = described(configuration, source)
    records = encode(source, schema, EncodingOptions(total=False, key=b"k"))
    assert records.number_of_records == 1000
    assert all(codes.min() > 0 for codes in records.slots)
    last = [len(values) for values in records.values]
    assert records.slots[1].max() == last[1] and records.slots[4].max() == last[4]


def test_the_file_keeps_its_contract_and_a_strange_code_breaks_it(configuration, source, tmp_path):
    schema, contract = described(configuration, source)
    text = source.path.read_text().replace("A410", "A411")
    (tmp_path / "german.data").write_text(text)
    strange = InputFile(tmp_path / "german.data", delimiter=" ", header=configuration.input.header)
    with connect() as connection:
        assert judge_table(connection, source, schema, contract).broken == []
    with connect() as connection:
        broken = [rule.violation for rule in judge_table(connection, strange, schema, contract).broken]
    assert broken == [
        "Column 'purpose' has values outside its declared list. Correct them, add them to the "
        "list, or declare "
        "other for them."
    ]
