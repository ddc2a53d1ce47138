"""Makes a function the flow of a dataset: named after it, its events sent, its failures safe."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from prefect import Flow, flow

from tasks.configuration.model import RunConfiguration
from tasks.events import announce_schedule
from tasks.failures import guard_flow

_P = ParamSpec("_P")
_R = TypeVar("_R")


def dataset_flow(
    function: Callable[Concatenate[RunConfiguration, _P], _R],
) -> Flow[Concatenate[RunConfiguration, _P], _R]:
    name = function.__name__
    return flow(
        name=name,
        flow_run_name=f"{name}-{{configuration.dataset}}",
        on_running=[announce_schedule],
        persist_result=False,
    )(guard_flow(function))
