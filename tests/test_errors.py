"""What an error carries where Prefect keeps it."""

import pickle

from tasks.core.errors import InputError, ParameterError


def test_operator_detail_is_not_pickled_with_an_error() -> None:
    error = pickle.loads(pickle.dumps(InputError("The file can't be read.", operator_detail="row 501")))
    assert isinstance(error, InputError)
    assert (str(error), error.operator_detail) == ("The file can't be read.", "")
    assert b"501" not in pickle.dumps(InputError("x", operator_detail="row 501"))


def test_all_problems_survive_pickling() -> None:
    assert str(pickle.loads(pickle.dumps(ParameterError(["a", "b"])))) == "a\nb"
