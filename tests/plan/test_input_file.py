"""The path of the input may name the vintage: which file is meant, and when it is late."""

from pathlib import Path

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tasks.core.errors import InputError, LateInput, ParameterError
from tasks.plan.describe import describe
from tasks.plan.input_file import choose_vintage_to_check, input_path
from tests.flows import pipeline


def _asked(folder: Path, name: str, **changes: object) -> RunConfiguration:
    flat = pipeline.anonymous(folder, sensitive_microdata_path=str(folder / name), vintage=None)
    return from_flat(flat | changes)


def _write(folder: Path, name: str) -> None:
    pipeline.write(folder / name, pipeline.rows(20))


def test_the_configured_vintage_goes_before_the_scheduled_date(tmp_path):
    given = _asked(tmp_path, "{vintage}/people-{vintage}.csv", vintage="2026-12")
    assert input_path(given, "2026-12-01") == str(tmp_path / "2026-12" / "people-2026-12.csv")
    dated = given.model_copy(update={"vintage": None})
    assert input_path(dated, "2026-12-01") == str(tmp_path / "2026-12-01" / "people-2026-12-01.csv")


def test_without_a_vintage_its_file_is_refused_and_another_is_not_touched(tmp_path):
    with pytest.raises(ParameterError, match=r"names {vintage}, so a run needs one") as raised:
        describe(_asked(tmp_path, "people-{vintage}.csv"))
    assert not isinstance(raised.value, InputError)
    assert input_path(_asked(tmp_path, "people.csv")) == str(tmp_path / "people.csv")


def test_a_vintage_reads_its_own_file(tmp_path):
    for vintage in ("2026-11", "2026-12"):
        _write(tmp_path, f"people-{vintage}.csv")
    described = describe(_asked(tmp_path, "people-{vintage}.csv"), "2026-12")
    assert described.source.path == tmp_path / "people-2026-12.csv"
    assert described.pattern == tmp_path / "people-{vintage}.csv"
    assert described.vintage == "2026-12"


def test_a_file_that_is_not_there_is_late_where_it_is_the_vintages_or_a_schedule_asks(tmp_path):
    with pytest.raises(LateInput) as raised:
        describe(_asked(tmp_path, "people-{vintage}.csv", vintage="2026-12"))
    assert str(raised.value) == (
        f"The input of vintage '2026-12' must be at {tmp_path}/people-2026-12.csv, but it is not there yet. "
        "Nothing was read, drawn or charged. Put the file there and run the same vintage again "
        '("vintage": "2026-12"): it names the same release.'
    )
    with pytest.raises(LateInput):
        describe(_asked(tmp_path, "people.csv"), "2026-12-01")
    with pytest.raises(InputError, match="does not exist: correct its path") as fixed:
        describe(_asked(tmp_path, "people.csv", vintage="2026-12"))
    assert not isinstance(fixed.value, LateInput)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(LateInput, match=r"Its folder .*share is not there either"):
        describe(_asked(tmp_path, "share/people-{vintage}.csv", vintage="1"))


def test_other_braces_are_told_where_the_file_is_missing_and_taken_as_they_are_where_it_is_there(tmp_path):
    with pytest.raises(InputError, match=r"only {vintage} is replaced by something; {vintag} is not"):
        describe(_asked(tmp_path, "people-{vintag}.csv", vintage="1"))
    _write(tmp_path, "people-{vintag}.csv")
    assert describe(_asked(tmp_path, "people-{vintag}.csv", vintage="1"))


@pytest.mark.parametrize(
    "name", ["people-{vintage}.csv", "{vintage}.csv", "{vintage}/people.csv", "in-{vintage}/p-{vintage}.csv"]
)
def test_check_judges_the_last_file_that_is_there(name, tmp_path):
    asked = _asked(tmp_path, name)
    with pytest.raises(LateInput, match="the file of some vintage must be there"):
        choose_vintage_to_check(asked)
    for vintage in ("2026-11", "2026-12", "2026-10"):
        path = Path(str(tmp_path / name).replace("{vintage}", vintage))
        path.parent.mkdir(exist_ok=True)
        _write(path.parent, path.name)
    (tmp_path / "people-2026-13.tsv").touch()
    assert choose_vintage_to_check(asked).vintage == "2026-12"
    assert choose_vintage_to_check(asked.model_copy(update={"vintage": "2026-10"})).vintage == "2026-10"
