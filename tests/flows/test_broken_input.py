"""Broken configurations and odd files: a sentence and an exit code each; no traceback, no cell."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.command import main as command
from tasks.configuration.flat_file import PLACES, SECTIONS
from tasks.core.errors import MarginaliaError
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.flows import pipeline

CANARY = "Ottoline"
#: All of them, and in the ordinary suite every seventh.
EVERY = pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
TEXT = f"person,town,age\np1,{CANARY},31\np2,{CANARY},44\n"
#: Of every JSON type, and beyond what any key takes.
WRONG: list[Any] = [
    *("3", "", "a\0b", "x" * 5000, "\ud800", "../..", True, False, -1, 0, 1.5, -0.0, 1e308, 10**30, 10**400),
    *([], [[]], ["a"], [1], [None], {}, {"a": 1}, {"a": {"b": [1]}}, {"": ""}, {"town": []}, {"age": [1, 0]}),
    *({"town": ";;"}, {"age": [0, 1e400]}, [{"name": "a"}], float("nan"), float("inf")),
]


def verdict(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and lines; fails on a traceback, a cell, or a failure without a sentence."""
    capfd.readouterr()
    code = command.main(arguments)
    printed = capfd.readouterr()
    said = printed.out + printed.err
    assert "Traceback" not in said
    assert CANARY not in said
    if code:
        assert any(line.startswith("marginalia: ") and len(line) > 30 for line in printed.err.splitlines())
        assert code in (2, 3, 4), said
    return code, said


def configurations(number: int, folder: Path) -> list[bytes]:
    """Good ones with one, two or three keys of a wrong value, and texts that are no configuration."""
    random_choice = random.Random(12)
    texts = []
    bases = [
        pipeline.anonymous(folder),
        pipeline.flat(folder),
        pipeline.anonymous(folder, synthesis_mode="aggregate_seeded"),
        {
            key: value
            for key, value in pipeline.anonymous(folder, synthesis_mode="syndiffix", syndiffix={}).items()
            if key in ("sensitive_microdata_path", "dataset", "output_dir", "synthesis_mode", "syndiffix")
        },
    ]
    keys = [*PLACES, *SECTIONS, "nothing", "event_column"]
    while len(texts) < number:
        body = dict(random_choice.choice(bases))
        for _ in range(random_choice.randint(1, 3)):
            body[random_choice.choice(keys)] = random_choice.choice(WRONG)
        text = _with_long_numbers(body)
        texts.append(text if random_choice.random() > 0.05 else text[: random_choice.randrange(len(text))])
    broken = (
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe{\0}\0",
        "{}".encode("utf-16"),
        b"\x80",
        b"\0" * 100,
    )
    deep = (
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"dataset": ' + b"9" * 5000 + b"}",
        b'{"dataset": "\\ud800"}',
    )
    return [*texts, *broken, *deep]


def _with_long_numbers(body: dict[str, Any]) -> bytes:
    return json.dumps(body, default=str).encode()


@EVERY
def test_broken_configurations_get_a_sentence(step, tmp_path, capfd):
    pipeline.write(tmp_path / "people.csv", [[CANARY, *row[1:]] for row in pipeline.rows(30)])
    path = tmp_path / "configuration.json"
    failed = 0
    for text in configurations(500, tmp_path)[::step]:
        path.write_bytes(text)
        try:
            code, _ = verdict(["check", str(path)], capfd)
        except BaseException as error:
            error.add_note(text[:2000].decode("latin-1"))
            raise
        failed += code != 0
    assert failed * step > 400


def files() -> dict[str, bytes]:
    """Names and bytes of tables that are odd or broken."""
    random_byte = random.Random(13)
    good = TEXT.encode()
    found: dict[str, bytes] = {
        **{f"cut{n}.csv": good[:n] for n in range(0, len(good), 2)},
        **{f"cut{n}.csv.gz": gzip.compress(good)[:n] for n in range(0, 60, 3)},
        **{f"named.{name}": good for name in ("gz", "zst", "parquet", "csv.zst", "zip", "xlsx", "pq.gz")},
        "utf16.csv": TEXT.encode("utf-16"),
        "mark.csv": b"\xef\xbb\xbf",
        "zeros.csv": b"\0" * 1000,
        "quote.csv": b'person,"town\n1,2\n',
        "lines.csv": b"\n\n\n\n",
        "wide.csv": b",".join(b"c%d" % n for n in range(3000)) + b"\n",
        "long.csv": b"person,town,age\n" + b"p1," + CANARY.encode() * 2_500_000 + b",3\n",
        "twice.csv": b"town,Town,'town'\n1,2,3\n",
        "blank.csv": b",,\n1,2,3\n",
        "semicolon.csv": good.replace(b",", b";"),
    }
    for number in range(130):
        data = bytearray(good * 3)
        for _ in range(random_byte.randint(1, 6)):
            # Behind the header, whose names may be shown.
            data[random_byte.randrange(len(b"person,town,age\n"), len(data))] = random_byte.randrange(256)
        found[f"flipped{number}.csv"] = bytes(data)
    return found


def _encode(path: Path) -> None:
    """As a run does in either regime; a refusal carries no cell, and nothing that does is chained to it."""
    for total in (True, False):
        try:
            source = InputFile(path)
            schema = Schema(tuple(Column(name) for name in source.headers.names if name))
            encode(source, schema, EncodingOptions(total=total, key=b"key"))
        except MarginaliaError as error:
            assert CANARY not in str(error)
            assert error.__context__ is None


@EVERY
def test_odd_files_get_a_sentence_from_check_and_from_the_command(step, tmp_path, capfd):
    pq.write_table(pa.table({"person": ["p1"], "town": [CANARY], "age": [31]}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    tables = files() | {f"cut{n}.parquet": whole[:n] for n in range(0, len(whole), 60)}
    assert len(tables) >= 200
    (tmp_path / "folder.csv").mkdir()
    for name, data in list(tables.items())[::step]:
        path = tmp_path / name
        path.write_bytes(data)
        body = {"sensitive_microdata_path": str(path), "output_dir": str(tmp_path / "out"), "vintage": "v"}
        for changes in ({"dataset": "a"}, {"dataset": "b", "dp_aggregates": True, "noise_epsilon": 1}):
            (tmp_path / "c.json").write_text(json.dumps({**body, **changes}))
            try:
                verdict(["check", str(tmp_path / "c.json")], capfd)
            except BaseException as error:
                error.add_note(f"{name} {data[:300]!r}")
                raise
        try:
            verdict(["syndiffix", str(path), "-o", str(tmp_path / "out.csv")], capfd)
            _encode(path)
        except BaseException as error:
            error.add_note(f"rows of {name} {data[:300]!r}")
            raise
        path.unlink()
    (tmp_path / "c.json").write_text(
        json.dumps({**body, "sensitive_microdata_path": str(tmp_path / "folder.csv")})
    )
    assert verdict(["check", str(tmp_path / "c.json")], capfd)[0] == 2
