"""What is kept of runs in ``sensitive/``: their parameters, and what each label was measured from and made.

A table that is what it was: what an earlier run made of it is returned, and nothing new is made. Compared are
keyed hashes that never leave ``sensitive/``, with the last run of the same settings alone:

    k-anonymity, SynDiffix     of what would be handed over, with what was published last
    on_unchanged skip under    of the records as they would be counted, whatever their order, with those that
    differential privacy       the last committed release was drawn from

A wider comparison, with any earlier table or with bytes that are not counted, would let the dates of releases
tell more than the statement says of them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tasks.configuration.model import NEVER_RELEASED, RunConfiguration
from tasks.core.errors import ParameterError
from tasks.core.ledger.names import ReleaseName
from tasks.core.metadata.errata import ERRATA
from tasks.core.records.content import content_digest
from tasks.core.stored_files import file_sha256, folder_sha256
from tasks.messages import say
from tasks.plan.describe import RunFacts
from tasks.public.bundles import configured_digest, declared_input
from tasks.public.releases import MANIFEST, require_not_withdrawn
from tasks.sensitive.ledger import open_user_ledger
from tasks.sensitive.read import open_records
from tasks.step import as_plain, step
from tasks.storage import (
    FULL,
    MEASUREMENT,
    SENSITIVE,
    RunWorkspace,
    StoredTable,
    Workspace,
    load_json,
    write_whole,
)

#: In ``sensitive/<dataset>/``: the table of each vintage and name, and what was made of which.
_TABLES, _OUTPUTS = "tables.json", "unchanged.json"


def keep_configuration(run: RunWorkspace, configuration: RunConfiguration) -> None:
    """Write the record; with paths, and with the seed, so it stays where the raw records are."""
    folder = run.folder(SENSITIVE)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_plain(configuration), indent=1, sort_keys=True, ensure_ascii=False)
    (folder / "configuration.json").write_text(text + "\n", encoding="utf-8")


def record_drawn(workspace: Workspace, name: ReleaseName, table_hash: str) -> None:
    """Record the table that a release is about to be drawn from: whoever draws may die right after it."""
    add_to_record(workspace, name.dataset, _TABLES, {f"{name.vintage}-{name.digest[:8]}": table_hash})


def fingerprint(workspace: Workspace, table: StoredTable, made: StoredTable) -> str:
    return f"{workspace.keyed_hash(table.sha256)} {workspace.keyed_hash(made.sha256)}"


def compare_with_last(
    workspace: Workspace,
    configuration: RunConfiguration,
    described: RunFacts,
    table: StoredTable,
    made: StoredTable,
) -> None:
    """Say on the terminal, and nowhere else, that a label was measured from another table before.

    Other bytes alone are not told of, such as other line ends or a column that is not used: ``made``, which
    a release follows from, must differ too.

    Under differential privacy the table of a label is the one that it was drawn from, or the first that was
    seen here where it was drawn elsewhere; under k-anonymity it is the last one that was counted.
    """
    label = f"{described.vintage}-{configured_digest(configuration, described.schema)[:8]}"
    now, is_kept = fingerprint(workspace, table, made), configuration.protection.is_drawn_once
    before = read_record(workspace, configuration.dataset, _TABLES).get(label)
    if before is not None and not set(before.split()) & set(now.split()):
        say(_changed(described.vintage, is_kept=is_kept))
    if before is None or not is_kept:
        add_to_record(workspace, configuration.dataset, _TABLES, {label: now})


def read_record(workspace: Workspace, dataset: str, file: str) -> dict[str, Any]:
    """What earlier runs noted; nothing where it can't be read."""
    try:
        body: dict[str, Any] = load_json(workspace.sensitive / dataset / file)
    except (OSError, ValueError):
        return {}
    return body


def add_to_record(workspace: Workspace, dataset: str, file: str, entries: dict[str, Any]) -> None:
    path = workspace.sensitive / dataset / file
    record = read_record(workspace, dataset, file) | entries
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=1, sort_keys=True)
        write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))
    except OSError as error:
        if error.errno in FULL:
            raise workspace.is_full() from None
        raise


