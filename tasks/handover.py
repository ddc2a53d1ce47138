"""The hand-over: a committed measurement, and what the ledger said of it, where the publisher can read them.

    <workspace>/measurement/<dataset>/<vintage>-<digest>/measurement/   as drawn
                                                         ledger.json    the account at its commit

It is differentially private as a whole, so who may publish may read it; ledger and ``sensitive/`` may stay
closed to them.
"""

import json
import math
import shutil
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

from tasks.configuration import RunConfiguration
from tasks.core.dp.ledger.drawing import Measured
from tasks.core.dp.ledger.names import ReleaseName
from tasks.core.dp.statement import LedgerFacts
from tasks.core.errors import ParameterError, StoredTableMismatch
from tasks.storage import StoredTable, Workspace, folder_sha256

ZONE = "measurement"


def hand_over(workspace: Workspace, name: ReleaseName, drawn: Measured, scope: str) -> StoredTable:
    """Copy a measurement out of the ledger's place; the same one however often it is done."""
    account = drawn.account
    facts = LedgerFacts(
        dataset=name.dataset,
        unit=account.unit,
        population=account.population,
        vintage=name.vintage,
        scope=scope,
        epsilon_cap=_float_up(account.guarantee.epsilon),
        delta_cap=_float_up(account.guarantee.delta),
        threshold_delta_cap=_float_up(account.guarantee.threshold_delta),
        mu_squared_spent=_float_up(account.spent.mu_squared),
        threshold_delta_spent=_float_up(account.spent.threshold_delta),
        epsilon_spent=account.epsilon_spent,
        releases=account.charged_releases,
        remaining_releases=drawn.remaining_runs,
        head=drawn.head,
    )

    def write(folder: Path) -> None:
        # Bytes alone: the ledger's files are closed to others, these are for who publishes.
        (folder / "measurement").mkdir()
        for path in drawn.folder.iterdir():
            shutil.copyfile(path, folder / "measurement" / path.name)
        text = json.dumps(asdict(facts), indent=1, sort_keys=True)
        (folder / "ledger.json").write_text(text + "\n", encoding="utf-8")

    place = workspace.root / ZONE / name.dataset / f"{name.vintage}-{name.digest[:8]}"
    return workspace.store(place, "measurement", write)


def _float_up(value: Decimal) -> float:
    """The smallest double that is no less: what a release says of its cost is never too little."""
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)


def ledger_facts(workspace: Workspace, measurement: StoredTable) -> LedgerFacts:
    """The account at the commit of a handed-over measurement."""
    text = (workspace.path(measurement) / "ledger.json").read_text(encoding="utf-8")
    return LedgerFacts(**json.loads(text))


def recorded_head(workspace: Workspace, dataset: str) -> str | None:
    """The ledger's head that the newest release of a dataset recorded; None where there is no release.

    Raises:
        StoredTableMismatch: the release does not say.
    """
    path = workspace.release / dataset / "latest" / "privacy.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["ledger"]["head"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        raise StoredTableMismatch(
            f"The newest release must say where the ledger stood; {path} does not, so it was changed. "
            "Restore it, or move that release away, and run again."
        ) from None


def find_measurement(
    workspace: Workspace, configuration: RunConfiguration, folder: str | None
) -> StoredTable:
    """A handed-over measurement: the named one, else the newest of the configured vintage.

    Raises:
        ParameterError: there is none.
    """
    home = workspace.root / ZONE / configuration.dataset
    if folder is not None:
        found = [Path(folder).absolute()]
    else:
        pattern = f"{configuration.vintage}-*" if configuration.vintage else "*"
        found = sorted(home.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not found or not (found[-1] / "ledger.json").is_file():
        raise ParameterError(
            f"Publishing needs a measurement; there is none at {folder or home}. Run the measure flow first."
        )
    place = found[-1]
    key = place.relative_to(workspace.root) if place.is_relative_to(workspace.root) else place
    return StoredTable(key.as_posix(), folder_sha256(place), ZONE, "measurement")
