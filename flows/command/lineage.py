"""``marginalia lineage FILE``: a released file in; what it was made from, and what was made from it, out.

Answers from the file and the manifest beside it, without a server, and compares every hash on the way.
"""

import argparse
import json
from pathlib import Path

from tasks.core.arrays import Json
from tasks.core.errors import ParameterError, StoredTableMismatch
from tasks.core.figures import format_whole
from tasks.core.hints import did_you_mean, no_such_file, show_path
from tasks.core.lineage import LINEAGE, MEASUREMENT, Lineage, LineageNode
from tasks.core.metadata.errata import read_errata
from tasks.core.stored_files import file_sha256

_MANIFEST = "MANIFEST.json"


def show_lineage(options: argparse.Namespace) -> int:
    file: Path = options.file
    if not file.is_file():
        raise ParameterError(no_such_file("The released file", file))
    folder = _release_of(file)
    manifest = _read_json(folder / _MANIFEST)
    name = file.absolute().relative_to(folder).as_posix()
    lineage = _read_lineage(folder, manifest)
    if name not in lineage:
        known = [entry["file"] for entry in manifest["files"]]
        meant = did_you_mean(name, known) or f"it is none of {', '.join(known)}."
        raise ParameterError(
            f"The file must be one that {folder / _MANIFEST} names, but {name!r} is not: {meant}"
        )
    before, after = lineage.before(name), lineage.after(name)
    found = {node.name: _verify_node(folder, node) for node in (*before, lineage[name], *after)}
    print(f"{name}, of dataset {lineage.dataset}, vintage {lineage.vintage} ({folder.name})")
    for erratum in read_errata(folder):
        print(f"  ATTENTION: {erratum.told(folder.name)}")
    for line in _fact_lines(lineage[name]):
        print(f"  {line}")
    print(f"  {found[name]}")
    _print_nodes("Made from, back to the table", before, found)
    _print_nodes("What was made from it", after, found)
    return 0


def _release_of(file: Path) -> Path:
    for folder in file.absolute().parents[:2]:
        if (folder / _MANIFEST).is_file():
            return folder
    raise ParameterError(
        f"A released file lies beside its {_MANIFEST}, but none is beside {show_path(file)}. Give the file "
        "in its release's folder, or copy the manifest to it."
    )


def _read_lineage(folder: Path, manifest: Json) -> Lineage:
    """What ``lineage.json`` says, which must be the manifest's own; without it what the manifest says."""
    path = folder / LINEAGE
    if not path.is_file():
        return Lineage.of_manifest(manifest, {}, has_contract=False)
    if file_sha256(path) != {entry["file"]: entry["sha256"] for entry in manifest["files"]}[LINEAGE]:
        raise _changed_file_error(path)
    return Lineage.of_json(_read_json(path))


def _verify_node(folder: Path, node: LineageNode) -> str:
    if node.name == MEASUREMENT:
        stated = folder / "privacy.json"
        if not stated.is_file() or "sha256" not in node.facts:
            return "not compared: its statement or lineage.json is not here"
        if _read_json(stated).get("measurement_sha256") != node.facts["sha256"]:
            raise _changed_file_error(stated)
        return f"sha256 {node.facts['sha256']}: the same in privacy.json"
    if node.zone != "release":
        return "not released"
    path = folder / node.name
    if not path.is_file():
        return f"sha256 {node.facts['sha256']}: not here"
    if file_sha256(path) != node.facts["sha256"]:
        raise _changed_file_error(path)
    return f"sha256 {node.facts['sha256']}: as the manifest says"


def _changed_file_error(path: Path) -> StoredTableMismatch:
    return StoredTableMismatch(
        f"Released files must never change, but {path} is not what {_MANIFEST} says: it was changed "
        "later. Take the file from the release again, or ask whoever released it."
    )


def _print_nodes(title: str, nodes: list[LineageNode], found: dict[str, str]) -> None:
    print(f"{title}:" if nodes else f"{title}: nothing")
    for node in nodes:
        print(f"  {node.name}  <-  {', '.join(node.parents)}" if node.parents else f"  {node.name}")
        for line in (*_fact_lines(node), found[node.name]):
            print(f"      {line}")


def _fact_lines(node: LineageNode) -> list[str]:
    rows = node.facts.get("rows")
    counted = [f"{format_whole(int(str(rows)))} rows"] if rows is not None else []
    words = [str(node.facts[key]) for key in ("protection", "made_from") if key in node.facts]
    return ["; ".join([*counted, *words])] if counted or words else []


def _read_json(path: Path) -> Json:
    try:
        body: Json = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ParameterError(
            f"{path} must be a JSON file of a release, but it can't be read. Take it from the release again."
        ) from None
    return body
