"""Calls that need no process of their own."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from flows.command.notebook import process
from marginalia.errors import error_of
from marginalia.process import _plain_setting
from tasks.core.errors import MarginaliaError


@pytest.fixture(scope="module")
def in_this_process() -> Iterator[None]:
    """Calls are answered here, by what answers them in a process of their own, which costs seconds to start.

    Whole processes are in the examples, in the notebook, and where one is interrupted.
    """

    def ask(request: dict[str, Any], display: object, *files: memoryview) -> dict[str, Any]:
        sent = json.loads(json.dumps(request, default=_plain_setting))
        try:
            return process.handler_of(sent.pop("do"))(sent, b"".join(files))
        except MarginaliaError as error:
            failed = process._error_answer(error)
        raise error_of(failed["kind"], failed["problems"])

    with pytest.MonkeyPatch.context() as patch:
        for module in ("marginalia", "marginalia.release"):
            patch.setattr(f"{module}.ask", ask)
        yield
