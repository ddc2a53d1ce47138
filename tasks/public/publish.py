"""Publish: what was built from a measurement becomes a release, whole by a rename or not at all."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tasks.configuration.model import NEVER_RELEASED, UNDATED, RunConfiguration
from tasks.core.aggregates.aggregates import read_aggregates, read_all_ranges
from tasks.core.aggregates.interchange import (
    write_aggregates_json,
    write_reportable_parquet,
    write_reportable_tsv,
)
from tasks.core.arrays import Json
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.tables_file import write_noisy_tables
from tasks.core.errors import InternalError, StorageError
from tasks.core.lineage import (
    CONFIGURATION,
    CONTRACT,
    LINEAGE,
    MEASUREMENT,
    TABLE,
    Lineage,
    parents_present,
)
from tasks.core.metadata.croissant import croissant_json
from tasks.core.metadata.errata import ERRATA, read_errata
from tasks.core.metadata.methods import citation_bibtex, citation_cff, citation_text, methods_markdown
from tasks.core.metadata.registry import registry_yaml
from tasks.core.metadata.release_facts import DescribedRelease
from tasks.core.navigation.power_bi import power_bi_template
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tasks.core.stored_files import file_sha256
from tasks.core.synthesis.assembly import write_condensed_tsv, write_long_tsv, write_wide_tsv
from tasks.core.synthesis.records import open_synthetic_records
from tasks.messages import tell
from tasks.public.bundles import Bundle, CountsBundle, MadeFrom, open_bundle, public_seed
from tasks.public.releases import (
    EXPECTATIONS,
    MANIFEST,
    PAGE,
    TEMPLATE,
    copy_files,
    home_of,
    lock_releases,
    page_file,
    point_latest,
    record_copy,
    release_numbers,
    releases_of,
    write_index,
)
from tasks.step import Output, step
from tasks.storage import (
    INTERMEDIATE,
    HoldsResults,
    StoredTable,
    Workspace,
    load_json,
    process_mark,
    write_json,
)
from tasks.version import code_version

#: What these files are made from, as the manifest says it.
DESCRIBED = "the statement, the released files and public configuration"


def write_documents(configuration: RunConfiguration, folder: Path, files: Sequence[Json]) -> list[Json]:
    """Write registry entry, citation, methods and Croissant; return their entries. Args: files: others."""
    release = DescribedRelease(
        statement=load_json(folder / "privacy.json"),
        said=configuration.publication,
        title=configuration.report.title,
        prefix=configuration.prefix,
        folder=folder,
        files=files,
    )
    bibtex = citation_bibtex(release)
    texts = {
        "CITATION.cff": citation_cff(release),
        "methods.md": methods_markdown(release, citation_text(release), bibtex),
    }
    if release.is_private:
        texts["registry.yaml"] = registry_yaml(release)
    texts["croissant.json"] = croissant_json(release, bibtex)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [_entry_on_all(folder, name, DESCRIBED, files, CONFIGURATION) for name in sorted(texts)]


def _entry_on_all(folder: Path, name: str, made_from: str, files: Sequence[Json], *more: str) -> Json:
    """The entry of a file that tells of all others, and is protected as the statement is."""
    (protection,) = (str(entry["protection"]) for entry in files if entry["file"] == "privacy.json")
    parents = [*more, *(str(entry["file"]) for entry in files)]
    return manifest_entry(folder, name, protection, made_from, parents)


def manifest_entry(folder: Path, name: str, protection: str, made_from: str, parents: list[str]) -> Json:
    return {
        "file": name,
        "sha256": file_sha256(folder / name),
        "bytes": (folder / name).stat().st_size,
        "protection": protection,
        "made_from": made_from,
        "parents": parents,
    }


class Built(Protocol):
    """What a run built from a handed-over folder."""

    def write_files(
        self, workspace: Workspace, configuration: RunConfiguration, bundle: Bundle, folder: Path
    ) -> list[Json]:
        """Write every released file into an empty folder; return the manifest's entries."""


