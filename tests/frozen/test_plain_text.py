"""What is made plain before it is hashed, and what must not be; how differences are named and shown."""

import datetime
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.frozen import frozen
from tests.frozen.plain_text import Plain

NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    return Plain(tmp_path, Path("/a/checkout"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.1234567890123", "0.1234567890988"),
        ('x="M12.34567890123,5"', 'x="M12.34567890456,5"'),
        ("1.23456789012e-07", "1.23456789034e-07"),
        ("Released in 3 s: here", "Released in 214 s: here"),
        ("http://127.0.0.1:40001/api", "http://127.0.0.1:40002/api"),
        pytest.param(NOW.isoformat(), (NOW - datetime.timedelta(hours=3)).isoformat(), id="moments"),
        ('"code_version": "' + "a1" * 20 + '"', '"code_version": "' + "b2" * 20 + '+changes-01234567"'),
        ("Compiling kernels: up to two minutes.\nnext", "next"),
        ("[    0.1 s] write", "[   12.7 s] write"),
    ],
)
def test_what_no_two_runs_have_alike_is_made_plain(one: str, other: str, plain: Plain) -> None:
    assert plain.text(one) == plain.text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.123456789", "0.123456788"),
        ("1234567890123", "1234567890124"),
        ("-1.5", "1.5"),
        ("2025-03-01T10:00:00", "2025-03-01T10:00:01"),
        ('"digest": "' + "a" * 64 + '"', '"digest": "' + "b" * 64 + '"'),
        ("in 3 sets", "in 4 sets"),
        ("a\r\n", "a\n"),
        ("3 CPU seconds", "4 CPU seconds"),
    ],
)
def test_what_a_run_decides_is_kept(one: str, other: str, plain: Plain) -> None:
    assert plain.text(one) != plain.text(other)


def test_places_and_runs_have_names(tmp_path: Path, plain: Plain) -> None:
    runs = [f"out/sensitive/people/20261123T07{minute}00-0a1b2c/x.tsv" for minute in (12, 11)]
    plain.know_runs(runs)
    assert plain.text(f"{tmp_path}/{runs[0]}") == "FOLDER/out/sensitive/people/RUN2/x.tsv"
    assert plain.text("/a/checkout/flows") == "CHECKOUT/flows"


def test_parquet_is_its_schema_and_rows_and_an_archive_what_is_in_it(tmp_path: Path, plain: Plain) -> None:
    table = pa.table({"town": ["Eel", None], "share": [0.1234567890123, 2.0]})
    path, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, path, compression="none")
    pq.write_table(table, other, compression="zstd", row_group_size=1)
    assert plain.file(path) == plain.file(other)
    assert '{"town": "Eel", "share": 0.123456789}' in plain.file(path)
    pq.write_table(table.cast(pa.schema([("town", pa.large_string()), ("share", pa.float64())])), other)
    assert plain.file(path) != plain.file(other)
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(path, "tables/a.parquet")
    assert plain.file(path) in plain.file(archive)


def test_of_a_manifest_what_follows_from_the_files_is_left_to_them(tmp_path: Path, plain: Plain) -> None:
    texts = []
    for size in (1, 2):
        path = tmp_path / "MANIFEST.json"
        path.write_text(f'{{"bytes": {size}, "sha256": "{str(size) * 64}", "rows": 7}}')
        texts.append(plain.file(path))
    assert texts[0] == texts[1] and '"rows": 7' in texts[0]


def test_differences_are_named_and_shown(tmp_path: Path) -> None:
    before, after = {"a/x": "1\n", "a/y": "2\n", "a/gone": ""}, {"a/x": "1\n", "a/y": "3\n", "a/new": "4\n"}
    assert frozen.differences(frozen.hashes(before), frozen.hashes(after)) == [
        "changed  a/y",
        "new      a/new",
        "gone     a/gone",
    ]
    for name, texts in (("before", before), ("after", after)):
        frozen.keep(texts, tmp_path / name)
    shown = list(frozen.compare(tmp_path / "before", tmp_path / "after"))
    lines = [line for line in shown if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert lines == ["+4", "-2", "+3"]
    frozen.keep({"another/z": "5\n"}, tmp_path / "before")
    for name, number in (("before", 1), ("after", 2)):
        frozen.keep({"a/x.json": f'{{"one": 0, "two": {number}}}\n'}, tmp_path / name)
    assert ' "one": 0,' in "".join(frozen.compare(tmp_path / "before", tmp_path / "after"))
    assert not list(frozen.compare(tmp_path / "before", tmp_path / "before"))


def test_every_scenario_has_hashes() -> None:
    assert {path.partition("/")[0] for path in frozen.stored()} == frozen.SCENARIOS.keys()
