"""Trees on disk: found instead of grown, the same ones, and grown again where a file is no use."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.syndiffix.forest import ForestColumn
from tasks.core.syndiffix.growing import TreeFiles
from tasks.core.syndiffix.settings import AnonymizationParameters, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer

COLUMNS = ("age", "income", "town")


def visits(rows: int = 300) -> pa.Table:
    draw = np.random.default_rng(8)
    income = draw.lognormal(8, 1, rows).round(2)
    income[:12] = 10.0 ** np.arange(6, 18)  # are pushed out of the root
    return pa.table(
        {
            "age": np.where(draw.random(rows) < 0.1, np.nan, draw.integers(0, 90, rows)),
            "income": income,
            "town": draw.choice(["Aberwick", "Brenmoor", "Caldwell"], rows),
        }
    )


def files(folder: Path) -> TreeFiles:
    return TreeFiles(folder, b"kept in the workspace")


def synthesizer(
    folder: Path | None, columns: tuple[str, ...] = COLUMNS, value_safe: frozenset[str] = frozenset()
) -> Synthesizer:
    parameters = SynDiffixParameters(AnonymizationParameters(bytes(16)), value_safe_columns=value_safe)
    known = None if folder is None else files(folder)
    return Synthesizer(visits(), parameters, columns=columns, known=known)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    grown = synthesizer(None)
    grown.sample()
    files(tmp_path / "trees").keep(grown.forest)
    return tmp_path / "trees"


def mark(folder: Path, what: str) -> None:
    """Change what every file says, so that it is seen whether they are used."""
    for path in folder.glob(f"*.{what}.npz"):
        arrays = files(folder)._read(path)
        assert arrays is not None
        counts = "noisy" if what == "tree" else "weight"
        path.unlink()
        files(folder)._write(path, {**arrays, counts: arrays[counts] * 2}, folder)


def test_every_tree_and_harvest_is_kept_once(folder: Path) -> None:
    assert len(list(folder.glob("*.tree.npz"))) == len(list(folder.glob("*.harvest.npz"))) == 7
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = synthesizer(folder)
    again.sample()
    files(folder).keep(again.forest)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_table_from_known_trees_is_the_one_from_grown_trees(folder: Path) -> None:
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())
    for path in folder.glob("*.harvest.npz"):
        path.unlink()
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())


@pytest.mark.parametrize("lost", [["age"], ["income"], ["age", "income"], ["age", "income", "town"]])
def test_trees_that_are_not_known_grow_on_those_that_are(lost: list[str], folder: Path) -> None:
    columns = [ForestColumn(name, np.zeros(0)) for name in lost]
    for what in ("tree", "harvest"):
        files(folder)._path(columns, what).unlink()
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())


@pytest.mark.parametrize("what", ["tree", "harvest"])
def test_a_known_one_is_not_grown_again_for_other_columns_of_the_table(what: str, folder: Path) -> None:
    mark(folder, what)
    if what == "tree":
        for path in folder.glob("*.harvest.npz"):
            path.unlink()
    other = ("age", "town")
    assert synthesizer(folder, other).sample().num_rows > 1.5 * synthesizer(None, other).sample().num_rows


def test_public_values_and_another_order_have_trees_of_their_own(folder: Path) -> None:
    mark(folder, "harvest")
    for columns, safe in ((("town", "age"), frozenset()), (("age", "town"), frozenset({"age", "town"}))):
        known, grown = synthesizer(folder, columns, safe), synthesizer(None, columns, safe)
        pair = (0, 1)
        assert known.forest.buckets(pair).rows == grown.forest.buckets(pair).rows


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_damaged_file_is_as_good_as_none(content: bytes | None, folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-30] if content is None else content)
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())


def test_a_file_with_one_bit_changed_is_as_good_as_none(folder: Path) -> None:
    draw = np.random.default_rng(0)
    (path, *_) = sorted(folder.glob("*.harvest.npz"))
    content = path.read_bytes()
    assert files(folder)._read(path)
    for place in draw.integers(0, len(content), 200):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert files(folder)._read(path) is None


def test_the_file_of_other_columns_is_as_good_as_none(folder: Path) -> None:
    for what in ("tree", "harvest"):
        one, other = (
            files(folder)._path([ForestColumn(name, np.zeros(0))], what) for name in ("age", "income")
        )
        other.write_bytes(one.read_bytes())
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())


def test_a_folder_that_is_taken_away_meanwhile_is_no_error(tmp_path: Path) -> None:
    files(tmp_path)._write(tmp_path / "x.tree.npz", {"a": np.zeros(1)}, tmp_path / "gone")
    assert not (tmp_path / "gone").exists()
