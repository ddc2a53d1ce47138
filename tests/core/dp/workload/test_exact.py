import itertools

import numpy as np
import pytest

from tasks.core.dp.workload import exact
from tasks.core.dp.workload.cells import domain_of
from tasks.core.dp.workload.exact import ExactCounts, Look
from tasks.core.parts.workers import InProcess
from tests.oracles.partitions import FarAway, as_table, parted
from tests.oracles.workloads import SCHEMA, draw, parameters, people


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("limit", [None, 700])
def test_a_draw_from_partitions_is_that_of_the_whole_table(number, limit, tmp_path):
    records = people(2_000, 4, tags=True)
    asked = parameters(4.0, record_limit=limit, tables=None)
    whole = draw(records, asked, seed=3)
    drawn = draw(parted(records, tmp_path, number), asked, seed=3)
    assert drawn.number_of_records == whole.number_of_records
    assert drawn.cells == whole.cells
    for one, other in zip((*drawn.values, *drawn.tables), (*whole.values, *whole.tables), strict=True):
        assert one.columns == other.columns and one.scale == other.scale
        assert (one.counts == other.counts).all()
    assert drawn.scores == whole.scores


def test_no_text_of_a_question_shows_what_values_are_held(tmp_path):
    """A cluster logs what failed."""
    workers = FarAway()
    drawn = draw(parted(people(500, 4), tmp_path, 2, workers), parameters(8.0), seed=3)
    assert any("house" in cells.values for cells in drawn.cells)
    assert {name for name, _, _ in workers.asked} == {"values", "tables"}
    assert not any("house" in text or "ship" in text for _, _, text in workers.asked)


def test_tables_are_asked_for_together_up_to_a_number_of_cells(tmp_path, monkeypatch):
    records = people(300, 5)
    cells = draw(records, parameters(8.0)).cells
    look, domain = Look(cells=cells), domain_of(cells)
    tables = list(itertools.combinations(range(len(SCHEMA.columns)), 2))
    expected = list(ExactCounts(as_table(records)).of_tables(look, tables))
    monkeypatch.setattr(exact, "_CELLS_AT_ONCE", int(np.prod(domain.shape(tables[0]))) + 1)
    asked = []

    class Watched(InProcess):
        def each(self, name, work, parts):
            if name == "tables":
                asked.append(len(work.args[0].keywords["tables"]))
            return super().each(name, work, parts)

    parts = ExactCounts(parted(records, tmp_path, 3, Watched()))
    found = list(parts.of_tables(look, tables))
    assert sum(asked) == len(tables) and len(asked) > 1
    for one, other in zip(found, expected, strict=True):
        assert (one == other).all()
