"""How many releases are planned: the cap that a first run registers, and what is told of it."""

import json
import math
import re
import shlex
from pathlib import Path

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from flows.command import main as command
from tasks.configuration.flat_file import from_flat
from tasks.core.dp.budget import Charge
from tasks.core.errors import BudgetExhausted, ParameterError
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.names import ReleaseName
from tasks.plan.describe import describe
from tasks.sensitive.protect import admit_release, charge_of_run, register_at_first_draw
from tasks.storage import Workspace
from tests.flows import pipeline
from tests.sensitive.test_protect import measured

ROOT = Path(__file__).resolve().parents[2]


def planned(folder: Path, mode: str = "fitted", **privacy: object):
    """The test's table under such a privacy section; its own cap is left out."""
    return pipeline.prepared(folder, noise_epsilon=1.0, synthesis_mode=mode, privacy=privacy)


def admitted(configuration) -> Charge:
    """Let a run ask the ledger and register; return the charge that the release would have."""
    workspace, described = Workspace.of(configuration), describe(configuration)
    workspace.prepare()
    register_at_first_draw(open_ledger(), admit_release.fn(workspace, configuration, described))
    return charge_of_run(described)


def together(charge: Charge, releases: int) -> float:
    """Epsilon of so many releases at the sum of their deltas, by scipy alone."""
    mu = math.sqrt(releases * charge.mu_squared)
    threshold = -math.expm1(releases * math.log1p(-charge.threshold_delta))
    rest = (releases * charge.delta - threshold) / (1 - threshold)

    def excess(epsilon: float) -> float:
        return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - rest

    return brentq(excess, 1e-9, 300, xtol=1e-13)


def remaining_runs(charge: Charge) -> int:
    account = open_ledger().account("people")
    return account.remaining_runs(charge.mu_squared_exact, charge.threshold_delta_exact)


def run_what_is_named(said: str) -> None:
    """The command that a message names does what it says."""
    [line] = re.findall(r"marginalia (ledger .*'\.\.\.')", said)
    assert command.main(shlex.split(line)) == 0


@pytest.mark.parametrize("releases", [1, 12])
@pytest.mark.parametrize(
    ("mode", "accountant"), [("fitted", "gdp"), ("aggregate_seeded", "gdp"), ("aggregate_seeded", "zcdp")]
)
def test_the_registered_cap_is_what_the_planned_releases_cost_together(
    mode, accountant, releases, tmp_path, own_ledger
):
    configuration = planned(tmp_path, mode, accountant=accountant, releases=releases)
    charge = admitted(configuration)
    account, ledger = open_ledger().account("people"), open_ledger()
    assert float(account.caps.delta) == pytest.approx(releases * 1e-6, rel=1e-12)
    if accountant == "gdp" or releases > 1:
        assert float(account.caps.epsilon) == pytest.approx(together(charge, releases), rel=1e-6)
    for month in range(releases):
        ledger.reserve(ReleaseName("people", f"month {month}", "0" * 64), charge)
    with pytest.raises(BudgetExhausted):
        ledger.reserve(ReleaseName("people", "one too many", "0" * 64), charge)


def test_without_a_plan_the_registering_line_says_what_happens_to_the_second_release(
    tmp_path, own_ledger, capsys
):
    configuration = planned(tmp_path)
    charge = admitted(configuration)
    said = capsys.readouterr().err
    assert "Registered dataset 'people' with a cap of epsilon 1, delta 1e-06" in said
    assert "a second release will be refused" in said and '"privacy": {"releases": 12}' in said
    assert f"12 releases at this setting cost epsilon {together(charge, 12):.3g}"[:-1] in said
    run_what_is_named(said)
    assert remaining_runs(charge) == 12


def test_a_changed_plan_raises_no_cap_that_is_in_force(tmp_path, own_ledger, capsys):
    charge = admitted(planned(tmp_path, releases=2))
    before = open_ledger().account("people").caps
    capsys.readouterr()
    admitted(planned(tmp_path, releases=24))
    said = capsys.readouterr().err
    assert open_ledger().account("people").caps == before
    assert "ATTENTION: the configuration plans 24 releases" in said and "admits only 2 more" in said
    open_ledger().reserve(ReleaseName("people", "first", "0" * 64), charge)
    run_what_is_named(said)
    assert remaining_runs(charge) == 23
    admitted(planned(tmp_path, releases=24))
    assert "planned" not in capsys.readouterr().err


def test_a_cap_stands_over_the_plan_and_what_it_does_not_hold_is_told(tmp_path, own_ledger, capsys):
    configuration = planned(tmp_path, releases=12, cap={"epsilon": 3, "delta": 1e-5})
    admitted(configuration)
    caps = open_ledger().account("people").caps
    assert (float(caps.epsilon), float(caps.delta)) == (3.0, 1e-5)
    told = "ATTENTION: the configuration plans 12 releases (privacy.releases), but the cap admits only 9 more"
    assert told in capsys.readouterr().err


def test_the_refusal_names_a_cap_that_admits_one_more_release_and_check_what_many_cost(
    tmp_path, own_ledger, capsys
):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(20))
    body = pipeline.flat(tmp_path, noise_epsilon=1.0, privacy={"releases": 1})
    (tmp_path / "people.json").write_text(json.dumps(body))
    charge = admitted(from_flat(body))
    open_ledger().reserve(ReleaseName("people", "first", "0" * 64), charge)
    capsys.readouterr()
    assert command.main(["check", str(tmp_path / "people.json")]) == 3
    said = capsys.readouterr()
    assert "1 release at this setting cost" in said.out
    run_what_is_named(said.err)
    assert remaining_runs(charge) == 1


