import pytest

from tasks.core.hints import did_you_mean

COLUMNS = ["age", "sex", "income", "education", "education-num", "capital-gain", "capital-loss"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("agee", "age"),
        ("AGE", "age"),
        ("eag", ""),
        ("gae", "age"),
        ("incmoe", "income"),
        ("capital-lass", "capital-loss"),
        ("educatoin", "education"),
        ("inc", "income"),
        ("edu", ""),  # two begin so
        ("x", ""),
        ("gain", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_meant_where_it_is_near(given, meant):
    assert did_you_mean(given, COLUMNS) == (f"did you mean {meant}?" if meant else "")


def test_distance_decides_and_not_how_many_letters_are_shared():
    assert did_you_mean("rate", ["crates", "date"]) == "did you mean date?"
