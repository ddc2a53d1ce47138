"""The index of a table in partitions: what they are about, and where each lies. No record is in it.

On disk, in the place of coded records: ``partitions.json`` (for each part its store, key and hash; the number
of records), ``dictionary.parquet``, ``schema.json`` and ``slots.json``, as `CodedRecords.write` writes them.
"""

import json
from pathlib import Path

from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.records.coded import CodedFacts, read_dictionary, write_dictionary
from tasks.core.records.columns import Schema
from tasks.core.records.partitions.plan import Partitions

_INDEX = "partitions.json"


def write_partitions(partitions: Partitions, folder: Path) -> None:
    """Write the index into an existing empty folder."""
    facts = partitions.facts
    body = {
        "number_of_records": facts.number_of_records,
        "has_tags": facts.has_tags,
        "parts": [[part.store.root, part.key, part.sha256] for part in partitions.parts],
    }
    write_dictionary(facts.values, folder / "dictionary.parquet")
    (folder / "schema.json").write_text(facts.schema.to_json(), encoding="utf-8")
    (folder / "slots.json").write_text(json.dumps(facts.slot_columns), encoding="utf-8")
    (folder / _INDEX).write_text(json.dumps(body, indent=1), encoding="utf-8")


def is_parted(folder: Path) -> bool:
    """Whether a folder of coded records is an index of partitions."""
    return (folder / _INDEX).is_file()


def read_partitions(folder: Path, scratch: str = "") -> Partitions:
    """The partitions that `write_partitions` wrote of. Args: scratch: see `PartStore`."""
    body = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    schema = Schema.from_json((folder / "schema.json").read_text(encoding="utf-8"))
    facts = CodedFacts(
        schema=schema,
        slot_columns=tuple(json.loads((folder / "slots.json").read_text(encoding="utf-8"))),
        values=read_dictionary(folder / "dictionary.parquet", len(schema.columns)),
        number_of_records=body["number_of_records"],
        has_tags=body["has_tags"],
    )
    parts = [StoredPart(PartStore(root, scratch), key, sha256) for root, key, sha256 in body["parts"]]
    return Partitions(tuple(parts), facts)
