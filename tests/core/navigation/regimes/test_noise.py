"""What became of the candidates of a length, as the page draws it."""

from tasks.core.charts import theme
from tasks.core.charts.shares import NOT_KNOWN
from tasks.core.navigation.regimes import _fates


def level(length, **changes):
    found = {
        "length": length,
        "survivors": 25,
        "spurious": {"expected_spurious": 5.0},
        "suppressed": {"value": 75},
        "open": {"columns": []},
        "declared": {"suppressed": 0},
    }
    return found | changes


def test_combinations_that_nobody_holds_are_a_part_of_the_published_ones():
    found = _fates(level(2))
    assert found.parts == ((20.0, theme.RELEASED), (5.0, theme.SYNTHETIC), (75.0, theme.FAINT))
    assert found.told == "25 published (at most 5 held by nobody); 75 not published"


def test_what_is_not_known_is_drawn_as_such_and_not_as_a_number():
    found = _fates(level(1, open={"columns": ["town"]}))
    assert found.parts == ((1.0, theme.RELEASED), (1.0, NOT_KNOWN))
    assert "not known" in found.told and "held by nobody" not in found.told
