"""The hand-over: what may leave, put where the publisher can read it (see `tasks.public.bundles`)."""

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.configuration.synthesis import SYNDIFFIX
from tasks.core.dp.accounting import float_up
from tasks.core.dp.budget import Caps
from tasks.core.errors import StoredTableMismatch
from tasks.core.ledger.account import Account
from tasks.core.ledger.dataset_notes import BROKEN, DRAW, PolicyChange
from tasks.core.ledger.drawing import ReleaseMeasurement
from tasks.core.ledger.names import ReleaseName
from tasks.core.statement.differential_privacy.statement import LedgerFacts
from tasks.core.statement.k_anonymity import K_ANONYMITY_REGIME
from tasks.plan.describe import RunFacts
from tasks.public.bundles import ACCOUNT, DeclaredInput, configured_digest, declared_input, seal
from tasks.sensitive.ledger import open_user_ledger
from tasks.storage import MEASUREMENT, StoredTable, Workspace


def hand_over(
    workspace: Workspace, name: ReleaseName, drawn: ReleaseMeasurement, scope: str, declared: DeclaredInput
) -> StoredTable:
    """Copy a measurement out of the ledger's place; the same one however often it is done."""
    policies = open_user_ledger().policy_changes(name.dataset, drawn.head)
    facts = account_facts(drawn.account, name, drawn.remaining_runs, scope, policies)

    def write(folder: Path) -> None:
        _copy(drawn.folder, folder / "measurement")
        text = json.dumps(facts.to_json(), indent=1, sort_keys=True)
        (folder / ACCOUNT).write_text(text + "\n", encoding="utf-8")
        seal(folder, {"regime": "differential_privacy", "digest": name.digest, "input": declared})

    return workspace.store(_place(workspace, name.dataset, name.vintage, name.digest), "measurement", write)


def _place(workspace: Workspace, dataset: str, vintage: str, digest: str) -> Path:
    return workspace.root / MEASUREMENT / dataset / f"{vintage}-{digest[:8]}"


def account_facts(
    account: Account,
    name: ReleaseName,
    remaining_releases: int,
    scope: str,
    changes: Sequence[PolicyChange] = (),
) -> LedgerFacts:
    """Args: scope: where the ledger counts. changes: of the policies on unchanged tables until then."""
    latest = account.latest(name)
    assert latest is not None, "a release that was drawn is in the account"
    charged = Counter((r.mu_squared, r.threshold_delta) for r in account.reservations if r.is_charged)
    own_policies = [change.policy for change in changes if change.digest == name.digest]
    return LedgerFacts(
        dataset=name.dataset,
        unit=account.unit,
        population=account.population,
        vintage=name.vintage,
        scope=scope,
        cap=_caps(account.guarantee),
        cap_in_force=_caps(account.caps),
        charges=[_charge(number, *charge) for charge, number in charged.items()],
        mu_squared_spent=float_up(account.spent.mu_squared),
        threshold_delta_spent=float_up(account.spent.threshold_delta),
        epsilon_spent=account.spent.epsilon(account.guarantee.delta),
        this_release=_charge(1, latest.mu_squared, latest.threshold_delta),
        remaining_releases=remaining_releases,
        head=account.head,
        stopped_runs=len(broken := [each.asked for each in account.stops if each.why == BROKEN]),
        stopping_contracts=len(set(broken)),
        unread_runs=len(account.stops) - len(broken),
        policy=own_policies[-1] if own_policies else DRAW,
        policies=tuple((change.policy, change.vintage) for change in changes),
    )


def _caps(caps: Caps) -> dict[str, float]:
    return {name: float(value) for name, value in vars(caps).items()}


def _charge(releases: int, mu_squared: Decimal, threshold_delta: Decimal) -> dict[str, float]:
    return {
        "releases": releases,
        "mu_squared": float_up(mu_squared),
        "threshold_delta": float_up(threshold_delta),
    }


def hand_over_folders(
    workspace: Workspace,
    configuration: RunConfiguration,
    described: RunFacts,
    folders: Mapping[str, StoredTable | None],
) -> StoredTable:
    """Put what may leave where it is published from. Args: folders: by the name there; None is left out."""
    digest = configured_digest(configuration, described.schema)
    name: dict[str, object] = {
        "regime": configuration.protection.regime,
        "dataset": configuration.dataset,
        "vintage": described.vintage,
        "digest": digest,
        "input": declared_input(configuration),
    }

    def write(folder: Path) -> None:
        for part, table in folders.items():
            if table is not None:
                _copy(workspace.path(table), folder / part)
        (folder / "schema.json").write_text(described.schema.to_json(), encoding="utf-8")
        seal(folder, name)

    place = _place(workspace, configuration.dataset, described.vintage, digest)
    return workspace.store(place, "measurement", write)


def _copy(source: Path, folder: Path) -> None:
    """Bytes alone: the originals are closed to others, these are for who publishes."""
    folder.mkdir()
    for path in source.iterdir():
        shutil.copyfile(path, folder / path.name)


def list_recorded_heads(workspace: Workspace, dataset: str = "*") -> list[str]:
    """The ledger's heads that differentially private releases and measurements recorded, of a dataset or all.

    Both are asked: whoever moves ``release/`` away leaves ``measurement/``, and the other way round. Raises
    StoredTableMismatch where one does not say what protects it, or where the ledger stood.
    """
    # A name with a dot in front is of work under way, or left behind, which may not say anything yet.
    found = (path for path in workspace.release.glob(f"{dataset}/*-*") if _is_finished(path))
    releases = sorted(path for path in found if path.name.rpartition("-")[2].isdecimal())
    heads = [_recorded_head(path / "privacy.json") for path in releases]
    measurements = sorted(filter(_is_finished, (workspace.root / MEASUREMENT).glob(f"{dataset}/*")))
    heads += [_recorded_head(path / ACCOUNT) for path in measurements if (path / ACCOUNT).is_file()]
    return list(dict.fromkeys(head for head in heads if head is not None))


def _is_finished(path: Path) -> bool:
    return not path.name.startswith(".") and not path.parent.name.startswith(".")


def _recorded_head(path: Path) -> str | None:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body.get("regime") in (K_ANONYMITY_REGIME, SYNDIFFIX):
            return None
        account = body if path.name == ACCOUNT else body["ledger"]
        return str(account["head"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise StoredTableMismatch(
            f"Every release and measurement must say where the ledger stood, but {path} does not, so it was "
            "changed. Restore it, or move its folder away. Then run again."
        ) from None
