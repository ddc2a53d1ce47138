"""A SynDiffix release, from what was handed over and public configuration alone: statement, page, files.

release/<dataset>/<vintage>-<n>/<prefix>_synthetic_microdata.parquet, .tsv    the table of all columns
                                <prefix>_tables/index.json, 00001.parquet ... one a question
                                <prefix>_data_showcase.html                    the page
                                privacy.json, configuration.json, contract.json, expectations.json,
                                MANIFEST.json
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.configuration.model import RunConfiguration
from tasks.core.arrays import Json
from tasks.core.lineage import CONFIGURATION, MEASUREMENT
from tasks.core.navigation.inputs import TablePage
from tasks.core.navigation.payload.columns import describe_unreleased_values
from tasks.core.navigation.payload.synthetic_table import payload_of_table
from tasks.core.navigation.table_page import render_table
from tasks.core.statement.syndiffix import (
    LABEL,
    SYNDIFFIX_REGIME,
    SynDiffixFacts,
    syndiffix_statement,
)
from tasks.core.syndiffix.bins import kind_of, public_edges
from tasks.core.tables.writing import write_table
from tasks.messages import tell
from tasks.public.bundles import Bundle, MadeFrom, open_bundle
from tasks.public.page import PageSettings, read_statement, write_contract_files
from tasks.public.publish import (
    PUBLIC,
    contract_origins,
    copy_tables,
    list_entries,
    write_public_configuration,
)
from tasks.public.releases import PAGE, page_file
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, HoldsResults, StoredTable, Workspace, load_json, write_json
from tasks.version import code_version


@dataclass
class BuiltTables(HoldsResults):
    """What was built from a handed-over SynDiffix table; the page is None where the run did not go so far."""

    statement: StoredTable
    page: StoredTable | None = None

    def write_files(
        self, workspace: Workspace, configuration: RunConfiguration, bundle: Bundle, folder: Path
    ) -> list[Json]:
        prefix, table = configuration.prefix, _table(bundle)
        rows = {}
        for name in _microdata_files(prefix):
            write_table(table, folder / name)
            rows[name] = table.num_rows
        answers = f"{prefix}_tables"
        if _index(bundle):
            (folder / answers).mkdir()
            for path in sorted((bundle.folder / "tables").iterdir()):
                shutil.copyfile(path, folder / answers / path.name)
                if path.suffix == ".parquet":
                    rows[f"{answers}/{path.name}"] = pq.read_metadata(path).num_rows
        copy_tables(workspace, folder, self.statement)
        if self.page is not None:
            shutil.copyfile(workspace.path(self.page) / PAGE, folder / page_file(prefix))
        write_public_configuration(folder, configuration, bundle, {"mode": SYNDIFFIX_REGIME})
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        present = {name: name for name in (path.relative_to(folder).as_posix() for path in files)}
        origins = dict.fromkeys(present, _DRAWN) | _origins(bundle, page_file(prefix))
        return list(list_entries(folder, present, origins, rows, LABEL))


@step(INTERMEDIATE, makes="privacy statement", folder="statement", cached=False)
def state_tables(into: Output, configuration: RunConfiguration, measurement: StoredTable) -> None:
    """Write ``privacy.json`` and, where there is a contract, its verdicts and its suite of expectations."""
    bundle = open_bundle(into.run, measurement)
    settings, parameters = configuration.syndiffix, configuration.syndiffix.parameters()
    table = _table(bundle)
    promised = bundle.schema().subject_id  # by the contract, where the configuration does not say it
    facts = SynDiffixFacts(
        dataset=bundle.dataset,
        vintage=bundle.vintage,
        ids=configuration.ids or ((promised,) if promised else ()),
        columns={field.name: kind_of(field.type) for field in table.schema},
        anonymization=parameters.anonymization,
        bucketization=parameters.bucketization,
        clustering=settings.clustering,
        value_safe_columns=settings.value_safe_columns,
        tables=len(_index(bundle)),
        earlier_releases=_earlier_releases(into.run, bundle),
        measurement_sha256=bundle.sha256(),
        contract_mode=bundle.contract_mode,
        unused_keys=configuration.unused_keys,
        drafted_from_table=bundle.is_drafted,
    )
    write_json(into.folder / "privacy.json", syndiffix_statement(facts, code_version()))
    write_contract_files(into.folder, configuration, bundle, None)


@step(INTERMEDIATE, makes="page", folder="page")
def write_table_page(
    into: Output, measurement: StoredTable, statement: StoredTable, settings: PageSettings
) -> None:
    bundle = open_bundle(into.run, measurement)
    stated, contract = read_statement(into, statement)
    table, prefix = _table(bundle), settings.prefix
    page = TablePage(
        statement=stated,
        table=table,
        bins=public_edges(bundle.schema(), table.column_names),
        naming=settings.naming(stated, bundle.schema()),
        contract=contract,
        files=_microdata_files(prefix),
        tables={f"{prefix}_tables/{file}": names for file, names in _index(bundle).items()},
        read=lambda file, names: pq.read_table(
            bundle.folder / "tables" / Path(file).name, columns=list(names)
        ),
    )
    payload = payload_of_table(page)
    for said in describe_unreleased_values(payload.meta["layout"]):
        tell(said)
    (into.folder / PAGE).write_text(render_table(page, payload), encoding="utf-8")


#: Of every file that is not named in `_origins`: the synthetic tables.
_DRAWN = MadeFrom("drawn from the trees of the raw table by SynDiffix", (MEASUREMENT,))


def _origins(bundle: Bundle, page: str) -> dict[str, MadeFrom]:
    return contract_origins(bundle, None) | {
        "privacy.json": MadeFrom(
            "public parameters and the synthetic table's columns", (CONFIGURATION, MEASUREMENT)
        ),
        page: MadeFrom("the synthetic table", (MEASUREMENT, "privacy.json", "contract.json")),
        "configuration.json": MadeFrom(PUBLIC, (CONFIGURATION,)),
    }


def _table(bundle: Bundle) -> pa.Table:
    return pq.read_table(bundle.folder / "synthetic_table" / "table.parquet")


def _microdata_files(prefix: str) -> list[str]:
    return [f"{prefix}_synthetic_microdata.{ending}" for ending in ("parquet", "tsv")]


def _index(bundle: Bundle) -> Json:
    path = bundle.folder / "tables" / "index.json"
    return load_json(path) if path.is_file() else {}


def _earlier_releases(workspace: Workspace, bundle: Bundle) -> int:
    """How many releases of the dataset with other content SynDiffix had made here before this one's.

    What is released again keeps its number, so that a rebuild is the same to the last byte.
    """
    own, others = bundle.sha256(), set()
    # A name with a dot in front is of a release that is not one yet.
    for path in (workspace.release / bundle.dataset).glob("[!.]*/privacy.json"):
        stated = load_json(path)
        if stated.get("regime") != SYNDIFFIX_REGIME:
            continue
        if stated["measurement_sha256"] != own:
            others.add(stated["measurement_sha256"])
        else:
            return int(stated["earlier_releases"])
    return len(others)