@dataclass
class BuiltCounts(HoldsResults):
    """What a run built from protected counts; None where its stages did not go so far."""

    statement: StoredTable
    aggregates: StoredTable
    records: StoredTable | None = None
    recounted: StoredTable | None = None
    evaluation: StoredTable | None = None
    page: StoredTable | None = None

    def write_files(
        self, workspace: Workspace, configuration: RunConfiguration, bundle: Bundle, folder: Path
    ) -> list[Json]:
        assert isinstance(bundle, CountsBundle), "what is built of counts is released with them"
        prefix = configuration.prefix
        rows = self._write_counts(workspace, bundle, prefix, folder)
        rows |= self._write_records(workspace, bundle, configuration, folder)
        copy_tables(workspace, folder, self.statement, self.evaluation)
        if self.page is not None:
            shutil.copyfile(workspace.path(self.page) / PAGE, folder / page_file(prefix))
            (folder / f"{prefix}_{TEMPLATE}").write_bytes(power_bi_template())
        synthesis = configuration.synthesis.model_dump(mode="json", exclude={"random_seed"})
        if not configuration.synthesis.reads_records:
            synthesis["random_seed"] = public_seed(bundle, configuration.synthesis)
        write_public_configuration(folder, configuration, bundle, synthesis)
        origins, protection = _origins(configuration, bundle), bundle.protection(configuration)
        present = {_base(path.name, origins): path.name for path in sorted(folder.iterdir())}
        return list(list_entries(folder, present, origins, rows, protection))

    def _write_counts(
        self, workspace: Workspace, bundle: CountsBundle, prefix: str, folder: Path
    ) -> dict[str, int]:
        """Write the reportable aggregates, with the ranges of their counts where there are any."""
        rows: dict[str, int] = {}
        stored = workspace.path(self.aggregates)
        aggregates = read_aggregates(stored)
        drawn = bundle.drawn()
        if isinstance(drawn, WorkloadMeasurement):
            name = f"{prefix}_noisy_tables.parquet"
            rows[name] = write_noisy_tables(drawn, folder / name)
        text, table, document = (folder / f"{prefix}_{name}" for name in _COUNTS)
        ranges = read_all_ranges(stored, aggregates.reporting_length)
        write_reportable_tsv(aggregates, text, ranges)
        write_reportable_parquet(aggregates, table, ranges)
        write_aggregates_json(aggregates, bundle.schema(), document, protected=True)
        counted = sum(len(counts) for counts in aggregates.counts)
        return rows | dict.fromkeys((path.name for path in (text, table, document)), counted)

    def _write_records(
        self, workspace: Workspace, bundle: CountsBundle, configuration: RunConfiguration, folder: Path
    ) -> dict[str, int]:
        rows: dict[str, int] = {}
        wide, long, condensed = (folder / f"{configuration.prefix}_{name}" for name in _RECORDS)
        if self.records is not None:
            records = open_synthetic_records(workspace.path(self.records))
            write_wide_tsv(records, wide)
            if "long" in configuration.output_forms:
                write_long_tsv(records, long)
            if "condensed" in configuration.output_forms:
                write_condensed_tsv(records, bundle.schema(), condensed)
            written = (path.name for path in (wide, long, condensed) if path.exists())
            rows = dict.fromkeys(written, records.number_of_records)
        if self.recounted is not None:
            counted = read_aggregates(workspace.path(self.recounted))
            name = f"{configuration.prefix}_synthetic_aggregates.tsv"
            write_reportable_tsv(counted, folder / name, count_name="count")
            rows[name] = sum(len(counts) for counts in counted.counts)
        return rows


#: In the folder of a step: the released files, and beside them the manifest's entries of them.
_FILES, _ENTRIES = "files", "entries.json"


@step(INTERMEDIATE, makes="released files", folder="released_files")
def write_release_files(
    into: Output, configuration: RunConfiguration, measurement: StoredTable, built: Built
) -> None:
    """Write every file that is made of what was built; a release of the same finds them made."""
    folder = into.folder / _FILES
    folder.mkdir()
    entries = built.write_files(into.run, configuration, open_bundle(into.run, measurement), folder)
    entries += write_documents(configuration, folder, entries)
    write_json(into.folder / _ENTRIES, entries)


_COUNTS = (
    "reportable_aggregates.tsv",
    "reportable_aggregates.parquet",
    "reportable_aggregated_data.json",
)
_RECORDS = (
    "synthetic_microdata.tsv",
    "synthetic_microdata_long.tsv",
    "synthetic_microdata_condensed.tsv",
)

PUBLIC = "public configuration"
STATIC = "nothing: it holds no data and is the same in every release"
DECLARED = "the data contract and public configuration"
JUDGED = "the contract's rules, all of which the raw table kept"
#: What is made of these is not protected, whatever protects the rest of the release.
_UNPROTECTED = {
    PUBLIC: "none: public",
    STATIC: "none: public",
    DECLARED: "none: public",
    JUDGED: "none: exact verdicts on the raw table (see privacy.json)",
}