def test_a_cap_that_covers_no_release_registers_nothing(tmp_path, own_ledger, capsys):
    body = pipeline.flat(tmp_path, noise_epsilon=1.0, privacy={"cap": {"epsilon": 0.9, "delta": 1e-6}})
    pipeline.write(tmp_path / "people.csv", pipeline.rows(20))
    (tmp_path / "people.json").write_text(json.dumps(body))
    assert command.main(["check", str(tmp_path / "people.json")]) == 3
    assert "does not cover this release, and no noise was drawn" in capsys.readouterr().err
    with pytest.raises(BudgetExhausted, match="does not cover this release"):
        admitted(from_flat(body))
    assert open_ledger().datasets() == ()


def test_a_configured_cap_stops_no_run_of_a_dataset_whose_cap_was_raised(tmp_path, own_ledger, capsys):
    cap = {"epsilon": 0.9, "delta": 1e-6}
    assert command.main(["ledger", "people", "--cap", "3", "1e-5"]) == 0
    admitted(pipeline.prepared(tmp_path, noise_epsilon=1.0, privacy={"cap": cap}))
    assert "ATTENTION: privacy.cap is not the cap in force" in capsys.readouterr().err


def test_plans_that_promise_nothing_are_refused(tmp_path, own_ledger):
    for wrong in (0, 10_001, 1.5, "many"):
        with pytest.raises(ParameterError, match=r"privacy\.releases"):
            planned(tmp_path, releases=wrong)
    with pytest.raises(ParameterError, match="delta of 1 or more together"):
        admitted(planned(tmp_path, releases=10_000, delta=1e-3))
    assert open_ledger().datasets() == ()


def test_the_population_is_the_datasets_wherever_it_is_written(tmp_path, own_ledger):
    cap = {"epsilon": 3, "delta": 1e-5, "population": "people of a test"}
    assert planned(tmp_path, cap=cap) == planned(
        tmp_path, cap={"epsilon": 3, "delta": 1e-5}, population="people of a test"
    )
    with pytest.raises(ParameterError, match="population"):
        planned(tmp_path, cap=cap, population="others")
    admitted(planned(tmp_path, releases=3, population="people of a test"))
    assert open_ledger().account("people").population == "people of a test"


def example_of_the_readme() -> dict[str, object]:
    found = re.search(
        r"small one for differential privacy:\s*```json\n(.*?)```", (ROOT / "README.md").read_text(), re.S
    )
    assert found is not None
    return json.loads(found[1])


def test_the_readmes_configuration_plans_and_check_says_what_it_costs(
    tmp_path, own_ledger, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    table = [row[:4] for row in pipeline.rows(50)]
    pipeline.write(tmp_path / "people.csv", table, pipeline.HEADER[:4])
    body = example_of_the_readme()
    (tmp_path / "people.json").write_text(json.dumps(body))
    assert command.main(["check", "people.json"]) == 0
    charge = charge_of_run(describe(from_flat(body)))
    shown = capsys.readouterr().out
    cost = re.search(r"12 releases at this setting cost epsilon ([0-9.]+) at delta 1\.2e-05 together", shown)
    assert cost is not None and float(cost[1]) == pytest.approx(together(charge, 12), rel=1e-5)
    assert "will be refused" not in shown
    del body["privacy"]
    (tmp_path / "people.json").write_text(json.dumps(body))
    assert command.main(["check", "people.json"]) == 0
    assert "a second release will be refused" in capsys.readouterr().out


@pytest.mark.parametrize(("mode", "epsilon"), [("aggregate_seeded", 0.01), ("fitted", 0.7), ("fitted", 1.0)])
def test_what_fits_under_a_cap_is_not_shown_as_more(mode, epsilon, tmp_path, own_ledger, capsys):
    """The cap that a first run registers is the cost of what is planned, and both stand in one report."""
    privacy = {"releases": 12}
    pipeline.prepared(tmp_path)
    body = pipeline.flat(tmp_path, noise_epsilon=epsilon, synthesis_mode=mode, privacy=privacy)
    (tmp_path / "run.json").write_text(json.dumps(body))
    assert command.main(["check", str(tmp_path / "run.json")]) == 0
    said = capsys.readouterr().out
    cap = re.search(r"with a cap of epsilon (\S+), delta (\S+) for all its releases", said)
    cost = re.search(r"12 releases at this setting cost epsilon (\S+) at delta (\S+) together", said)
    assert cap and cost and cap.groups() == cost.groups()
    admitted(from_flat(body))
    assert command.main(["ledger", "people"]) == 0
    shown = capsys.readouterr().out
    assert f"cap      epsilon {cap.group(1)}, delta {cap.group(2)} " in shown
    # Who copies the caps that are shown changes nothing, and needs no reason.
    before = open_ledger().account("people").caps
    assert command.main(["ledger", "people", "--cap", *cap.groups()]) == 0
    assert open_ledger().account("people").caps == before


def test_a_charge_is_told_and_so_is_a_second_draw_of_a_vintage_under_other_settings(
    tmp_path, own_ledger, capsys
):
    told = []
    for epsilon in (1.0, 1.0, 0.9):
        measured(pipeline.prepared(tmp_path, noise_epsilon=epsilon, privacy={"releases": 3}))
        told.append(capsys.readouterr().err)
    charged = [
        re.findall(r"Charged: epsilon (\S+) at delta 1e-06. Spent so far: epsilon", each) for each in told
    ]
    assert charged == [["1"], [], ["0.9"]]
    assert "; 2 more releases at this setting." in told[0] and "; 1 more release at this setting." in told[2]
    assert ["was drawn before under other settings" in each for each in told] == [False, False, True]
