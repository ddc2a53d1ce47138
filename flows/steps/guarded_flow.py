"""Makes a function a flow: named after it, its events sent, its failures safe."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from prefect import Flow, flow

from tasks.events import announce_schedule
from tasks.failures import guard_flow

_C = TypeVar("_C")
_P = ParamSpec("_P")
_R = TypeVar("_R")


def guarded_flow(
    run_name: str,
) -> Callable[[Callable[Concatenate[_C, _P], _R]], Flow[Concatenate[_C, _P], _R]]:
    """Make a function of a configuration, or of a file's path, a flow whose runs have this name."""
    return lambda function: flow(
        name=function.__name__,
        flow_run_name=run_name,
        on_running=[announce_schedule],
        persist_result=False,
    )(guard_flow(function))
