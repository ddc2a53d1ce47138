"""Flat configurations of the tests, and what is said of those that can't be read."""

from typing import Any

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError

#: All that SDS needs: k-anonymity is its default.
PLAIN: dict[str, Any] = {"sensitive_microdata_path": "people.csv"}
PRIVATE: dict[str, Any] = {**PLAIN, "dp_aggregates": True, "noise_epsilon": 4.0}


def problems(flat: dict[str, Any]) -> str:
    """All problems of a flat file, a line each."""
    with pytest.raises(ParameterError) as refused:
        from_flat(flat)
    assert refused.value.exit_code == 2
    return str(refused.value)
