"""What each file of a release was made from: names and their parents, as ``lineage.json`` has them.

A name is a released file's, or one of what no release holds: the sensitive table, the measurement that was
made of it, the public configuration, the data contract. Of what is sensitive there is a name and no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tasks.core.arrays import Json

TABLE: Final = "sensitive table"
MEASUREMENT: Final = "measurement"
CONFIGURATION: Final = "public configuration"
CONTRACT: Final = "data contract"
#: What no release holds.
SOURCES: Final = (TABLE, CONFIGURATION, CONTRACT, MEASUREMENT)
FORMAT: Final = "marginalia-lineage/1"
#: The file's name in a release.
LINEAGE: Final = "lineage.json"
_FACTS = ("sha256", "bytes", "rows", "protection", "made_from", "crossing")


@dataclass(frozen=True)
class LineageNode:
    """One name, and what may be said of it: its hash, rows, protection; nothing of what is sensitive."""

    name: str
    zone: str  # sensitive, public, measurement or release
    parents: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Lineage:
    """All names of one release, parents before what was made from them."""

    dataset: str
    vintage: str
    nodes: tuple[LineageNode, ...]

    @classmethod
    def of_manifest(
        cls, manifest: Json, measurement: Mapping[str, object], *, has_contract: bool
    ) -> "Lineage":
        """That of a release. Args: measurement: what may be said of it."""
        declared = (CONFIGURATION, CONTRACT) if has_contract else (CONFIGURATION,)
        nodes = [LineageNode(TABLE, "sensitive"), *(LineageNode(name, "public") for name in declared)]
        nodes.append(LineageNode(MEASUREMENT, "measurement", (TABLE, *declared), measurement))
        for entry in manifest["files"]:
            facts = {key: entry[key] for key in _FACTS if key in entry}
            nodes.append(LineageNode(entry["file"], "release", tuple(entry["parents"]), facts))
        return cls(manifest["dataset"], manifest["vintage"], tuple(_in_order(nodes)))

    @classmethod
    def of_json(cls, body: Json) -> "Lineage":
        """What `to_json` wrote."""
        nodes = tuple(
            LineageNode(
                entry["name"],
                entry["zone"],
                tuple(entry["parents"]),
                {k: entry[k] for k in _FACTS if k in entry},
            )
            for entry in body["nodes"]
        )
        return cls(body["dataset"], body["vintage"], nodes)

    def to_json(self) -> Json:
        nodes = [
            {"name": node.name, "zone": node.zone, "parents": list(node.parents), **node.facts}
            for node in self.nodes
        ]
        return {"format": FORMAT, "dataset": self.dataset, "vintage": self.vintage, "nodes": nodes}

    def __contains__(self, name: object) -> bool:
        return any(node.name == name for node in self.nodes)

    def __getitem__(self, name: str) -> LineageNode:
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    def before(self, name: str) -> list[LineageNode]:
        """All that it was made from, the first sources first."""
        ancestors = set(self[name].parents)
        for node in reversed(self.nodes):
            ancestors |= set(node.parents) if node.name in ancestors else set()
        return [node for node in self.nodes if node.name in ancestors]

    def after(self, name: str) -> list[LineageNode]:
        """All that was made from it, in order."""
        reached = {name}
        for node in self.nodes:
            reached |= {node.name} if reached & set(node.parents) else set()
        return [node for node in self.nodes if node.name in reached - {name}]


def parents_present(name: str, wanted: Mapping[str, Sequence[str]], present: Mapping[str, str]) -> list[str]:
    """The parents of a file, by their names in a release; one that is not released by what it was made from.

    Args:
        wanted: what each is made from, where all of them are released.

    >>> wanted = {"counts": ["records"], "records": ["measurement"]}
    >>> parents_present("counts", wanted, {"counts": "people_counts.tsv"})
    ['measurement']
    """
    parents: list[str] = []
    for parent in wanted[name]:
        if parent in SOURCES:
            parents.append(parent)
        elif parent in present:
            parents.append(present[parent])
        elif parent in wanted:
            parents += parents_present(parent, wanted, present)
    return list(dict.fromkeys(parents))


def _in_order(nodes: list[LineageNode]) -> list[LineageNode]:
    """Parents first, otherwise as given."""
    ordered: list[LineageNode] = []
    left = list(nodes)
    while left:
        placed = {node.name for node in ordered}
        ready = [node for node in left if set(node.parents) <= placed]
        assert ready, "no file is made from itself"
        ordered += ready
        left = [node for node in left if node not in ready]
    return ordered
