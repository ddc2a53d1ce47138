"""A file and what is declared of it to coded records under k-anonymity, and to the wide form of SDS."""

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.oracles import loading


def load(source: InputFile, contract: Contract | None = None, record_limit=None, **declared):
    """Coded records under k-anonymity."""
    headers = source.headers
    schema = build_schema(headers.names, Declarations(**declared), contract, cap_required=False)
    return encode(source, schema, EncodingOptions(total=False, key=b"k", record_limit=record_limit))


def wide(records):
    """Header and rows as SDS writes them: one column an item, 1 where it is held."""
    header, cells = [], []
    held = loading.read_back(records).records
    for index, column in enumerate(records.schema.columns):
        if column.is_multi_valued:
            for value in records.values[index]:
                header.append(f"{column.name}_{value}")
                cells.append(["1" if value in record[index] else "" for record in held])
        else:
            header.append(column.name)
            cells.append(["".join(record[index]) for record in held])
    return header, [list(row) for row in zip(*cells, strict=True)]
