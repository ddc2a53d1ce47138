"""What leaves a flow that fails: our own errors as they are, and of all others no word of theirs."""

import pickle
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tasks.core.errors import InputError, InternalError, ParameterError
from tasks.failures import guard_flow


def failing(error: Exception) -> Any:
    """A flow that raises it while it handles another one."""

    @guard_flow
    def flow(configuration: object) -> None:
        try:
            raise KeyError("zqxother")
        except KeyError as other:
            raise error from other

    return flow


def test_what_nobody_explains_names_its_log_and_nothing_else(tmp_path):
    with pytest.raises(InternalError) as raised:
        failing(ValueError("zqxcell"))(SimpleNamespace(output_dir=str(tmp_path)))
    told = raised.value
    assert "The run failed unexpectedly (ValueError)" in str(told) and "zqx" not in str(told)
    assert told.__cause__ is None and told.__context__ is None
    (log,) = (tmp_path / "sensitive" / "logs").iterdir()
    assert "zqxcell" in log.read_text() and log.stat().st_mode & 0o777 == 0o600


def test_a_flow_that_is_given_a_path_has_no_place_for_a_log_and_says_where_in_the_code(tmp_path):
    with pytest.raises(InternalError) as raised:
        failing(ValueError("zqxcell"))("batch.json")
    assert "ValueError in test_failures.py" in str(raised.value) and "zqx" not in str(raised.value)


def test_our_errors_pass_without_what_they_were_raised_from(tmp_path):
    ours = InputError("The table must be a table.", operator_detail="row 7")
    with pytest.raises(InputError) as raised:
        failing(ours)(SimpleNamespace(output_dir=str(tmp_path)))
    assert raised.value is ours and raised.value.operator_detail == "row 7"
    assert raised.value.__cause__ is None and raised.value.__context__ is None


def test_what_prefect_raises_passes(tmp_path):
    with pytest.raises(httpx.ConnectError):
        failing(httpx.ConnectError("no server"))(SimpleNamespace(output_dir=str(tmp_path)))


def test_operator_detail_is_not_pickled_with_an_error():
    error = pickle.loads(pickle.dumps(InputError("The file can't be read.", operator_detail="row 501")))
    assert isinstance(error, InputError)
    assert (str(error), error.operator_detail) == ("The file can't be read.", "")
    assert b"501" not in pickle.dumps(InputError("x", operator_detail="row 501"))


def test_all_problems_survive_pickling():
    assert str(pickle.loads(pickle.dumps(ParameterError(["a", "b"])))) == "a\nb"
