"""Releases of each protection as the documents for readers are made of them: real statements, small files."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.metadata.release_facts import DescribedRelease, Publication
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.core.statement.syndiffix import SynDiffixFacts, syndiffix_statement
from tasks.core.stored_files import file_sha256
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tests.oracles.anonymous_releases import rounded_inputs
from tests.oracles.releases import ledger_facts, noisy_inputs
from tests.oracles.workloads import draw, parameters, people

SAID = Publication(
    publisher="Office_of *Numbers* & Co.",
    contact="ask@numbers.example",
    purpose="Planning of schools.",
    description="Adults of an invented country.",
    region="Norland",
    sector="Government",
    rationale="Chosen with the data protection officer.",
    data_source="dynamic",
    first_published="2024-01-15",
    license="CC-BY-4.0",
    url="https://numbers.example/survey",
)
PROTECTIONS = ("lengths", "fitted", "k_anonymity", "syndiffix")


def statement(protection: str, **changes: Any) -> dict[str, Any]:
    """``privacy.json`` of a small release, as it is read back."""
    if protection == "lengths":
        body = noisy_inputs(**changes).statement
    elif protection == "fitted":
        drawn = dataclasses.replace(draw(people(300, 1, tags=True), parameters()), private=True)
        body = accounted_statement(drawn, ledger_facts(unit="row", **changes), "abc1234", RunChoices())
    elif protection == "k_anonymity":
        body = rounded_inputs(**changes).statement
    else:
        given = {"dataset": "survey", "vintage": "2024-05", "ids": ("person",)} | changes
        columns = {"age": "integer", "town": "string"}
        noise, buckets = AnonymizationParameters(b"a salt of a test"), BucketizationParameters()
        facts = SynDiffixFacts(**given, columns=columns, anonymization=noise, bucketization=buckets)
        body = syndiffix_statement(facts, "abc1234")
    found: dict[str, Any] = json.loads(json.dumps(body))
    return found


def files_in(folder: Path) -> list[dict[str, Any]]:
    """The manifest's entries of what lies there."""
    return [
        {
            "file": path.relative_to(folder).as_posix(),
            "sha256": file_sha256(path),
            "bytes": path.stat().st_size,
            "protection": "as it says",
            "made_from": "a test",
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def described(
    protection: str, folder: Path, said: Publication = SAID, *, records: bool = True, **changes: Any
) -> DescribedRelease:
    """A release of a few files."""
    folder.mkdir(parents=True, exist_ok=True)
    stated = statement(protection, **changes)
    (folder / "privacy.json").write_text(json.dumps(stated), encoding="utf-8")
    if records:
        lines = 'age\t"a ""messy"" / [name]"\tAge\n18-30\tyes\t1\n\t\t\n'
        (folder / "my_synthetic_microdata.tsv").write_text(lines, encoding="utf-8")
    counts = pa.table({"length": [1], "selections": ["age:18"], "protected_count": [3]})
    pq.write_table(counts, folder / "my_reportable_aggregates.parquet")
    (folder / "my_reportable_aggregates.tsv").write_text("selections\tprotected_count\nage:18\t3\n")
    texts = pa.array([["age"]], pa.list_(pa.string()))
    noisy = pa.table({"columns": texts, "noisy_count": [-2], "scale": [3.5]})
    pq.write_table(noisy, folder / "my_noisy_tables.parquet")
    return DescribedRelease(stated, said, "", "my", folder, files_in(folder))
