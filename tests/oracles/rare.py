"""Rare and unique combinations the slow obvious way, and published tables read as a user's are."""

import itertools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.linkability import RecordAnalysis, analysis_of, single_out
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.oracles import loading

ONE_THREAD = QueryResources(threads=1)

#: S10.1, as a file.
T1_FILE = "A,B,C\na1,b1,c1\na1,b2,c1\na2,,c2\na2,b2,c1\na1,b2,\n"
#: S10.4: but for the order of its rows, the only table of four attributes a record with its figures.
T4_FILE = "A,B,C,F,G,D\n" + "".join(
    "a{},b{},c{},0,0,d{}\n".format(*row)
    for row in ("1111", "1111", "2222", "2222", "3222", "2322", "2232", "2223", "1122", "1211", "2111")
)

Attribute = tuple[int, str]


@dataclass(frozen=True)
class Analysis:
    """What singles out whom.

    Attributes:
        unique_length, rare_length: by record, 0 for none.
        held, rare, unique: by attribute, records that hold it; of them, those with a rare (unique)
            combination that contains it.
    """

    unique_length: list[int]
    rare_length: list[int]
    held: Counter[Attribute]
    rare: Counter[Attribute]
    unique: Counter[Attribute]


def analysed(table: list[list[set[str]]], longest: int, resolution: int) -> Analysis:
    """Every record, every combination of its attributes."""
    records = [[(c, value) for c, values in enumerate(record) for value in values] for record in table]
    own = [
        [frozenset(t) for k in range(1, longest + 1) for t in itertools.combinations(record, k)]
        for record in records
    ]
    counts = Counter(itertools.chain.from_iterable(own))
    found = Analysis([], [], Counter(), Counter(), Counter())
    for record, combinations in zip(records, own, strict=True):
        rare = [t for t in combinations if counts[t] < resolution]
        unique = [t for t in combinations if counts[t] == 1]
        found.rare_length.append(min(map(len, rare), default=0))
        found.unique_length.append(min(map(len, unique), default=0))
        found.held.update(record)
        found.rare.update(set().union(*rare))
        found.unique.update(set().union(*unique))
    return found


def analyse_records(records: CodedRecords, marginals: Marginals, resolution: int) -> RecordAnalysis:
    """How many records are singled out at which length first, as the stages find it between them."""
    found = single_out(records, marginals, resolution)
    return analysis_of(found.unique_length, found.rare_length, max(marginals.lengths, default=0))


def counted(
    records: CodedRecords, folder: Path, length: int = 3, resources: QueryResources = ONE_THREAD
) -> Marginals:
    """Write records to ``folder/records`` and count them into ``folder/marginals``."""
    for name in ("records", "marginals"):
        (folder / name).mkdir(parents=True)
    records.write(folder / "records")
    return count_marginals(folder / "records", folder / "marginals", length, resources)


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


def from_file(text: str, folder: Path, length: int = 3, **declared) -> tuple[CodedRecords, Marginals]:
    """Read a CSV under k-anonymity and count it."""
    (folder / "table.csv").write_text(text, encoding="utf-8")
    records = load(InputFile(folder / "table.csv"), **declared)
    return records, counted(records, folder, length)


def texts_of(aggregates: Aggregates) -> dict[str, int]:
    """Each combination's text and count."""
    return {
        ";".join(aggregates.attributes[i].text for i in row): count
        for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True)
        for row, count in zip(ids.tolist(), counts.tolist(), strict=True)
    }
