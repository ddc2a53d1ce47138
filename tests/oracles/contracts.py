"""Small contracts and tables for tests of contracts, and Cramer's V the slow way."""

from collections import Counter
from pathlib import Path

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.odcs import read_contract
from tasks.core.contracts.public_schema import build_schema
from tasks.core.contracts.rules import Judgement
from tasks.core.contracts.validation import judge_table
from tasks.core.queries import connect
from tasks.core.tables.header import InputFile

HEAD = """\
apiVersion: v3.1.0
kind: DataContract
id: clinic
version: 1.0.0
status: active
schema:
  - name: visits
    customProperties:
      - {property: subjectId, value: person}
    quality:
      - {metric: rowCount, mustBeGreaterOrEqualTo: 3}
      - {type: custom, engine: marginalia, implementation: {rule: noPersonalIdentifiers}}
    properties:
      - {name: person, required: true}
"""

COLUMNS = """\
      - name: ward
        quality:
          - {metric: invalidValues, mustBe: 0, arguments: {validValues: [north, south]}}
          - {metric: nullValues, unit: percent, mustBeLessOrEqualTo: 40}
      - name: age
        logicalType: integer
        customProperties: [{property: bins, value: [0, 18, 65]}]
      - name: languages
        logicalType: array
        logicalTypeOptions: {maxItems: 2}
        customProperties: [{property: delimiter, value: "|"}]
      - name: remark
        quality:
          - type: custom
            engine: marginalia
            implementation: {rule: distinctValues, mustBeLessOrEqualTo: 3}
          - type: custom
            engine: marginalia
            implementation: {rule: forbiddenPattern, name: badge numbers, pattern: "^[A-Z]{2}[0-9]{4}$"}
      - name: seen
        logicalType: date
"""

HEADER = "person,ward,age,languages,remark,seen"

GOOD_ROWS = (
    "1,north,40,da|en,well,2024-01-31",
    "2,south,7,de,,2024-02-01",
    "3,north,,,well,",
    "4,,66,en|da,ill,2023-12-24",
)


def contract_of(columns: str = COLUMNS, head: str = HEAD) -> Contract:
    """The contract of a head and its columns."""
    return read_contract(head + columns)


def write_table(path: Path, rows: tuple[str, ...], header: str = HEADER) -> InputFile:
    """A CSV file."""
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return InputFile(path)


def judged(source: InputFile, contract: Contract) -> Judgement:
    """The verdicts on a file."""
    schema = build_schema(source.headers.names, Declarations(), contract, cap_required=False)
    with connect() as connection:
        return judge_table(connection, source, schema, contract)


def cramers_v(pairs: list[tuple[str, str]]) -> float:
    """Cramer's V of the pairs in which both are present."""
    pairs = [pair for pair in pairs if all(pair)]
    together, left, right = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    chi_squared = sum(
        (together[a, b] - left[a] * right[b] / n) ** 2 / (left[a] * right[b] / n) for a in left for b in right
    )
    return float((chi_squared / n / (min(len(left), len(right)) - 1)) ** 0.5)
