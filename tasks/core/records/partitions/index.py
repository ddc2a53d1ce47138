"""The index of a table in partitions: what they are about, and where each lies. No record is in it.

On disk, in the place of coded records: ``partitions.json`` (for each part its store, key and hash; the number
of records), ``dictionary.parquet``, ``schema.json`` and ``slots.json``, as `CodedRecords.write` writes them.
"""

import json
from pathlib import Path
from typing import Any

from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.coded import CodedFacts, read_dictionary, write_dictionary
from tasks.core.records.columns import Schema
from tasks.core.records.partitioned import PartitionedRecords

_INDEX = "partitions.json"


def write_partitions(records: PartitionedRecords, folder: Path) -> None:
    """Write the index into an existing empty folder."""
    facts = records.facts
    body = {
        "number_of_records": facts.number_of_records,
        "has_tags": facts.has_tags,
        "parts": [[part.store.root, part.key, part.sha256] for part in records.partitions],
    }
    write_dictionary(facts.values, folder / "dictionary.parquet")
    (folder / "schema.json").write_text(facts.schema.to_json(), encoding="utf-8")
    (folder / "slots.json").write_text(json.dumps(facts.slot_columns), encoding="utf-8")
    (folder / _INDEX).write_text(json.dumps(body, indent=1), encoding="utf-8")


def is_parted(folder: Path) -> bool:
    """Whether a folder of coded records is an index of partitions."""
    return (folder / _INDEX).is_file()


def lacks_partitions(folder: Path) -> bool:
    """Whether a folder is an index, and a partition that it names is gone."""
    return is_parted(folder) and not all(part.store.holds(part.key) for part in _parts(_body(folder)))


def read_partitions(folder: Path, workers: Workers, prefix: str = "") -> PartitionedRecords:
    """The table that `write_partitions` wrote the index of.

    Args:
        folder: the index.
        workers: work on the partitions.
        prefix: see `PartitionedRecords`; needed where something is made of them in their store.
    """
    body = _body(folder)
    schema = Schema.from_json((folder / "schema.json").read_text(encoding="utf-8"))
    facts = CodedFacts(
        schema=schema,
        slot_columns=tuple(json.loads((folder / "slots.json").read_text(encoding="utf-8"))),
        values=read_dictionary(folder / "dictionary.parquet", len(schema.columns)),
        number_of_records=body["number_of_records"],
        has_tags=body["has_tags"],
    )
    return PartitionedRecords(_parts(body), facts, workers, prefix)


def _body(folder: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    return body


def _parts(body: dict[str, Any]) -> list[StoredPart]:
    return [StoredPart(PartStore(root), key, sha256) for root, key, sha256 in body["parts"]]
