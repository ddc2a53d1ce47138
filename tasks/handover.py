"""The hand-over of a draw: a committed measurement and its account, put where the publisher can read them.

See `bundles` for what lies there.
"""

import json
import math
import shutil
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path

from tasks.bundles import Preparation
from tasks.core.dp.ledger.drawing import Measured
from tasks.core.dp.ledger.names import ReleaseName
from tasks.core.dp.statement import LedgerFacts
from tasks.core.errors import StoredTableMismatch
from tasks.storage import MEASUREMENT, StoredTable, Workspace


@dataclass(frozen=True)
class Circumstances:
    """What a release says of its draw that neither measurement nor account does.

    Attributes:
        scope: where the ledger counts.
        preparation: see `preparation`.
    """

    scope: str
    preparation: Preparation


def hand_over(
    workspace: Workspace, name: ReleaseName, drawn: Measured, circumstances: Circumstances
) -> StoredTable:
    """Copy a measurement out of the ledger's place; the same one however often it is done."""
    account = drawn.account
    facts = LedgerFacts(
        dataset=name.dataset,
        unit=account.unit,
        population=account.population,
        vintage=name.vintage,
        scope=circumstances.scope,
        epsilon_cap=float(account.guarantee.epsilon),
        delta_cap=float(account.guarantee.delta),
        threshold_delta_cap=float(account.guarantee.threshold_delta),
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
        drawn_as = {"digest": name.digest, "preparation": circumstances.preparation}
        (folder / "name.json").write_text(json.dumps(drawn_as, sort_keys=True) + "\n", encoding="utf-8")

    place = workspace.root / MEASUREMENT / name.dataset / f"{name.vintage}-{name.digest[:8]}"
    return workspace.store(place, "measurement", write)


def _float_up(value: Decimal) -> float:
    """The smallest double that is no less: what a release says of its cost is never too little."""
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)


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
