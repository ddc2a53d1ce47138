"""The sample of the peer, German credit: a file of its shape is read, judged and coded as declared."""

from pathlib import Path

import pytest

from tasks.configuration.flat_file import read_configuration
from tasks.configuration.model import RunConfiguration
from tasks.configuration.protections.k_anonymity import KAnonymity
from tasks.configuration.synthesis import RowSeeded
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.public_schema import build_schema
from tasks.core.contracts.rules import violations
from tasks.core.contracts.translation import load_contract
from tasks.core.contracts.validation import validate
from tasks.core.queries import connect
from tasks.core.records.columns import Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tasks.plan.describe import declarations
from tests.oracles.german_credit import write_german_credit

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def configuration() -> RunConfiguration:
    return read_configuration(ROOT / "deployments" / "configurations" / "german_credit.json")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, configuration: RunConfiguration) -> InputFile:
    path = tmp_path_factory.mktemp("data") / "german.data"
    write_german_credit(path)
    return InputFile(path, delimiter=configuration.input.delimiter, header=configuration.input.header)


def described(configuration: RunConfiguration, source: InputFile) -> tuple[Schema, Contract]:
    assert configuration.input.contract is not None
    contract = load_contract(ROOT / configuration.input.contract)
    names = source.headers.names
    return build_schema(names, declarations(configuration, names), contract, cap_required=False), contract


def test_it_asks_for_what_the_peers_sample_asks_for(configuration: RunConfiguration) -> None:
    assert isinstance(configuration.protection, KAnonymity)
    assert isinstance(configuration.synthesis, RowSeeded)
    assert (configuration.reporting_length, configuration.reporting_resolution) == (5, 2)
    assert (len(configuration.input.header), len(configuration.input.use_columns)) == (21, 12)
    assert (configuration.input.contract_mode, configuration.unused_keys) == ("strict", ())


def test_three_columns_are_binned_and_no_domain_is_open(
    configuration: RunConfiguration, source: InputFile
) -> None:
    schema, _ = described(configuration, source)
    assert [column.name for column in schema.columns if column.bins] == ["duration", "credit_amount", "age"]
    assert not any(column.is_open for column in schema.columns)


def test_every_cell_has_a_value(configuration: RunConfiguration, source: InputFile) -> None:
    """The peer's bins leave what is above the last edge blank; ours are open at both ends."""
    schema, _ = described(configuration, source)
    records = encode(source, schema, EncodingOptions(total=False, key=b"k"))
    assert records.number_of_records == 1000
    assert all(codes.min() > 0 for codes in records.slots)
    last = [len(values) for values in records.values]
    assert records.slots[1].max() == last[1] and records.slots[4].max() == last[4]


def test_the_file_keeps_its_contract_and_a_strange_code_breaks_it(
    configuration: RunConfiguration, source: InputFile, tmp_path: Path
) -> None:
    schema, contract = described(configuration, source)
    text = source.path.read_text().replace("A410", "A411")
    (tmp_path / "german.data").write_text(text)
    strange = InputFile(tmp_path / "german.data", delimiter=" ", header=configuration.input.header)
    with connect(threads=1) as connection:
        assert violations(validate(connection, source, schema, contract).results) == []
    with connect(threads=1) as connection:
        broken = violations(validate(connection, strange, schema, contract).results)
    assert broken == [
        "Column 'purpose' has values outside its declared list. Correct them, add them to the "
        "list, or declare "
        "other for them."
    ]
