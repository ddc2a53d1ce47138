from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess, Workers
from tasks.core.syndiffix.forest import Forest, ForestColumn
from tasks.core.syndiffix.growing import GrowingPlace, TreeFiles, grow_sets, measure_pairs
from tasks.core.syndiffix.settings import AnonymizationParameters, DefaultClustering, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer
from tests.oracles.partitions import FarAway

COLUMNS = ("age", "income", "town")
MORE = (*COLUMNS, "year", "smoker")
SETS = [(0, 1, 2), (2, 3, 4), (1,), (0, 2)]


def visits(rows=300):
    draw = np.random.default_rng(8)
    income = draw.lognormal(8, 1, rows).round(2)
    income[:12] = 10.0 ** np.arange(6, 18)  # are pushed out of the root
    return pa.table(
        {
            "age": np.where(draw.random(rows) < 0.1, np.nan, draw.integers(0, 90, rows)),
            "income": income,
            "town": draw.choice(["Aberwick", "Brenmoor", "Caldwell"], rows),
            "year": [1990 + 3 * n % 11 for n in range(rows)],
            "smoker": [n % 7 < 3 for n in range(rows)],
            "person": [f"{n // 2}" for n in range(rows)],
            "household": [f"{n // 5}" for n in range(rows)],
        }
    )


def files(folder):
    return TreeFiles(folder, b"kept in the workspace")


def synthesizer(folder, columns=COLUMNS, value_safe=(), ids=(), clustering=DefaultClustering()):
    parameters = SynDiffixParameters(
        AnonymizationParameters(b"kept in the ledger"),
        clustering=clustering,
        value_safe_columns=frozenset(value_safe),
    )
    known = None if folder is None else files(folder)
    return Synthesizer(visits(), parameters, columns=columns, ids=ids, known=known)


def of_more(folder=None, ids=("person", "household")):
    return synthesizer(folder, MORE, {"town"}, ids, DefaultClustering(max_weight=2.5))


@pytest.fixture
def folder(tmp_path):
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


def test_every_tree_and_harvest_is_kept_once(folder):
    assert len(list(folder.glob("*.tree.npz"))) == len(list(folder.glob("*.harvest.npz"))) == 7
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = synthesizer(folder)
    again.sample()
    files(folder).keep(again.forest)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    # A folder that is taken away meanwhile is no error.
    files(folder)._write(folder / "x.tree.npz", {"a": np.zeros(1)}, folder / "gone")
    assert not (folder / "gone").exists()


def test_a_table_from_known_trees_is_the_one_from_grown_trees(folder):
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())
    for path in folder.glob("*.harvest.npz"):
        path.unlink()
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())


@pytest.mark.parametrize("lost", [["age"], ["income"], ["age", "income"], ["age", "income", "town"]])
def test_trees_that_are_not_known_grow_on_those_that_are(lost, folder):
    columns = [ForestColumn(name, np.zeros(0)) for name in lost]
    for what in ("tree", "harvest"):
        files(folder)._path(columns, what).unlink()
    assert synthesizer(folder).sample().equals(synthesizer(None).sample())


@pytest.mark.parametrize("what", ["tree", "harvest"])
def test_a_known_one_is_not_grown_again_for_other_columns_of_the_table(what, folder):
    mark(folder, what)
    if what == "tree":
        for path in folder.glob("*.harvest.npz"):
            path.unlink()
    other = ("age", "town")
    assert synthesizer(folder, other).sample().num_rows > 1.5 * synthesizer(None, other).sample().num_rows


def test_public_values_and_another_order_have_trees_of_their_own(folder):
    mark(folder, "harvest")
    for columns, safe in ((("town", "age"), ()), (("age", "town"), {"age", "town"})):
        known, grown = synthesizer(folder, columns, safe), synthesizer(None, columns, safe)
        pair = (0, 1)
        assert known.forest.buckets(pair).rows == grown.forest.buckets(pair).rows


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_file_that_is_damaged_or_of_other_columns_is_as_good_as_none(content, folder):
    alone = synthesizer(None).sample()
    (path, *_) = sorted(folder.glob("*.harvest.npz"))
    whole = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 50):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert files(folder)._read(path) is None
    path.write_bytes(whole)
    for what in ("tree", "harvest"):
        one, other = (
            files(folder)._path([ForestColumn(name, np.zeros(0))], what) for name in ("age", "income")
        )
        other.write_bytes(one.read_bytes())
    assert synthesizer(folder).sample().equals(alone)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-30] if content is None else content)
    assert synthesizer(folder).sample().equals(alone)


