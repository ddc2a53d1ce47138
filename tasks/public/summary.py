"""What a run shows on its page in Prefect: a summary, its lineage, and its contract's verdicts.

The summary is made of the release alone, so it holds released figures and nothing else. Of what is sensitive
the lineage has a keyed hash, so that two runs can be seen to have used the same, and no more.
"""

import base64
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from tasks.configuration.model import RunConfiguration
from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.layers import Box, layers
from tasks.core.charts.svg import Chart
from tasks.core.figures import as_markdown, count_of, format_down, format_up, format_whole
from tasks.core.lineage import LINEAGE, MEASUREMENT, TABLE, Lineage, LineageNode
from tasks.core.navigation.regimes import epsilon_spent, gauge_of
from tasks.events import announce, announce_release
from tasks.messages import tell
from tasks.public.publish import Release
from tasks.public.releases import MANIFEST, page_file, released_on
from tasks.step import step
from tasks.storage import INTERMEDIATE, StoredTable, Workspace, load_json


def artifact_key(kind: str, dataset: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", dataset.lower()).strip("-")
    return f"{kind}-{name}"


def picture(chart: Chart) -> str:
    """A chart in Markdown: the only form that both interfaces draw, and nothing is fetched for it."""
    encoded = base64.b64encode(chart.as_file().encode()).decode()
    return f"![{chart.title}](data:image/svg+xml;base64,{encoded})"


@step(INTERMEDIATE)
def tell_unchanged(
    workspace: Workspace, configuration: RunConfiguration, vintage: str, earlier: str, place: str
) -> None:
    """Say that what an earlier vintage made is returned, and make the artifact ``unchanged-<dataset>``."""
    drawn = "nothing was drawn, and nothing was charged. " if configuration.protection.is_drawn_once else ""
    said = (
        f"Nothing new: vintage {vintage!r} would be made of the same as vintage {earlier!r}, under the same "
        f"settings (on_unchanged: skip). No release was made of it: {drawn}{place} is returned."
    )
    tell(said)
    create_markdown_artifact(
        markdown=f"# Nothing new\n\n{said}\n\nFor a release all the same, set `on_unchanged` to `draw`.\n",
        key=artifact_key("unchanged", configuration.dataset),
        description=f"Vintage {vintage} is what vintage {earlier} was.",
    )
    announce("input.unchanged", configuration.dataset, vintage=vintage, earlier=earlier)


@step(INTERMEDIATE)
def summarise_release(
    workspace: Workspace, configuration: RunConfiguration, release: Release, *, is_recalled: bool
) -> None:
    """Create the artifact ``summary-<dataset>``, and tell where a release is that of before.

    Args:
        is_recalled: whether an earlier run made the measurement.
    """
    folder = workspace.root / release.key
    told = _is_the_same(folder, release, configuration, is_recalled=is_recalled)
    if told:
        tell(told)
    create_markdown_artifact(
        markdown="\n".join(_lines(folder, release, told, configuration.prefix)),
        key=artifact_key("summary", configuration.dataset),
        description=f"What was released as {release.key}.",
    )


def _is_the_same(
    folder: Path, release: Release, configuration: RunConfiguration, *, is_recalled: bool
) -> str:
    """What of a run before is released again, and that it costs nothing; empty of a new release."""
    is_charged = configuration.protection.is_drawn_once
    if not release.is_new:
        cost = "nothing was drawn and nothing was charged" if is_charged else "nothing new was published"
        return f"This is the same release as on {released_on(folder)}: {cost}."
    if is_recalled:
        cost = "nothing was drawn and nothing was charged" if is_charged else "the table was not read"
        return f"These files are made anew from the measurement of an earlier run: {cost}."
    return ""


def _lines(folder: Path, release: Release, told: str, prefix: str) -> list[str]:
    statement, lineage = load_json(folder / "privacy.json"), Lineage.of_json(load_json(folder / LINEAGE))
    vintage, dataset = as_markdown(lineage.vintage), as_markdown(lineage.dataset)
    rows = [
        ("protection", _protection(statement, lineage)),
        *_budget(statement),
        *_counted(release),
        *_contract(folder),
    ]
    # The path as a text, too: browsers refuse to follow such links from a server's page.
    for what, name in (("page", page_file(prefix)), ("statement", "privacy.json"), ("manifest", MANIFEST)):
        path = folder / name
        rows += [(what, f"[{as_markdown(name)}]({path.as_uri()}) `{path}`")] if path.is_file() else []
    lines = [f"# {dataset}, vintage {vintage}", "", *([f"**{as_markdown(told)}**", ""] if told else [])]
    table = [(f"released as {as_markdown(folder.name)}", ""), ("---", "---"), *rows]
    lines += [f"| {what} | {told} |" for what, told in table]
    if "ledger" in statement:
        lines += ["", picture(gauge_of(statement["ledger"]))]
    return lines


def _protection(statement: Json, lineage: Lineage) -> str:
    unit = statement["guarantee"].get("unit")
    of_each = f", of each {unit}" if unit else ""
    return as_markdown(f"{lineage[MEASUREMENT].facts['protection']}{of_each}")


def _budget(statement: Json) -> list[tuple[str, str]]:
    ledger = statement.get("ledger")
    if ledger is None:
        return []
    guarantee, cap = statement["guarantee"], ledger["in_force"]
    left = max(cap["mu_squared"] - ledger["mu_squared_spent"], 0.0) / cap["mu_squared"]
    charged, more = (count_of(ledger[key], "release") for key in ("releases", "remaining_releases"))
    # The same noise is worth a smaller epsilon at a larger delta: two figures of one release need a word.
    at_cap = ", which is larger, so epsilon is smaller" if cap["delta"] > guarantee["delta"] else ""
    return [
        ("cost", f"epsilon {format_up(guarantee['epsilon'])} at delta {format_up(guarantee['delta'])}"),
        (
            "spent so far",
            f"epsilon {format_up(epsilon_spent(ledger))} of {format_up(cap['epsilon'])} in "
            f"{charged}, at the cap's delta {format_up(cap['delta'])}{at_cap}",
        ),
        (
            "left",
            f"{format_down(100 * left)} % of the budget, which is {more} more at this setting (when this one "
            "was drawn)",
        ),
    ]


def _counted(release: Release) -> list[tuple[str, str]]:
    found = []
    for ending, what in (
        ("synthetic_microdata.tsv", "synthetic records"),
        ("reportable_aggregates.tsv", "counts"),
    ):
        rows = [entry["rows"] for entry in release.files if str(entry["file"]).endswith(ending)]
        found += [(what, format_whole(rows[0]))] if rows else []
    return found


def _contract(folder: Path) -> list[tuple[str, str]]:
    path = folder / "contract.json"
    rules = load_json(path)["rules"] if path.is_file() else []
    told = f"{len(rules)} rules, on what is released: {count_verdicts(rules)}"
    return [("contract", told)] if rules else []


def count_verdicts(rules: Sequence[Json]) -> str:
    verdicts = [str(rule["verdict"]) for rule in rules]
    return as_markdown(", ".join(f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts)))


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
