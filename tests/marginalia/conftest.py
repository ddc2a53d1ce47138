"""Calls that need no process of their own."""

from typing import Any

import pytest

from flows.command.notebook import process
from marginalia.errors import error_of
from tasks.core.errors import MarginaliaError
from tests.marginalia.notebooks import answer


@pytest.fixture(scope="module")
def in_this_process():
    """Calls are answered here, by what answers them in a process of their own, which costs seconds to start.

    Whole processes are in the examples, in the notebook, and where one is interrupted.
    """

    def ask(request: dict[str, Any], display: object, *files: memoryview) -> dict[str, Any]:
        try:
            return answer(request, *files)
        except MarginaliaError as error:
            failed = process._error_answer(error)
        raise error_of(failed["kind"], failed["problems"])

    with pytest.MonkeyPatch.context() as patch:
        for module in ("marginalia", "marginalia.release"):
            patch.setattr(f"{module}.ask", ask)
        yield
