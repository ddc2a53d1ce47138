"""Trees that workers grow: the bytes that one process makes, whoever grows them and in whatever order."""

from pathlib import Path

import pyarrow as pa
import pytest

from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess, Workers
from tasks.core.syndiffix import forest as forests
from tasks.core.syndiffix.growing import GrowingPlace, TreeFiles, grow_sets, measure_pairs
from tasks.core.syndiffix.settings import AnonymizationParameters, DefaultClustering, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer
from tests.core.parts.other_workers import Backwards, Sent
from tests.core.syndiffix.test_tree_files import visits

SALT = b"kept in the ledger"
COLUMNS = ("age", "income", "town", "year", "smoker")
SETS = [(0, 1, 2), (2, 3, 4), (1,), (0, 2)]


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


def table() -> pa.Table:
    found = visits()
    place = pa.array(range(found.num_rows))
    found = found.append_column("year", pa.array([1990 + 3 * n % 11 for n in range(found.num_rows)]))
    found = found.append_column("smoker", pa.array([n % 7 < 3 for n in range(found.num_rows)]))
    for name, people in (("person", 2), ("household", 5)):
        found = found.append_column(name, pa.array([f"{n.as_py() // people}" for n in place]))
    return found


def synthesizer(folder: Path | None = None, ids: tuple[str, ...] = ("person", "household")) -> Synthesizer:
    clustering = DefaultClustering(max_weight=2.5)
    parameters = SynDiffixParameters(
        AnonymizationParameters(SALT), clustering=clustering, value_safe_columns=frozenset({"town"})
    )
    known = None if folder is None else files(folder)
    return Synthesizer(table(), parameters, columns=COLUMNS, ids=ids, known=known)


def files(folder: Path) -> TreeFiles:
    return TreeFiles(folder, b"kept in the workspace")


def place(tmp_path: Path, workers: Workers, root: str = "") -> GrowingPlace:
    return GrowingPlace(workers, PartStore(root or str(tmp_path / "parts")), files(tmp_path / "trees"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("ids", [(), ("person",), ("person", "household")])
@pytest.mark.parametrize("workers", [InProcess(), Backwards(), Sent()])
def test_workers_grow_the_trees_of_one_process(
    workers: Workers, ids: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = synthesizer(ids=ids)
    basis = alone.basis()
    drawn = [alone.draw(each, basis) for each in SETS]
    files(tmp_path / "alone").keep(alone.forest)
    remote = f"memory://{tmp_path.name}" if ids else ""
    grow_sets(synthesizer(ids=ids).forest, SETS, place(tmp_path, workers, remote))
    assert contents(tmp_path / "trees") == contents(tmp_path / "alone")
    monkeypatch.setattr(forests, "grow_tree", None)
    monkeypatch.setattr(forests, "harvest_tree", None)
    found = synthesizer(tmp_path / "trees", ids)
    basis = found.basis()
    for one, other in zip(drawn, (found.draw(each, basis) for each in SETS), strict=True):
        assert all(one.cells[column].values.equals(other.cells[column].values) for column in one.cells)


@pytest.mark.parametrize("workers", [InProcess(), Backwards(), Sent()])
def test_workers_measure_the_dependence_of_one_process(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = synthesizer()
    measured = alone.measure()
    files(tmp_path / "alone").keep(alone.forest)
    some = {("age", "income"): float(measured.dependence[0, 1])}
    for known in (some, {}):
        pairs = measure_pairs(synthesizer().forest, known, place(tmp_path, workers))
    assert contents(tmp_path / "trees") == contents(tmp_path / "alone")
    monkeypatch.setattr(forests, "grow_tree", None)
    again = synthesizer(tmp_path / "trees").measure(pairs)
    assert again.dependence.tobytes() == measured.dependence.tobytes()
    assert again.entropies.tobytes() == measured.entropies.tobytes()


def test_what_was_grown_before_is_not_sent_and_how_many_parts_there_are_does_not_tell(tmp_path: Path) -> None:
    forest, workers = synthesizer().forest, Watched()
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


def test_a_part_of_the_pairs_is_the_same_for_any_table_of_so_many_columns(tmp_path: Path) -> None:
    workers = Watched()
    known = measure_pairs(synthesizer().forest, {}, place(tmp_path, workers))
    less = {pair: value for pair, value in known.items() if "age" in pair}
    measure_pairs(synthesizer().forest, less, place(tmp_path, workers))
    measure_pairs(synthesizer().forest, known, place(tmp_path, workers))
    assert [parts for _, _, parts in workers.given] == [10, 10]


def test_what_is_sent_shows_no_secret_and_no_column(tmp_path: Path) -> None:
    workers = Watched()
    grow_sets(synthesizer().forest, SETS, place(tmp_path, workers))
    shown = repr(workers.given)
    assert "kept in" not in shown and not any(name in shown for name in COLUMNS)
    assert "anonymization" not in shown
