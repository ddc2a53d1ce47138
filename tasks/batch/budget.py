"""What a whole batch costs: its runs go in; before the first is drawn, sentences or a refusal come out."""

import contextlib
from collections.abc import Sequence
from decimal import Decimal

from tasks.configuration.model import RunConfiguration
from tasks.core.dp.budget import Caps, Charge, Spent, caps_of
from tasks.core.errors import BudgetExhausted, ParameterError
from tasks.core.figures import plain_up
from tasks.core.ledger.ledger import Admission, Ledger
from tasks.core.ledger.names import ReleaseName
from tasks.core.ledger.salts import require_one_salt
from tasks.ledger_place import user_ledger_place
from tasks.plan.describe import RunFacts, describe
from tasks.plan.syndiffix import synthesized_table
from tasks.sensitive.ledger import open_user_ledger
from tasks.sensitive.protect import charge_of_run, public_table, registration, release_name, require_unit

_Planned = dict[ReleaseName, tuple[RunConfiguration, RunFacts, Charge]]


def require_budget(runs: Sequence[RunConfiguration]) -> list[str]:
    """What the differentially private runs of a batch will be charged together, a sentence a dataset.

    A draw that is in the ledger already, or that another run of the batch makes too, costs nothing more.

    Raises:
        BudgetExhausted: the budget does not cover all of them; none was drawn.
        ParameterError: two datasets have one table, or names that `names.fold_name` takes for one; of those
            that SynDiffix's salts are kept by, too.
    """
    _require_one_salt(runs)
    runs_by_dataset: dict[str, list[RunConfiguration]] = {}
    for run in runs:
        if run.protection.is_drawn_once:
            runs_by_dataset.setdefault(run.dataset, []).append(run)
    if not runs_by_dataset:
        return []
    ledger = open_user_ledger()
    sentences = []
    if len(runs_by_dataset) > 1:
        sentences.append(
            f"The batch draws from {len(runs_by_dataset)} datasets, each with a budget of its own. Tables "
            "about the same people must share one dataset name."
        )
    planned_all: _Planned = {}
    for dataset, own in runs_by_dataset.items():
        planned: _Planned = {}
        for run in own:
            with contextlib.suppress(ParameterError):  # a run that can't begin is told so, and draws nothing
                described = describe(run)
                planned.setdefault(release_name(run, described), (run, described, charge_of_run(described)))
        if planned:
            sentences.append(_describe_charge(ledger, dataset, planned, len(own)))
        planned_all |= planned
    ledger.require_one_budget(
        *(
            (registration(run, described, charge), public_table(described))
            for name, (run, described, charge) in planned_all.items()
            if _is_new(ledger, name, charge)
        )
    )
    return sentences


def _require_one_salt(runs: Sequence[RunConfiguration]) -> None:
    tables = []
    for run in runs:
        if run.protection.is_salted:
            with contextlib.suppress(ParameterError):  # as above
                facts = describe(run)
                table = synthesized_table(facts.source, facts.synthesized, facts.pattern)
                tables.append((run.dataset, table))
    if tables:
        open_user_ledger()
        require_one_salt(user_ledger_place(), *tables)


def _describe_charge(ledger: Ledger, dataset: str, planned: _Planned, runs: int) -> str:
    spent, caps = _standing(ledger, dataset, planned)
    new = [charge for name, (_, _, charge) in planned.items() if _is_new(ledger, name, charge)]
    after = spent
    for charge in new:
        after = after.plus(charge.mu_squared_exact, charge.threshold_delta_exact)
    before, total = spent.epsilon(caps.delta), after.epsilon(caps.delta)
    cost = (
        f"The batch makes {'1 new draw' if len(new) == 1 else f'{len(new)} new draws'} from dataset "
        f"{dataset!r} (differentially private runs: {runs}). The epsilon spent goes from {plain_up(before)} "
        f"to {plain_up(total)} of {plain_up(caps.epsilon)}, at delta {plain_up(caps.delta)}."
    )
    if not after.within(caps):
        raise BudgetExhausted(
            f"The budget must cover the whole batch, and does not. {cost} Nothing was drawn. Leave runs out, "
            "lower their epsilon, plan for all of them (privacy.releases, before the first run of the "
            f"dataset), or raise the cap: marginalia ledger '{dataset}' --cap EPSILON DELTA --reason '...'."
        )
    return cost


def _standing(ledger: Ledger, dataset: str, planned: _Planned) -> tuple[Spent, Caps]:
    """What is spent, and the caps: those in force, else those that the first run would register."""
    run, described, charge = next(iter(planned.values()))
    if ledger.is_registered(dataset):
        for other, facts, _ in planned.values():
            require_unit(ledger, other, facts)
        account = ledger.account(dataset)
        return account.spent, account.caps
    planned_caps = registration(run, described, charge)
    caps = caps_of(planned_caps.epsilon_cap, planned_caps.delta_cap, planned_caps.threshold_delta_cap)
    return Spent(Decimal(0), Decimal(1)), caps


def _is_new(ledger: Ledger, name: ReleaseName, charge: Charge) -> bool:
    if not ledger.is_registered(name.dataset):
        return True
    return ledger.check_admission(name, charge) is Admission.ADMISSIBLE
