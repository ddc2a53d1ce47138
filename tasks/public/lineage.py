"""The lineage of a run, for its page in Prefect: a diagram and a list.

Of what is sensitive there is a keyed hash, so that two runs can be seen to have used the same, and no more.
"""

from collections.abc import Sequence
from dataclasses import replace

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from tasks.configuration.model import RunConfiguration
from tasks.core.charts import theme
from tasks.core.charts.layers import Box, layers
from tasks.core.charts.svg import Chart
from tasks.core.figures import as_markdown, format_whole
from tasks.core.lineage import LINEAGE, MEASUREMENT, TABLE, Lineage, LineageNode
from tasks.lineage_events import announce_release
from tasks.public.publish import Release
from tasks.public.summary import artifact_key, count_verdicts, picture
from tasks.step import step
from tasks.storage import INTERMEDIATE, StoredTable, Workspace, load_json

_DRAWN_BEFORE = "as it was when an earlier run drew the release"


@step(INTERMEDIATE)
def record_lineage(
    workspace: Workspace,
    configuration: RunConfiguration,
    sensitive: Sequence[StoredTable],
    release: Release,
) -> None:
    """Create the artifacts ``lineage-<dataset>`` and, where there is a contract, ``contract-<dataset>``.

    Args:
        sensitive: what was made on the way from the table to the measurement, in order; none where an
            earlier run made that.
    """
    folder = workspace.root / release.key
    told = Lineage.of_json(load_json(folder / LINEAGE))
    announce_release(told, folder.name)
    whole_lineage = _with_stages(told, workspace, sensitive)
    contract = folder / "contract.json"
    rules = load_json(contract)["rules"] if contract.is_file() else []
    lines = [
        picture(diagram(whole_lineage, release.key)),
        "",
        "An arrow that a longer way shows as well is left out. The list names all that each was made from.",
        "",
        *([f"**Contract**: {len(rules)} rules, as released: {count_verdicts(rules)}.", ""] if rules else []),
        *(f"* **{what}**: {known}" for what, known in map(_row, whole_lineage.nodes)),
    ]
    create_markdown_artifact(
        markdown="\n".join(lines),
        key=artifact_key("lineage", configuration.dataset),
        description=f"What release {release.key} was made from.",
    )
    if rules:
        create_table_artifact(
            table=rules,
            key=artifact_key("contract", configuration.dataset),
            description="The contract's rules and their verdicts, as released.",
        )


def _with_stages(told: Lineage, workspace: Workspace, sensitive: Sequence[StoredTable]) -> Lineage:
    """The lineage with what stayed in ``sensitive/`` between the table and the measurement."""
    if not sensitive:
        found = [replace(n, facts={"made_from": _DRAWN_BEFORE}) if n.name == TABLE else n for n in told.nodes]
        return replace(told, nodes=tuple(found))
    stages: list[LineageNode] = []
    for stored in sensitive:
        keyed = workspace.keyed_hash(stored.sha256)[:16]
        parents = (stages[-1].name,) if stages else ()
        stages.append(LineageNode(stored.stage, "sensitive", parents, {"keyed": keyed}))
    found = stages + [node for node in told.nodes if node.name != TABLE]
    last = stages[-1].name
    moved = [
        replace(node, parents=tuple(last if name == TABLE else name for name in node.parents))
        if node.name == MEASUREMENT
        else node
        for node in found
    ]
    return replace(told, nodes=tuple(moved))


def diagram(lineage: Lineage, title: str) -> Chart:
    """From the table to the page; files that are made alike share a box."""
    groups: dict[tuple[object, ...], list[LineageNode]] = {}
    for node in lineage.nodes:
        alike = (node.parents, node.facts.get("made_from")) if node.zone == "release" else (node.name,)
        groups.setdefault(alike, []).append(node)
    keys = {node.name: nodes[0].name for nodes in groups.values() for node in nodes}
    boxes = {
        nodes[0].name: Box(
            [node.name for node in nodes]
            if len(nodes) < 5
            else [nodes[0].name, f"and {len(nodes) - 1} more"],
            _note(nodes[0]),
            theme.ZONES[nodes[0].zone],
            list(dict.fromkeys(keys[parent] for parent in nodes[0].parents)),
        )
        for nodes in groups.values()
    }
    return layers(boxes, f"Lineage of {title}", "What each released file was made from, back to the table.")


def _note(node: LineageNode) -> str:
    if node.zone == "sensitive":
        return "sensitive, not released"
    if node.zone == "measurement":
        return f"{node.facts['protection']}; {node.facts['crossing']}"
    return str(node.facts.get("made_from", "")) if node.zone == "release" else "public"


def _row(node: LineageNode) -> tuple[str, str]:
    """What a node is, and what is known of it: a line of a list, as one interface cuts wide tables."""
    facts = node.facts
    known = [] if node.zone == "release" else [node.zone]
    known += [f"made from {', '.join(map(as_markdown, node.parents))}"] if node.parents else []
    known += [as_markdown(facts[key]) for key in ("made_from", "protection") if key in facts]
    known += [f"{format_whole(int(str(facts['rows'])))} rows"] if "rows" in facts else []
    known += [f"keyed hash {facts['keyed']}"] if "keyed" in facts else []
    known += [f"sha256 {str(facts['sha256'])[:16]}"] if "sha256" in facts else []
    return as_markdown(node.name), "; ".join(known)
