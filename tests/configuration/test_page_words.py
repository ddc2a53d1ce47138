"""What a record is called: said in the file, kept in a release's configuration only where it was said."""

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tasks.core.errors import ParameterError
from tasks.public.page import PageSettings

FILE = {"sensitive_microdata_path": "visits.csv", "prefix": "visits"}
ROWS = {"guarantee": {"unit": "row"}, "dataset": "visits", "vintage": "1", "private": False} | {
    "regime": "syndiffix"
}


def test_a_unit_has_its_regular_plural_unless_another_is_given() -> None:
    for given, many in ({"unit": "visit"}, "visits"), ({"unit": "child", "units": "children"}, "children"):
        unit = PageSettings.of(from_flat(FILE | given)).naming(ROWS).unit_of(ROWS)
        assert (unit.one, unit.many) == (given["unit"], many)


def test_without_one_nothing_that_is_written_names_it() -> None:
    plain, named = from_flat(FILE), from_flat(FILE | {"unit": "visit"})
    assert not {"unit", "units"} & set(plain.model_dump(mode="json")["report"])
    assert named.model_dump(mode="json")["report"]["unit"] == "visit"
    assert RunConfiguration(**named.model_dump(mode="json")) == named
    assert PageSettings.of(plain).naming(ROWS).unit_of(ROWS).many == "rows"


@pytest.mark.parametrize(
    ("given", "said"),
    [({"units": "visits"}, "give unit"), ({"unit": "a\nb"}, "a word or a few"), ({"unit": "x" * 41}, "40")],
)
def test_what_is_no_word_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        from_flat(FILE | given)
