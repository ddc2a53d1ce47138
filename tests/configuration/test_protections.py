"""A protection is a class, and a line in each table: none is forgotten."""

from typing import get_args

import pytest

from flows.command.checking import PRINTERS
from flows.showcase import FLOWS
from flows.steps.publish import BUILDERS
from tasks.configuration.model import Protection
from tasks.configuration.protections import ProtectionSettings
from tasks.configuration.synthesis import MODES
from tasks.plan.describe import PROTECTION_NOTES
from tasks.public.bundles import KINDS

PROTECTIONS: tuple[type[ProtectionSettings], ...] = get_args(get_args(Protection)[0])


@pytest.mark.parametrize(
    "table", [PRINTERS, BUILDERS, FLOWS, PROTECTION_NOTES, KINDS], ids=lambda table: next(iter(table))
)
def test_every_table_has_every_protection(table):
    assert set(table) == {each.model_fields["regime"].default for each in PROTECTIONS}


def test_every_mode_can_be_had_and_no_protection_takes_an_unknown_one():
    possible = [mode for each in PROTECTIONS for mode in each.modes]
    assert set(possible) == set(MODES)


@pytest.mark.parametrize("protection", PROTECTIONS, ids=lambda each: each.__name__)
def test_a_mode_is_refused_exactly_where_it_is_not_possible(protection):
    for mode in MODES:
        assert bool(protection.refusals(mode, holds=False)) == (mode not in protection.modes)
    assert not protection.refusals("no such mode", holds=False)
