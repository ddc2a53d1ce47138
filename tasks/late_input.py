"""A late input is announced: the server of the run is told which vintage's file is awaited."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from tasks.configuration.model import RunConfiguration
from tasks.core.errors import LateInput
from tasks.events import announce
from tasks.plan.protections import vintage_of


@contextmanager
def announce_if_late(configuration: RunConfiguration, scheduled: str | None) -> Iterator[None]:
    """Emit ``marginalia.input.late`` where what is done within finds the input late."""
    try:
        yield
    except LateInput:
        file = PurePath(configuration.input.path).name  # as configured: folders are nobody else's business
        announce("input.late", configuration.dataset, vintage=vintage_of(configuration, scheduled), file=file)
        raise