class Watched(InProcess):
    """They note what they are given, and which files they grow for each part."""

    def __init__(self) -> None:
        self.given: list[tuple[str, object, int]] = []
        self.grown: list[set[str]] = []

    def each(self, name, work, parts):
        self.given.append((name, work, len(parts)))
        for answer in super().each(name, work, parts):
            grown, _ = answer
            if grown is not None:
                with grown.folder() as folder:
                    self.grown.append({path.name for path in folder.iterdir()})
            yield answer


def place(tmp_path: Path, workers: Workers, root: str = "") -> GrowingPlace:
    return GrowingPlace(workers, PartStore(root or str(tmp_path / "parts")), files(tmp_path / "trees"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("workers", "ids"),
    [(InProcess(), ()), (FarAway(), ("person",)), (FarAway(), ("person", "household")), (FarAway(), ())],
)
def test_workers_grow_the_trees_of_one_process(workers, ids, tmp_path, monkeypatch):
    alone = of_more(ids=ids)
    basis = alone.basis()
    drawn = [alone.draw(each, basis) for each in SETS]
    files(tmp_path / "alone").keep(alone.forest)
    remote = f"memory://{tmp_path.name}" if ids else ""
    grow_sets(of_more(ids=ids).forest, SETS, place(tmp_path, workers, remote))
    assert contents(tmp_path / "trees") == contents(tmp_path / "alone")
    monkeypatch.setattr(Forest, "grow_tree", None)
    monkeypatch.setattr(Forest, "harvest_tree", None)
    found = of_more(tmp_path / "trees", ids)
    basis = found.basis()
    for one, other in zip(drawn, (found.draw(each, basis) for each in SETS), strict=True):
        assert all(one.cells[column].values.equals(other.cells[column].values) for column in one.cells)


@pytest.mark.parametrize("workers", [InProcess(), FarAway()])
def test_workers_measure_the_dependence_of_one_process(workers, tmp_path, monkeypatch):
    alone = of_more()
    measured = alone.measure()
    files(tmp_path / "alone").keep(alone.forest)
    some = {("age", "income"): float(measured.dependence[0, 1])}
    for known in (some, {}):
        pairs = measure_pairs(of_more().forest, known, place(tmp_path, workers))
    assert contents(tmp_path / "trees") == contents(tmp_path / "alone")
    monkeypatch.setattr(Forest, "grow_tree", None)
    again = of_more(tmp_path / "trees").measure(pairs)
    assert again.dependence.tobytes() == measured.dependence.tobytes()
    assert again.entropies.tobytes() == measured.entropies.tobytes()


def test_what_was_grown_before_is_not_sent_and_how_many_parts_there_are_does_not_tell(tmp_path):
    forest, workers = of_more().forest, Watched()
    grow_sets(forest, SETS[1:2], place(tmp_path, workers))
    before = contents(tmp_path / "trees")
    changed = {path: path.stat().st_mtime_ns for path in (tmp_path / "trees").iterdir()}
    grow_sets(forest, [SETS[1], SETS[0], SETS[3], SETS[1]], place(tmp_path, workers))
    assert [(name, parts) for name, _, parts in workers.given] == [("grow trees", 1), ("grow trees", 4)]
    after = contents(tmp_path / "trees")
    assert before.items() < after.items()
    assert changed.items() <= {p: p.stat().st_mtime_ns for p in (tmp_path / "trees").iterdir()}.items()
    assert workers.grown == [before.keys(), after.keys() - before.keys()], (
        "a set holds what smaller ones need"
    )
    grow_sets(forest, SETS, place(tmp_path, workers))
    assert len(workers.given) == 2, "all are there: nobody is put to work"
    grow_sets(forest, [(0, 3), (0, 3)], place(tmp_path, workers))
    assert len(workers.grown) == 3 and not list((tmp_path / "parts").glob("grown-*"))
    shown = repr(workers.given)
    assert not any(text in shown for text in ("kept in", "anonymization", *MORE))


def test_a_part_of_the_pairs_is_the_same_for_any_table_of_so_many_columns(tmp_path):
    workers = Watched()
    known = measure_pairs(of_more().forest, {}, place(tmp_path, workers))
    less = {pair: value for pair, value in known.items() if "age" in pair}
    measure_pairs(of_more().forest, less, place(tmp_path, workers))
    measure_pairs(of_more().forest, known, place(tmp_path, workers))
    assert [parts for _, _, parts in workers.given] == [10, 10]
