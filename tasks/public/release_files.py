"""The files of a release: what was built goes in, a folder of files with the manifest's entries comes out."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tasks.configuration.model import NEVER_RELEASED, RunConfiguration
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates, read_all_ranges
from tasks.core.aggregates.aggregates_json import write_aggregates_json
from tasks.core.aggregates.interchange import (
    write_aggregates_tsv,
    write_estimates_parquet,
    write_estimates_tsv,
    write_reportable_parquet,
    write_reportable_tsv,
)
from tasks.core.arrays import Json
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.tables_file import write_noisy_tables
from tasks.core.errors import InternalError
from tasks.core.records.columns import Schema
from tasks.core.synthesis.assembly import write_wide_tsv
from tasks.core.synthesis.forms import write_condensed_tsv, write_long_tsv
from tasks.core.synthesis.records import SyntheticRecords, read_synthetic_records
from tasks.public.bundles.bundle import Bundle, CountsBundle
from tasks.public.modes import public_seed
from tasks.storage import StoredTable, Workspace, file_sha256


class Built(Protocol):
    """What a run built from a handed-over folder."""

    def write_files(
        self, workspace: Workspace, configuration: RunConfiguration, bundle: Bundle, folder: Path
    ) -> list[Json]:
        """Write every released file into an empty folder; return the manifest's entries."""


@dataclass
class BuiltCounts:
    """What a run built from protected counts; None where its stages did not go so far."""

    statement: StoredTable
    aggregates: StoredTable
    records: StoredTable | None = None
    recounted: StoredTable | None = None
    evaluation: StoredTable | None = None
    report: StoredTable | None = None

    def write_files(
        self, workspace: Workspace, configuration: RunConfiguration, bundle: Bundle, folder: Path
    ) -> list[Json]:
        """Write every released file into an empty folder; return the manifest's entries."""
        assert isinstance(bundle, CountsBundle), "what is built of counts is released with them"
        prefix = configuration.prefix
        rows = self._write_counts(workspace, bundle, prefix, folder)
        rows |= self._write_records(workspace, bundle, configuration, folder)
        for table in (self.statement, self.evaluation, self.report):
            if table is not None:
                for path in workspace.path(table).iterdir():
                    shutil.copyfile(path, folder / path.name)
        write_json(folder / "configuration.json", public_configuration(configuration, bundle))
        origins, protection = _origins(configuration, bundle), bundle.protection(configuration)
        return [_entry(path, rows, origins, protection) for path in sorted(folder.iterdir())]

    def _write_counts(
        self, workspace: Workspace, bundle: CountsBundle, prefix: str, folder: Path
    ) -> dict[str, int]:
        """Write what is reported; return how many rows each file has."""
        rows: dict[str, int] = {}
        aggregates = read_aggregates(workspace.path(self.aggregates))
        drawn = bundle.drawn()
        if isinstance(drawn, WorkloadMeasurement):
            name = f"{prefix}_noisy_tables.parquet"
            rows[name] = write_noisy_tables(drawn, folder / name)
        for name, write_counts in _count_writers(workspace.path(self.aggregates), aggregates).items():
            write_counts(aggregates, bundle.schema(), folder / f"{prefix}_{name}")
            rows[f"{prefix}_{name}"] = sum(len(counts) for counts in aggregates.counts)
        return rows

    def _write_records(
        self, workspace: Workspace, bundle: CountsBundle, configuration: RunConfiguration, folder: Path
    ) -> dict[str, int]:
        """Write the synthetic records and their counts; return how many rows each file has."""
        prefix, rows = configuration.prefix, {}
        if self.records is not None:
            records = read_synthetic_records(workspace.path(self.records))
            for name in ("synthetic_microdata.tsv", *(_FORMS[form] for form in configuration.output_forms)):
                _RECORDS[name](records, bundle.schema(), folder / f"{prefix}_{name}")
                rows[f"{prefix}_{name}"] = records.number_of_records
        if self.recounted is not None:
            counted = read_aggregates(workspace.path(self.recounted))
            name = f"{prefix}_synthetic_aggregates.tsv"
            write_aggregates_tsv(counted, folder / name, "count")
            rows[name] = sum(len(counts) for counts in counted.counts)
        return rows


_WriteCounts = Callable[[Aggregates, Schema, Path], None]

_COUNTS: dict[str, _WriteCounts] = {
    "reportable_aggregates.tsv": lambda found, schema, path: write_reportable_tsv(found, path),
    "reportable_aggregates.parquet": lambda found, schema, path: write_reportable_parquet(found, path),
    "reportable_aggregated_data.json": lambda found, schema, path: write_aggregates_json(
        found, schema, path, protected=True
    ),
}


