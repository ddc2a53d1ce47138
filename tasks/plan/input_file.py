"""The run's table: a configuration goes in, its file comes out; the path may name the vintage.

``/data/people-{vintage}.csv`` is another file each month. One that is not there when its run begins is late:
the same vintage, run again, finds it and names the same release.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from glob import escape
from pathlib import Path, PurePath

from tasks.configuration.model import UNDATED, Input, RunConfiguration, is_label
from tasks.core.errors import InputError, LateInput, ParameterError
from tasks.core.hints import no_such_file, show_path
from tasks.core.tables.header import InputFile
from tasks.core.tables.places import Storage, remote_url
from tasks.events import announce

#: What stands for the vintage in ``sensitive_microdata_path``.
VINTAGE = "{vintage}"


def vintage_of(configuration: RunConfiguration, scheduled: str | None) -> str:
    return configuration.vintage or scheduled or UNDATED


def path_pattern(configuration: RunConfiguration) -> Path | None:
    """The path of the files of all vintages; None where it does not name the vintage."""
    return Path(configuration.input.path) if VINTAGE in configuration.input.path else None


def input_path(configuration: RunConfiguration, scheduled: str | None = None) -> str:
    """The path of the run's file. Raises ParameterError where it names the vintage, and the run has none."""
    path = configuration.input.path
    if VINTAGE not in path:
        return path
    vintage = vintage_of(configuration, scheduled)
    if vintage == UNDATED:
        raise ParameterError(
            f"sensitive_microdata_path names {VINTAGE}, so a run needs one, but none is given. Give vintage, "
            "or let a schedule start the run: its date is then the vintage."
        )
    return path.replace(VINTAGE, vintage)


def input_file(configuration: RunConfiguration, scheduled: str | None = None) -> InputFile:
    """The configured table, and how it is read: opened already where a command holds it."""
    wanted = file_as_written(configuration.input, input_path(configuration, scheduled))
    held = _HELD.get()
    return held if held == wanted else wanted


def file_as_written(table: Input, path: str) -> InputFile:
    return InputFile(
        Path(path),
        delimiter=table.delimiter,
        quote=table.quote,
        escape=table.escape,
        header=table.header,
        encoding=table.encoding,
        skip_lines=table.skip_lines,
    )


_HELD: ContextVar[InputFile | None] = ContextVar("held", default=None)


@contextmanager
def hold_open(source: InputFile) -> Iterator[None]:
    token = _HELD.set(source)
    try:
        yield
    finally:
        _HELD.reset(token)


def require_arrived(configuration: RunConfiguration, source: InputFile, scheduled: str | None) -> None:
    """Refuse a run whose file is not there: late where it is the vintage's, or a schedule asks for it."""
    path = Path(source.path)
    if source.is_open or _is_there(path):
        return
    others = sorted(set(re.findall(r"\{[^{}]*\}", str(path))))
    if others:
        raise InputError(
            f"{no_such_file('The input file', path)} Of what stands in braces, only {VINTAGE} is replaced by "
            f"something; {', '.join(others)} is not."
        )
    if VINTAGE in configuration.input.path or scheduled is not None:
        vintage = vintage_of(configuration, scheduled)
        place = remote_url(path) or show_path(path)
        raise LateInput(
            f"The input of vintage {vintage!r} must be at {place}, but it is not there yet."
            f"{_missing_folder(path)} Nothing was read, drawn or charged. Put the file there and run the "
            f'same vintage again ("vintage": "{vintage}"): it names the same release.'
        )


@contextmanager
def announce_if_late(configuration: RunConfiguration, scheduled: str | None) -> Iterator[None]:
    """Emit ``marginalia.input.late`` where what is done within finds the input late."""
    try:
        yield
    except LateInput:
        file = PurePath(configuration.input.path).name  # as configured: folders are nobody else's business
        announce("input.late", configuration.dataset, vintage=vintage_of(configuration, scheduled), file=file)
        raise


def _is_there(path: Path) -> bool:
    """Also of what can't be looked at: whoever opens it says why."""
    url = remote_url(path)
    if url is not None:
        storage = Storage(url)
        return storage.attempt("be looked at", lambda: bool(storage.system.exists(storage.key(url))))
    try:
        return path.exists()
    except (OSError, ValueError):
        return True


def _missing_folder(path: Path) -> str:
    if remote_url(path) is not None or _is_there(path.parent):
        return ""
    return f" Its folder {path.parent} is not there either: see whether a share must be mounted."


def choose_vintage_to_check(configuration: RunConfiguration) -> RunConfiguration:
    """The configuration with a vintage to judge it by: of the files of all vintages that are there, the last.

    A configuration that a schedule runs has no vintage of its own, and its file none to be found by.
    """
    pattern = path_pattern(configuration)
    if pattern is None or configuration.vintage is not None:
        return configuration
    vintages = _vintages_there(pattern)
    if not vintages:
        raise LateInput(
            f"The path {remote_url(pattern) or show_path(pattern)} names the vintage, and the file of some "
            "vintage must be there to be checked, but there is none. Put a first file there, or correct it."
        )
    return configuration.model_copy(update={"vintage": max(vintages)})


def _vintages_there(pattern: Path) -> list[str]:
    """The labels for which there is a file; where the path has the vintage twice, it is the same one."""
    url = remote_url(pattern)
    if url is not None:
        storage = Storage(url)
        parts = storage.key(url).split(VINTAGE)
        paths = storage.attempt(
            "be listed", lambda: [str(path) for path in storage.system.glob("*".join(parts))]
        )
    else:
        parts = str(pattern.absolute()).split(VINTAGE)
        start = Path(pattern.anchor or "/")
        paths = [str(path) for path in start.glob("*".join(map(escape, parts)).lstrip("/"))]
    again = "\\1".join(map(re.escape, parts[1:]))
    named = re.compile(f"{re.escape(parts[0])}([^/]+){again}")
    labels = [match[1] for path in paths if (match := named.fullmatch(path))]
    return [label for label in labels if label != UNDATED and is_label(label)]