#: Of each file by its name without prefix: what it was made from in words, and by name.
_AGGREGATES, _SYNTHETIC = "reportable_aggregates.tsv", "synthetic_microdata.tsv"
_COMMON = {
    "synthetic_aggregates.tsv": MadeFrom(
        "the synthetic records, counted (post-processing)", (_SYNTHETIC, _AGGREGATES)
    ),
    "evaluation.json": MadeFrom(
        "synthetic records against the reportable aggregates (post-processing)",
        (_AGGREGATES, "synthetic_aggregates.tsv"),
    ),
    PAGE: MadeFrom(
        "the measurement and what was made from it (post-processing)",
        (
            "privacy.json",
            "contract.json",
            _AGGREGATES,
            _SYNTHETIC,
            "synthetic_aggregates.tsv",
            "evaluation.json",
        ),
    ),
    TEMPLATE: MadeFrom(STATIC, ()),
    "configuration.json": MadeFrom(PUBLIC, (CONFIGURATION,)),
}
_ESTIMATED = MadeFrom(
    "the fitted records, counted, with noisy counts and ranges of the measurement (post-processing)",
    (MEASUREMENT, _SYNTHETIC),
)
#: Of a fitted release.
_FITTED = (
    dict.fromkeys(_COUNTS, _ESTIMATED)
    | dict.fromkeys(_RECORDS, MadeFrom("fitted to the measurement alone (post-processing)", (MEASUREMENT,)))
    | {
        "noisy_tables.parquet": MadeFrom("the measurement: every noisy count as drawn", (MEASUREMENT,)),
        "evaluation.json": MadeFrom(
            "the fitted records against the measurement (post-processing)", (MEASUREMENT, _SYNTHETIC)
        ),
    }
)


def _origins(configuration: RunConfiguration, bundle: CountsBundle) -> dict[str, MadeFrom]:
    of_protection = dict(bundle.origins)
    counts = of_protection.pop("counts")
    origins = dict.fromkeys(_COUNTS, counts) | of_protection | _COMMON | _records_origin(configuration)
    if configuration.draws_workload:
        del origins["synthetic_aggregates.tsv"]
        origins |= _FITTED
    source = _AGGREGATES
    if bundle.drawn() is not None:  # the page and the evaluation read what was drawn, beside the aggregates
        source = MEASUREMENT
        for name in ("evaluation.json", PAGE):
            words, parents = origins[name]
            origins[name] = MadeFrom(words, (MEASUREMENT, *(each for each in parents if each != MEASUREMENT)))
    return origins | contract_origins(bundle, source)


def contract_origins(bundle: Bundle, released: str | None) -> dict[str, MadeFrom]:
    """Args: released: what a contract that is not strict is judged on; None: the raw table all the same."""
    if bundle.contract_mode == "none":
        return {}
    judged = MadeFrom(JUDGED, (CONTRACT, TABLE))
    if released is not None and bundle.contract_mode != "strict":
        words = "the contract's rules, judged on released numbers (post-processing)"
        judged = MadeFrom(words, (CONTRACT, released))
    return {"contract.json": judged, EXPECTATIONS: MadeFrom(DECLARED, (CONTRACT, CONFIGURATION))}


def _records_origin(configuration: RunConfiguration) -> dict[str, MadeFrom]:
    synthesis = configuration.synthesis
    origin = MadeFrom("drawn from the reportable aggregates alone (post-processing)", (_AGGREGATES,))
    if synthesis.reads_records:
        origin = MadeFrom(
            f"drawn from the raw records by {synthesis.mode}: a combination of fewer records than the "
            "reporting resolution can't appear",
            (MEASUREMENT,),
        )
    return dict.fromkeys(_RECORDS, origin)


def _base(file: str, origins: Mapping[str, MadeFrom]) -> str:
    for name in origins:
        if file == name or file.endswith(f"_{name}"):
            return name
    raise InternalError(f"A release must hold known files only; {file} is not one.")


def list_entries(
    folder: Path,
    present: Mapping[str, str],
    origins: Mapping[str, MadeFrom],
    rows: Mapping[str, int],
    protection: str,
) -> Iterator[Json]:
    """The manifest's entries of a folder's files.

    Args:
        present: the files, by the names that ``origins`` has for them.
        rows: of the files that are tables.
        protection: of every file that ``_UNPROTECTED`` does not name.
    """
    wanted = {base: made.parents for base, made in origins.items()}
    for base, name in present.items():
        origin = origins[base].made_from
        protected = _UNPROTECTED.get(origin, f"{protection} (see privacy.json)")
        entry = manifest_entry(folder, name, protected, origin, parents_present(base, wanted, present))
        yield entry | ({"rows": rows[name]} if name in rows else {})


def lineage_entry(configuration: RunConfiguration, bundle: Bundle, files: list[Json], folder: Path) -> Json:
    """Write ``lineage.json``, what all other files were made from, back to the table; return its entry."""
    measurement = {"sha256": bundle.sha256(), **bundle.crossing(configuration)}
    has_contract = bundle.contract_mode != "none"
    manifest = {"dataset": bundle.dataset, "vintage": bundle.vintage, "files": files}
    found = Lineage.of_manifest(manifest, measurement, has_contract=has_contract)
    check_released_json(found.to_json(), RELEASED_KEYS["lineage"])
    write_json(folder / LINEAGE, found.to_json())
    return _entry_on_all(folder, LINEAGE, "the hashes of the other files, and what each was made from", files)


