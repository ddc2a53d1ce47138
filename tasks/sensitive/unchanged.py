"""A table that is what it was: what an earlier run made of it is returned, and nothing new is made.

Compared are keyed hashes that never leave ``sensitive/``, with the last run of the same settings alone:

    k-anonymity, SynDiffix     of what would be handed over, with what was published last
    on_unchanged skip under    of the records as they would be counted, whatever their order, with those that
    differential privacy       the last committed release was drawn from

A wider comparison, with any earlier table or with bytes that are not counted, would let the dates of releases
tell more than the statement says of them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tasks.caching import as_plain
from tasks.configuration.model import NEVER_RELEASED, RunConfiguration
from tasks.core.errors import ParameterError
from tasks.core.ledger.names import ReleaseName
from tasks.core.metadata.errata import ERRATA
from tasks.core.records.content import content_digest
from tasks.core.stored_files import file_sha256, folder_sha256
from tasks.plan.describe import RunFacts
from tasks.public.bundles.bundle import declared_input
from tasks.public.releases import MANIFEST, require_not_withdrawn
from tasks.sensitive.ledger import open_user_ledger
from tasks.sensitive.record import add_to_record, read_record
from tasks.sensitive.table import open_records
from tasks.step import step
from tasks.storage import MEASUREMENT, SENSITIVE, StoredTable, Workspace

_RECORD = "unchanged.json"


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
    found = read_record(workspace, dataset, _RECORD).get(wanted.series)
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
    add_to_record(workspace, dataset, _RECORD, {wanted.series: entry})


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
    add_to_record(workspace, name.dataset, _RECORD, {_label(name): entry})


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
    if _is_withdrawn(workspace, last.name):
        return None
    known = read_record(workspace, name.dataset, _RECORD).get(_label(last.name), {})
    wanted = {"counted": _counted(workspace, records), "measurement": last.measurement_sha256}
    return last.name.vintage if known == wanted else None


def _counted(workspace: Workspace, records: StoredTable) -> str:
    content = content_digest(open_records(workspace, records), records_key(workspace))
    return workspace.keyed_hash(f"counted {content}")


def records_key(workspace: Workspace) -> bytes:
    """The secret that records are hashed with (`content_digest`); it stays with who may see them."""
    return bytes.fromhex(workspace.keyed_hash("records"))


def _is_withdrawn(workspace: Workspace, name: ReleaseName) -> bool:
    """Whether a person took the vintage back: it is not released again in the place of another one."""
    try:
        require_not_withdrawn(workspace, name.dataset, name.vintage)
    except ParameterError:
        return True
    return False


def _label(name: ReleaseName) -> str:
    return f"{name.vintage}-{name.digest}"
