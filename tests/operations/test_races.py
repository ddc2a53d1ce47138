"""Races for one budget on the ledger itself, a hundred rounds on each store, with kills at random moments.

About two minutes a store on a quiet machine.
"""

from collections import Counter

import pytest

from tests.core.ledger.conftest import places as places
from tests.core.ledger.test_races import race

pytestmark = pytest.mark.operations
ROUNDS = 100


def test_a_hundred_races_never_overspend_never_deadlock_and_draw_no_release_twice(places, tmp_path):
    seen = Counter(race(places(f"ledger{seed}"), tmp_path / f"round{seed}", seed) for seed in range(ROUNDS))
    for what, rounds in sorted(seen.items()):
        print(f"{rounds:4} {what}")
    assert sum(seen.values()) == ROUNDS
