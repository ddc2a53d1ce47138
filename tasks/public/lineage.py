"""The lineage of a run, for the Prefect UI: a diagram and a table, never from a cache.

Of what is released: hash and rows. Of what is sensitive: a keyed hash, so that two runs can be seen to
have used the same, and nothing else.
"""

import json
import re
from collections.abc import Sequence

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from tasks.configuration.model import RunConfiguration
from tasks.public.bundles.bundle import Bundle
from tasks.public.bundles.opening import open_bundle
from tasks.public.publish import Release
from tasks.public.release_files import PUBLIC
from tasks.step import step
from tasks.storage import INTERMEDIATE, SENSITIVE, StoredTable, Workspace


@step(INTERMEDIATE)
def record_lineage(
    workspace: Workspace,
    configuration: RunConfiguration,
    sensitive: Sequence[StoredTable],
    measurement: StoredTable,
    release: Release,
) -> None:
    """Create the artifacts ``lineage-<dataset>`` and, where there is a contract, ``contract-<dataset>``."""
    bundle = open_bundle(workspace, measurement)
    key = re.sub(r"[^a-z0-9]+", "-", configuration.dataset.lower()).strip("-")
    create_markdown_artifact(
        markdown="\n".join(
            [
                *_diagram(configuration, bundle, sensitive, release),
                "",
                *_table(workspace, sensitive, bundle, release),
            ]
        ),
        key=f"lineage-{key}",
        description=f"What release {release.key} was made from.",
    )
    contract = workspace.root / release.key / "contract.json"
    if contract.is_file():
        rules = json.loads(contract.read_text(encoding="utf-8"))["rules"]
        create_table_artifact(
            table=rules,
            key=f"contract-{key}",
            description="The contract's rules and their verdicts, as released.",
        )


def _diagram(
    configuration: RunConfiguration, bundle: Bundle, sensitive: Sequence[StoredTable], release: Release
) -> list[str]:
    """A Mermaid flow chart from the table to the released files."""
    lines = ["```mermaid", "flowchart LR", "  subgraph sensitive"]
    lines += [f"    s{place}[{table.stage}]" for place, table in enumerate(sensitive)]
    lines += [f"    s{place} --> s{place + 1}" for place in range(len(sensitive) - 1)]
    lines += ["  end", f"  measurement[measurement<br/>{bundle.strength(configuration)}]"]
    if sensitive:
        lines.append(f"  s{len(sensitive) - 1} -- {bundle.crossing} --> measurement")
    lines.append("  subgraph release")
    lines += [f"    r{place}[{entry['file']}]" for place, entry in enumerate(release.files)]
    lines.append("  end")
    made = [place for place, entry in enumerate(release.files) if entry["made_from"] != PUBLIC]
    lines += [f"  measurement --> r{place}" for place in made]
    return [*lines, "```"]


def _table(
    workspace: Workspace, sensitive: Sequence[StoredTable], bundle: Bundle, release: Release
) -> list[str]:
    rows = ["| what | zone | hash | rows | made from |", "|---|---|---|---|---|"]
    for table in sensitive:
        rows.append(f"| {table.stage} | {SENSITIVE} | keyed {workspace.keyed_hash(table.sha256)[:16]} | | |")
    rows.append(f"| measurement | measurement | {bundle.sha256()[:16]} | | {bundle.made_of} |")
    for entry in release.files:
        digest, count = str(entry["sha256"])[:16], entry.get("rows", "")
        rows.append(f"| {entry['file']} | release | {digest} | {count} | {entry['made_from']} |")
    return rows