def copy_tables(workspace: Workspace, folder: Path, *tables: StoredTable | None) -> None:
    """Copy all files of what was built."""
    for table in filter(None, tables):
        for path in workspace.path(table).iterdir():
            shutil.copyfile(path, folder / path.name)


def write_public_configuration(
    folder: Path, configuration: RunConfiguration, bundle: Bundle, synthesis: Json
) -> None:
    """Write it without the machine's paths. Args: synthesis: its section, as public."""
    body: Json = configuration.model_dump(mode="json", exclude=set(NEVER_RELEASED))
    if bundle.vintage != UNDATED:  # as it was settled, whoever asked for it
        body["vintage"] = bundle.vintage
    table = dict(bundle.input)
    if table.pop("contract") is None:
        table.pop("contract_mode", None)
    write_json(folder / "configuration.json", body | {"input": table, "synthesis": synthesis})


class Release(StoredTable):
    def __init__(self, table: StoredTable, files: list[Json], is_new: bool) -> None:
        """Args: files: the manifest's entries. is_new: False where a release held exactly this already."""
        super().__init__(table.key, table.sha256, table.zone, table.stage)
        self.files, self.is_new = files, is_new


@step(INTERMEDIATE)
def publish_release(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    written: StoredTable,
) -> Release:
    """Put the released files in place with a manifest; a release equal to an earlier one is not repeated."""
    bundle = open_bundle(workspace, measurement)
    vintage = bundle.vintage
    home = workspace.release / configuration.dataset
    home.mkdir(parents=True, exist_ok=True)
    files: list[Json] = []

    def write(folder: Path) -> None:
        source = workspace.path(written)
        for path in sorted((source / _FILES).rglob("*")):  # copytree would hide that a disk is full
            place = folder / path.relative_to(source / _FILES)
            if path.is_dir():
                place.mkdir(exist_ok=True)
            else:
                shutil.copyfile(path, place)
        files.extend(load_json(source / _ENTRIES))
        files.append(lineage_entry(configuration, bundle, files, folder))
        files.sort(key=lambda entry: str(entry["file"]))
        manifest = {"code_version": code_version(), "dataset": configuration.dataset, "vintage": vintage}
        write_json(folder / MANIFEST, {**manifest, "files": files})

    candidate = workspace.store(home / f".candidate-{process_mark()}", "release", write)
    folder = workspace.root / candidate.key
    with lock_releases(home):
        equal = next((each for each in releases_of(home, vintage) if _are_equal_releases(each, folder)), None)
        if equal is not None:
            shutil.rmtree(folder)
            place, is_new = equal, False
        else:
            place, is_new = _put_in_place(folder, home, vintage), True
        point_latest(home, place, vintage)
        write_index(home)
    for erratum in read_errata(place):
        tell(f"ATTENTION: {erratum.told(place.name)}")
    key = place.relative_to(workspace.root).as_posix()
    return Release(StoredTable(key, candidate.sha256, "release", "release"), files, is_new)


def _are_equal_releases(one: Path, other: Path) -> bool:
    """Whether two release folders hold the same files; the manifests, which name all others, come first."""
    if not (one / MANIFEST).is_file() or file_sha256(one / MANIFEST) != file_sha256(other / MANIFEST):
        return False
    names = _files(other)
    is_whole = names == _files(one) and all(
        file_sha256(one / name) == file_sha256(other / name) for name in names
    )
    if not is_whole:
        tell(
            f"ATTENTION: the files of release {one.name} were changed: they are no longer what its MANIFEST "
            "says. The run puts the right files into a new release. Withdraw the changed one with "
            "marginalia errata."
        )
    return is_whole


def _files(folder: Path) -> list[str]:
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in names if name != ERRATA)


def _put_in_place(folder: Path, home: Path, vintage: str) -> Path:
    """Rename to the next free number; another run may take it first."""
    while True:
        place = home / f"{vintage}-{max(release_numbers(home, vintage), default=0) + 1}"
        with contextlib.suppress(OSError):
            folder.rename(place)
            return place
        if not folder.is_dir() or not place.exists():
            raise InternalError(f"The run could not put its release in place at {place.name}.")


@step(INTERMEDIATE)
def copy_release(workspace: Workspace, configuration: RunConfiguration, release: Release) -> None:
    """Copy a release to ``publish_to``, where no other one of that name may be."""
    folder = workspace.root / release.key
    home = home_of(str(configuration.publish_to), configuration.dataset)
    record_copy(folder, home)
    try:
        copy_files(folder, home)
    except StorageError as error:
        failure = StorageError(
            f"{error} The release itself is finished, in {folder}: running again copies it, and nothing is "
            "drawn or charged again."
        )
    else:
        return
    raise failure