def _count_writers(folder: Path, aggregates: Aggregates) -> dict[str, _WriteCounts]:
    """How the reportable aggregates are written: with the ranges of their counts where there are any."""
    ranges = read_all_ranges(folder, aggregates.reporting_length)
    if not ranges:
        return _COUNTS
    return _COUNTS | {
        "reportable_aggregates.tsv": lambda found, schema, path: write_estimates_tsv(found, ranges, path),
        "reportable_aggregates.parquet": lambda found, schema, path: write_estimates_parquet(
            found, ranges, path
        ),
    }


_RECORDS: dict[str, Callable[[SyntheticRecords, Schema, Path], None]] = {
    "synthetic_microdata.tsv": lambda records, schema, path: write_wide_tsv(records, path),
    "synthetic_microdata_long.tsv": lambda records, schema, path: write_long_tsv(records, path),
    "synthetic_microdata_condensed.tsv": write_condensed_tsv,
}
_FORMS = {form: f"synthetic_microdata_{form}.tsv" for form in ("long", "condensed")}

PUBLIC = "public configuration"
JUDGED = "the contract's rules, all of which the raw table kept"
#: What is made of these is not protected.
_UNPROTECTED = {PUBLIC: "none: public", JUDGED: "none: exact verdicts on the raw table (see privacy.json)"}

_COMMON = {
    "contract.json": "the contract's rules, judged on released numbers (post-processing)",
    "synthetic_aggregates.tsv": "the synthetic records, counted (post-processing)",
    "evaluation.json": "synthetic records against the reportable aggregates (post-processing)",
    "report.html": "the measurement and what was made from it (post-processing)",
    "configuration.json": PUBLIC,
}
_ESTIMATED = "the fitted records, counted, with noisy counts and ranges of the measurement (post-processing)"
#: Of a fitted release.
_FITTED = (
    dict.fromkeys(_COUNTS, _ESTIMATED)
    | dict.fromkeys(_RECORDS, "fitted to the measurement alone (post-processing)")
    | {
        "noisy_tables.parquet": "the measurement: every noisy count as drawn",
        "evaluation.json": "the fitted records against the measurement (post-processing)",
    }
)


def _origins(configuration: RunConfiguration, bundle: CountsBundle) -> dict[str, str]:
    """What each released file was made from, by its name without prefix."""
    of_protection = dict(bundle.origins)
    counts = of_protection.pop("counts")
    origins = dict.fromkeys(_COUNTS, counts) | of_protection | _COMMON | _records_origin(configuration)
    if configuration.draws_workload:
        origins |= _FITTED
    if bundle.contract_mode == "strict":
        origins |= {"contract.json": JUDGED}
    return origins


def _records_origin(configuration: RunConfiguration) -> dict[str, str]:
    synthesis = configuration.synthesis
    origin = "drawn from the reportable aggregates alone (post-processing)"
    if synthesis.reads_records:
        origin = (
            f"drawn from the raw records by {synthesis.mode}: a combination of fewer records than the "
            "reporting resolution can't appear"
        )
    return dict.fromkeys(_RECORDS, origin)


def _entry(path: Path, rows: Mapping[str, int], origins: Mapping[str, str], protection: str) -> Json:
    for name, origin in origins.items():
        if path.name == name or path.name.endswith(f"_{name}"):
            entry: Json = {
                "file": path.name,
                "sha256": file_sha256(path),
                "bytes": path.stat().st_size,
                "protection": _UNPROTECTED.get(origin, f"{protection} (see privacy.json)"),
                "made_from": origin,
            }
            return entry | ({"rows": rows[path.name]} if path.name in rows else {})
    raise InternalError(f"A release must hold known files only; {path.name} is not one.")


def public_configuration(configuration: RunConfiguration, bundle: CountsBundle) -> Json:
    """The configuration as released: without the machine's paths, and with the seed where it is public."""
    body: Json = configuration.model_dump(mode="json", exclude=set(NEVER_RELEASED))
    table = dict(bundle.input)
    if table.pop("contract") is None:
        del table["contract_mode"]
    seed = public_seed(bundle, configuration.synthesis)
    synthesis = configuration.synthesis.model_dump(mode="json") | {"random_seed": seed}
    return body | {"input": table, "synthesis": synthesis}


def write_json(path: Path, body: object) -> None:
    """Write JSON that two equal bodies write alike."""
    path.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
