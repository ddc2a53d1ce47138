"""What became of the candidates of a length, as the page draws it."""

import pytest

from tasks.core.charts import theme
from tasks.core.charts.bars import NOT_KNOWN
from tasks.core.navigation.regimes import _candidates_of_length, fit_context
from tasks.core.records.columns import Column, Schema

SCHEMA = Schema((Column("age"), Column("illness", delimiter=";", max_items=3)))
#: What is told of a fit without a table.
FIT = {
    "one_way": None,
    "two_way": None,
    "pairs": 0,
    "measured_pairs": 0,
    "all_pairs": 3,
    "guessed": 0,
    "tables": [],
    "unreleased": [],
}


def told(distance: float) -> str:
    """The distance of one column, as it is shown."""
    table = {"columns": ["age"], "expected_error": None, "distance": distance, "noise_distance": 0.5}
    return fit_context(FIT | {"tables": [table | {"signal": None, "is_guess": None}]}, SCHEMA)["columns"][0][
        "distance"
    ]


@pytest.mark.parametrize(
    ("distance", "shown"), [(0.0, "0"), (0.004, "0.4"), (0.123, "12"), (1.84, "180"), (12.5, "1,200")]
)
def test_shares_above_the_whole_are_written_as_people_write_them(distance, shown):
    assert told(distance) == f"{shown}\u202f%"


def test_what_became_of_values_too_rare_to_be_released_is_told_by_column():
    unreleased = [
        {"column": "home", "share": 0.01, "written_as": "released values"},
        {"column": "income", "share": 0.312, "written_as": "nothing"},
        {"column": "side", "share": 0.0, "written_as": "nothing"},
    ]
    context = fit_context(FIT | {"unreleased": unreleased}, SCHEMA)
    assert context["replaced"] == ["home"]
    assert context["too_rare"] == "11\u202f%"
    assert context["emptied"] == [{"name": "income", "share": "31\u202f%"}]


def test_columns_that_no_error_is_told_of_are_named():
    assert fit_context(FIT, SCHEMA)["left_out"] == ["illness"]


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
    found = _candidates_of_length(level(2))
    assert found.parts == ((20.0, theme.RELEASED), (5.0, theme.SYNTHETIC), (75.0, theme.FAINT))
    assert found.told == "25 published (at most 5 held by nobody); 75 not published"


def test_what_is_not_known_is_drawn_as_such_and_not_as_a_number():
    found = _candidates_of_length(level(1, open={"columns": ["town"]}))
    assert found.parts == ((1.0, theme.RELEASED), (1.0, NOT_KNOWN))
    assert "not known" in found.told and "held by nobody" not in found.told
