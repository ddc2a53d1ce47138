"""A protection is a class, and a line in each table: none is forgotten, and hardly anything asks which."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from flows.command.checking import PRINTERS
from flows.showcase import FLOWS
from flows.steps.publish import BUILDERS
from tasks.configuration.model import Protection
from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.synthesis import MODES
from tasks.plan.describe import PLANS
from tasks.public.bundles.opening import KINDS

PROTECTIONS: tuple[type[ProtectionSettings], ...] = get_args(get_args(Protection)[0])
ROOT = Path(__file__).parents[2]

#: Asks which protection or which of the two draws it is; that two regimes are the same is no branch on one.
_BRANCH = re.compile(
    r"(configuration|run)\.is_private|regime (==|!=) [\"'A-Z]"
    r"|(==|!=|is|is not) (SYNDIFFIX|SynDiffix|KAnonymity|DifferentialPrivacy)\b"
    r"|isinstance\([a-z_.]*, \(?(DifferentialPrivacy|KAnonymity|SynDiffix|WorkloadParameters|DpParameters)"
)


@pytest.mark.parametrize(
    "table", [PRINTERS, BUILDERS, FLOWS, PLANS, KINDS], ids=lambda table: next(iter(table))
)
def test_every_table_has_every_protection(table: Mapping[str, Any]) -> None:
    assert set(table) == {each.model_fields["regime"].default for each in PROTECTIONS}


def test_every_mode_can_be_had_and_no_protection_takes_an_unknown_one() -> None:
    possible = [mode for each in PROTECTIONS for mode in each.modes]
    assert set(possible) == set(MODES)


@pytest.mark.parametrize("protection", PROTECTIONS, ids=lambda each: each.__name__)
def test_a_mode_is_refused_exactly_where_it_is_not_possible(protection: type[ProtectionSettings]) -> None:
    for mode in MODES:
        assert bool(protection.refusals(mode, holds=False)) == (mode not in protection.modes)
    assert not protection.refusals("no such mode", holds=False)


def test_at_most_a_dozen_branches_on_the_regime_are_left() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("flows", "tasks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "core" not in path.relative_to(ROOT).parts
        for line in path.read_text(encoding="utf-8").splitlines()
        if _BRANCH.search(line)
    ]
    assert len(found) <= 12, "\n".join(found)
