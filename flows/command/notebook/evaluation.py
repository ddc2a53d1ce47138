"""A release against a raw table, as a notebook asks for it: figures go into ``sensitive/``, and stay there.

What is compared is the release as it lies in its folder, so it need not have been made here.
"""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from flows.command.notebook.runs import in_memory
from tasks.configuration.model import RunConfiguration
from tasks.core.arrays import Json
from tasks.core.contracts.odcs import load_contract
from tasks.core.errors import ParameterError
from tasks.core.evaluation.utility.files import write_utility
from tasks.core.evaluation.utility.measures import MOST_ROWS, measure_utility
from tasks.core.evaluation.utility.table_pair import TablePair, pair_of_records, pair_of_tables
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.table import RecordTable
from tasks.core.stored_files import file_sha256
from tasks.core.syndiffix.bins import public_edges
from tasks.core.syndiffix.reading import read_table
from tasks.core.synthesis.assembly import read_released_records
from tasks.messages import Progress
from tasks.plan.describe import RunFacts, describe
from tasks.plan.resources import query_resources
from tasks.sensitive.read import EncodingRules
from tasks.storage import SENSITIVE, RunWorkspace, Workspace


def answer_evaluate(
    table: bytes,
    *,
    release: str,
    output_dir: str,
    contract: str | None,
    target: str | None,
    group: str | None,
) -> dict[str, Any]:
    """Measure what the records of a release, in a folder, are worth.

    Args:
        output_dir: the workspace.
        contract: the path of the data contract.
        target: a column that one measure is about, as is ``group``.

    Returns:
        ``place``: the folder in ``sensitive/`` with `utility.json` and the rest.
    """
    asked = {"target": target, "group": group}
    configuration = _configuration(Path(release), table, output_dir, contract, asked)
    workspace = Workspace.of(configuration)
    workspace.prepare()
    described = describe(configuration)
    run = RunWorkspace.begin(workspace, configuration.dataset, query_resources(configuration, workspace))
    with closing(Progress("evaluate")) as progress:
        pair = _pair(run, configuration, described, Path(release))
        found = measure_utility(pair, target, group, run.resources.threads, progress)
    place = run.folder(SENSITIVE) / "utility"
    run.store(place, "utility", lambda folder: write_utility(found, folder, configuration.prefix))
    return {"place": str(place)}


def _configuration(
    release: Path, table: bytes, output_dir: str, contract: str | None, asked: dict[str, str | None]
) -> RunConfiguration:
    body: Json = json.loads((release / "configuration.json").read_text(encoding="utf-8"))
    path = in_memory(body["dataset"], table)
    declared = {key: value for key, value in body["input"].items() if key != "contract"}
    _require_contract(body["input"].get("contract"), contract)
    changed = {
        "output_dir": output_dir,
        "input": {**declared, "path": path, "contract": contract},
        "evaluate_utility": asked,
    }
    return RunConfiguration.model_validate_json(json.dumps({**body, **changed}))


def _require_contract(sha256: str | None, given: str | None) -> None:
    """Refuse another contract than the release's: it says which values and bins there are."""
    if sha256 is None and given is None:
        return
    if given is not None:
        load_contract(Path(given))
    if sha256 is None or given is None or file_sha256(Path(given)) != sha256:
        wanted = "no data contract" if sha256 is None else "a data contract"
        raise ParameterError(
            f"The release was made with {wanted}, and evaluate needs the same: "
            f"{'leave contract out.' if sha256 is None else 'give its unchanged file as contract.'}"
        )


def _pair(
    run: RunWorkspace, configuration: RunConfiguration, described: RunFacts, release: Path
) -> TablePair:
    records = str(release / f"{configuration.prefix}_synthetic_microdata")
    if described.selection is not None:
        chosen = described.selection
        raw = read_table(described.source, chosen.table, chosen.ids).columns
        edges = public_edges(described.schema, chosen.columns)
        return pair_of_tables(raw, pq.read_table(f"{records}.parquet"), edges, MOST_ROWS)
    rules = EncodingRules.of(configuration, described.parameters)
    options = EncodingOptions(key=run.secret(), resources=run.resources, **dict(rules))
    raw_records = encode(described.source, described.schema, options)
    synthetic = read_released_records(Path(f"{records}.tsv"), described.schema)
    return pair_of_records(RecordTable.in_memory(raw_records), synthetic, MOST_ROWS)