def _changed(vintage: str, *, is_kept: bool) -> str:
    changed = f"ATTENTION: the table has changed since a run measured it as vintage {vintage!r}."
    if is_kept:
        return (
            f"{changed} The release of that vintage stays as it was drawn first, without the changes. Give "
            "the changed table a vintage of its own."
        )
    return (
        f"{changed} This run makes another release beside the earlier one: somebody who has both sees what "
        "changed. If the table is a new one, give it a vintage of its own. If it corrects the earlier one, "
        "withdraw the earlier release."
    )


class EarlierOutput(NamedTuple):
    """What an earlier run made of the same."""

    vintage: str
    place: str | None  # None where it made something else of its measurement


class PlannedOutput(NamedTuple):
    series: str
    made_of: str

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        configuration: RunConfiguration,
        described: RunFacts,
        what: str,
        made_of: Sequence[StoredTable] = (),
    ) -> "PlannedOutput":
        """What a run of any vintage makes. Args: what: its measurement, or its release up to some stage."""
        skipped = {"vintage", "input", "resources", *NEVER_RELEASED, "evaluate_sensitive"}
        settings = {
            name: as_plain(getattr(configuration, name))
            for name in type(configuration).model_fields
            if name not in skipped
        }
        told = [what, settings, declared_input(configuration), described.schema.to_json()]
        series = workspace.keyed_hash(json.dumps(told, sort_keys=True))
        return cls(series, workspace.keyed_hash(" ".join(each.sha256 for each in made_of)))


def find_equal_output(
    workspace: Workspace, dataset: str, wanted: PlannedOutput, vintage: str
) -> EarlierOutput | None:
    """What the last run of this series made of the same, where it is still there and was another vintage."""
    found = read_record(workspace, dataset, _OUTPUTS).get(wanted.series)
    if found is None or found["made_of"] != wanted.made_of or found["vintage"] == vintage:
        return None
    place = workspace.root / found["place"]
    if _hash_of(place) != found["sha256"] or (place / ERRATA).exists():
        return None
    return EarlierOutput(found["vintage"], found["place"])


def record_output(
    workspace: Workspace, dataset: str, wanted: PlannedOutput, vintage: str, made: StoredTable
) -> None:
    sha256 = _hash_of(workspace.root / made.key)
    entry = {"made_of": wanted.made_of, "vintage": vintage, "place": made.key, "sha256": sha256}
    add_to_record(workspace, dataset, _OUTPUTS, {wanted.series: entry})


def _hash_of(folder: Path) -> str:
    """Of a release its manifest, which holds the hashes of all else; of a measurement everything."""
    if not folder.is_dir():
        return ""
    if folder.parent.parent.name == MEASUREMENT:
        return folder_sha256(folder)
    return file_sha256(folder / MANIFEST) if (folder / MANIFEST).is_file() else ""


def record_drawn_records(
    workspace: Workspace, name: ReleaseName, measurement_sha256: str, records: StoredTable
) -> None:
    """Record the records that a measurement was drawn from, once it is committed.

    Whoever dies before leaves no record, and the next run draws: a record without its release would let a
    table be skipped that nothing was released of.
    """
    entry = {"counted": _counted(workspace, records), "measurement": measurement_sha256}
    add_to_record(workspace, name.dataset, _OUTPUTS, {f"{name.vintage}-{name.digest}": entry})


@step(SENSITIVE)
def find_equal_draw(workspace: Workspace, name: ReleaseName, records: StoredTable) -> str | None:
    """The vintage of the last release of these settings, where it was drawn from these very records."""
    ledger = open_user_ledger()
    if not ledger.is_registered(name.dataset):
        return None
    reservations = ledger.account(name.dataset).reservations
    drawn = [each for each in reservations if each.name.digest == name.digest and each.phase == "commit"]
    if not drawn:
        return None
    last = drawn[-1]
    try:
        require_not_withdrawn(workspace, name.dataset, last.name.vintage)
    except ParameterError:  # a person took it back: it is not released again in the place of another one
        return None
    known = read_record(workspace, name.dataset, _OUTPUTS).get(f"{last.name.vintage}-{last.name.digest}", {})
    wanted = {"counted": _counted(workspace, records), "measurement": last.measurement_sha256}
    return last.name.vintage if known == wanted else None


def _counted(workspace: Workspace, records: StoredTable) -> str:
    """A keyed hash of the records; its keys stay with who may see them."""
    key = bytes.fromhex(workspace.keyed_hash("records"))
    return workspace.keyed_hash(f"counted {content_digest(open_records(workspace, records), key)}")
