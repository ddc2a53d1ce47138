"""What came out as a text that two runs, in other folders and on other machines, have alike.

A file goes in; its content comes out, without times, places, ids of runs, resources and versions. Numbers
have nine significant digits. Parquet is its schema and its rows, an archive what is in it.
"""

import datetime
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_DIGITS = 9
_LONG_NUMBER = re.compile(r"(?<![\d.])-?\d+\.\d+(?:[eE][+-]?\d+)?")
#: Pattern -> what stands for it, in this order.
_PLAIN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"http://127\.0\.0\.1:\d+", "http://SERVER"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
        (r'(?<!"digest": ")(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])', "SHA256"),
        (r"\b(?:[0-9a-f]{40}(?:\+changes-[0-9a-f]{8})?|sources-[0-9a-f]{16})\b", "VERSION"),
        (r"(VERSION\. \w+) [0-9a-f]{16}\b", r"\1 SHA256"),
        (r'("(?:parallel_jobs|memory_limit_mb)": )\d+', r"\1NUMBER"),
        (r"\b(in) \d+ s\b", r"\1 N s"),
        (r"(?m)^\[ *\d+\.\d s\]", "[N s]"),
        (r"Elapsed: \d+ ms; memory: \d+ MB", "Elapsed: N ms; memory: N MB"),
        (r'("elapsed_seconds": )[\d.e-]+', r"\1NUMBER"),
        (r"(?m)^(?:Starting the local Prefect server|Compiling kernels:) .*\n", ""),
        (r"(?m)^  [a-z ]+: .* +\d+%\n", ""),  # progress of what took long
    )
)


class Plain:
    """Makes texts of one scenario plain."""

    def __init__(self, folder: Path, checkout: Path) -> None:
        """Args: folder: of the scenario. checkout: of the project."""
        self._places = [(str(folder), "FOLDER"), (str(checkout), "CHECKOUT")]
        self._runs: dict[str, str] = {}
        today = datetime.datetime.now(datetime.UTC).date()
        days = "|".join((today + datetime.timedelta(days)).isoformat() for days in (-1, 0, 1))
        self._moments = re.compile(rf"\b(?:{days})([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?\b")

    def text(self, text: str) -> str:
        """The same text, plain."""
        for place, name in self._places:
            text = text.replace(place, name)
        text = _RUN.sub(self._run, text)
        text = self._moments.sub("MOMENT", text)
        for pattern, plain in _PLAIN:
            text = pattern.sub(plain, text)
        return _LONG_NUMBER.sub(_shorter, text)

    def _run(self, found: re.Match[str]) -> str:
        return self._runs.setdefault(found[0], f"RUN{len(self._runs) + 1}")

    def know_runs(self, paths: list[str]) -> None:
        """Number runs by their time, before any text names one; those of one second as their paths come."""
        runs = dict.fromkeys(found[0] for path in paths for found in _RUN.finditer(path))
        for run in sorted(runs, key=lambda run: run.partition("-")[0]):
            self._runs.setdefault(run, f"RUN{len(self._runs) + 1}")

    def file(self, path: Path) -> str:
        """The content of a file, plain."""
        text = self.text(_read(path.name, path.read_bytes()))
        return _SIZES.sub(r"\1NUMBER", text) if path.name in _SIZED else text


#: As the project names runs: the moment and a few random digits.
_RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}")
#: They follow from the files themselves, which have hashes of their own.
_SIZES = re.compile(r'("bytes": |"contentSize": ")\d+')
_SIZED = ("MANIFEST.json", "lineage.json", "croissant.json")


def _shorter(found: re.Match[str]) -> str:
    number = found[0]
    digits = re.sub(r"[eE].*", "", number).replace(".", "").lstrip("-0")
    return number if len(digits) <= _DIGITS else f"{float(number):.{_DIGITS}g}"


def _read(name: str, data: bytes) -> str:
    """The content as text."""
    for suffix, read in _READERS.items():
        if name.endswith(suffix):
            return read(name, data)
    return data.decode("utf-8", "backslashreplace")


def _parquet(name: str, data: bytes) -> str:
    table = pq.read_table(pa.BufferReader(data))
    described = {
        (key or b"").decode(): value.decode("utf-8", "backslashreplace")
        for key, value in sorted((table.schema.metadata or {}).items())
        if key != b"ARROW:schema"
    }
    lines = [f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in table.schema]
    rows = [json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist()]
    return "\n".join([*lines, json.dumps(described, indent=1), *rows, ""])


def _archive(name: str, data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = sorted(archive.namelist())
        return "".join(f"==== {member}\n{_read(member, archive.read(member))}\n" for member in members)


def _compressed(name: str, data: bytes) -> str:
    return _read(name.removesuffix(".gz"), gzip.decompress(data))


_READERS: dict[str, Callable[[str, bytes], str]] = {
    ".parquet": _parquet,
    ".zip": _archive,
    ".gz": _compressed,
}
