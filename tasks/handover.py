"""The hand-over: a committed measurement, and what the ledger said of it, where the publisher can read them.

    <workspace>/measurement/<dataset>/<vintage>-<digest>/measurement/   as drawn
                                                         ledger.json    the account at its commit
                                                         name.json      what it was drawn as

It is differentially private as a whole, so who may publish may read it; ledger and ``sensitive/`` may stay
closed to them.
"""

import json
import math
import shutil
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path

from tasks.configuration import RunConfiguration
from tasks.core.dp.ledger.drawing import Measured
from tasks.core.dp.ledger.names import ReleaseName, configuration_digest
from tasks.core.dp.measurement import read_measurement
from tasks.core.dp.statement import LedgerFacts
from tasks.core.errors import ParameterError, StoredTableMismatch
from tasks.core.records.columns import Schema
from tasks.parameters import dp_parameters
from tasks.storage import StoredTable, Workspace, folder_sha256

ZONE = "measurement"
Preparation = dict[str, object]


@dataclass(frozen=True)
class Circumstances:
    """What a release says of its draw that neither measurement nor account does.

    Attributes:
        scope: where the ledger counts.
        preparation: see `preparation`.
    """

    scope: str
    preparation: Preparation


def preparation(configuration: RunConfiguration) -> Preparation:
    """Public settings beside schema and parameters that change what is counted."""
    return {
        "delimiter": configuration.input.delimiter,
        "contract_mode": configuration.input.contract_mode,
    }


def unit_of(schema: Schema) -> str:
    """Whose presence a release hides: a ``subject``'s or a ``row``'s."""
    return "subject" if schema.subject_id else "row"


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


def drawn_preparation(workspace: Workspace, measurement: StoredTable) -> Preparation:
    """The `preparation` that a handed-over measurement was drawn with."""
    text = (workspace.path(measurement) / "name.json").read_text(encoding="utf-8")
    prepared: Preparation = json.loads(text)["preparation"]
    return prepared


def require_drawn_as_configured(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable
) -> None:
    """Refuse to publish a measurement under a configuration that it was not drawn with.

    The release would hold settings, a dataset and a promise about its contract that are not its own. The
    columns' declarations are the measurement's: the table's header may be closed to who publishes.

    Raises:
        ParameterError: naming what differs.
    """
    folder = workspace.path(measurement)
    facts, drawn = ledger_facts(workspace, measurement), read_measurement(folder / "measurement")
    name = json.loads((folder / "name.json").read_text(encoding="utf-8"))
    asked = configuration_digest(
        drawn.schema, dp_parameters(configuration, drawn.schema), preparation(configuration)
    )
    wrong = [
        words
        for words, differs in (
            (f"the dataset {facts.dataset!r}", facts.dataset != configuration.dataset),
            (f"the vintage {facts.vintage!r}", configuration.vintage not in (None, facts.vintage)),
            ("other settings of protection or input", asked != name["digest"]),
        )
        if differs
    ]
    if wrong:
        raise ParameterError(
            "A measurement must be published under the configuration that it was drawn with; "
            f"{measurement.key} was drawn with {' and '.join(wrong)}. Give that configuration, or measure."
        )


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
    if not found or not all((found[-1] / name).is_file() for name in ("ledger.json", "name.json")):
        raise ParameterError(
            f"Publishing needs a measurement; none is at {folder or home}. Make one with marginalia run."
        )
    place = found[-1]
    key = place.relative_to(workspace.root) if place.is_relative_to(workspace.root) else place
    return StoredTable(key.as_posix(), folder_sha256(place), ZONE, "measurement")
