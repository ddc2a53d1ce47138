"""Exact counts of partitions: the same whole numbers, and so the same draw, however a table is parted."""

import dataclasses
import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp import tallies
from tasks.core.dp.candidates import SizeRule
from tasks.core.dp.exact import LengthCounts
from tasks.core.dp.lengths import Draw
from tasks.core.dp.release import draw
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.tags import records_below, tag_bound
from tasks.core.dp.tallies import AskedTuples, AskedValues, Sample, SurvivingValues
from tasks.core.errors import InternalError, StoredTableMismatch
from tasks.core.records.table import RecordTable
from tests.core.dp.test_release import MODES, parameters, release, survey
from tests.oracles import measuring
from tests.oracles.mechanism import add, dense_cells, lattice_of, sparse_cells
from tests.oracles.partitions import FarAway, as_table, opened, parted, stored

#: All cubes visited, some, none.
RULES = [SizeRule(), SizeRule(60, 150, 200), SizeRule(0, 0, 0)]


def files_of(measurement):
    with tempfile.TemporaryDirectory() as folder:
        measurement.write(Path(folder))
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("limit", [None, 250])
@pytest.mark.parametrize("mode", MODES)
def test_a_draw_from_partitions_is_that_of_the_whole_table(mode, limit, rule, tmp_path):
    """Open and declared columns, several items, records over the limit; one partition of five is empty."""
    asked = parameters(*mode, length=4, record_limit=limit, percentile_percentage=60, epsilon=20.0)
    records = survey(rows=500, columns=4, multi=2, declared=(1, 3), seed=3)
    whole = release(records, asked, 7, rule=rule)
    assert [bool(len(level.counts)) for level in whole.levels] == [True] * 4
    expected = files_of(whole)
    for number in (1, 2, 5):
        places = [*np.array_split(np.arange(500), 4), np.arange(0)] if number == 5 else None
        if places is None:
            table = parted(records, tmp_path / str(number), number)
        else:
            table = opened(stored(records, tmp_path / "5", places), FarAway())
        assert files_of(release(table, asked, 7, rule=rule)) == expected


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", MODES)
def test_a_length_is_asked_for_in_portions_up_to_a_number_of_counts(mode, rule, tmp_path, monkeypatch):
    """But for bounded contributions: a record's coins go through all its candidates, wherever they are."""
    asked = parameters(*mode, percentile_percentage=60, epsilon=20.0)
    records, workers = survey(rows=300, multi=2, declared=(1, 3), seed=3), FarAway()
    expected = files_of(release(records, asked, 7, rule=rule))
    monkeypatch.setattr(tallies, "_COUNTS_AT_ONCE", 100)
    seen = []
    table = LengthCounts(parted(records, tmp_path, 2, workers))
    stream, told = SeededStream(7), lambda step, share: seen.append((step, share))
    assert files_of(draw(Draw(table, asked, stream, lambda: None, told, rule))) == expected
    times = [name for name, _, _ in workers.asked].count("candidates")
    assert times == 3 if mode[1] != "schema" else times > 5
    for step in ("length 1", "length 2", "length 3"):
        shares = [share for name, share in seen if name == step]
        assert shares == sorted(shares) and shares[-1] == 1.0


@pytest.mark.parametrize("mode", MODES)
def test_a_table_of_empty_partitions_is_an_empty_table(mode, tmp_path):
    nobody, asked = survey(rows=0, declared=(0, 1), multi=2), parameters(*mode)
    assert files_of(release(parted(nobody, tmp_path, 3), asked)) == files_of(release(nobody, asked))


@settings(max_examples=25, deadline=None)
@given(measuring.tables(), st.data(), st.sampled_from(RULES), st.booleans())
def test_counts_and_sizes_of_any_partitions_are_those_of_the_whole(records, data, rule, bounded):
    """Records in any partition, in any order: cell by cell, and key by key where cells are not visited."""
    rows = np.arange(records.number_of_records)
    of = np.array([data.draw(st.integers(0, 2)) for _ in rows], np.int64)
    limit = data.draw(st.integers(1, 3))
    sizes = [len(values) for values in records.values]
    lattice, survivors = lattice_of(records.schema, sizes)
    everything = SurvivingValues(None, tuple(np.arange(1, size + 1) for size in sizes))
    with tempfile.TemporaryDirectory() as folder:
        parts = stored(records, Path(folder), [rows[of == place] for place in (2, 0, 1)])
        both = LengthCounts(as_table(records)), LengthCounts(opened(parts, FarAway()))
        question = AskedValues(Sample(), bounded, records.slot_columns, tuple(sizes))
        one, other = _answers(both, question, limit)
        assert (one.cells == other.cells).all()
        for length in range(2, min(records.schema.width, 4) + 1):
            question = AskedTuples(everything, bounded, records.schema, length, lattice, rule)
            one, other = _answers(both, question, limit)
            assert dense_cells(one) == dense_cells(other)
            assert sparse_cells(one) == sparse_cells(other)
            wanted = measuring.candidates(records.schema, sizes, survivors, length)
            survivors = {cell for cell in wanted if data.draw(st.integers(0, 3))}
            add(lattice, records.schema, length, survivors)


def _answers(tables, question, limit):
    tallies, sizes = [], []
    for table in tables:
        tally = question.blank()
        held, bound = table.counted(question, tally, lambda share: None)
        bound(limit)
        tallies.append(tally)
        sizes.append(None if held is None else held.tolist())
    assert sizes[0] == sizes[1]
    return tallies


# ---- what could break the guarantee ----------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_the_ledger_is_told_after_all_that_can_be_read_before_the_first_word(mode, tmp_path):
    """A partition that is gone stops the draw while nothing is charged."""
    table, told = parted(survey(rows=50), tmp_path, 2), []
    table.parts[1].store.remove(table.parts[1].key)
    with pytest.raises(StoredTableMismatch):
        release(table, parameters(*mode), 7, lambda: told.append(1), SizeRule())
    assert told == []


def test_a_partition_counts_once(tmp_path):
    """Twice, its records would be counted twice, and nobody's noise covers two."""
    first, second = parted(survey(rows=50), tmp_path, 2).parts
    facts = parted(survey(rows=50), tmp_path, 2).facts
    with pytest.raises(InternalError, match="once"):
        RecordTable(facts, [first, second, first], FarAway())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [None, 40])
def test_what_partitions_are_asked_depends_on_nothing_that_only_they_know(mode, limit, tmp_path):
    """As many questions of the same names in the same order, also where nobody is over the limit.

    No partition is left out, whatever it holds.
    """
    seen, some = [], survey(rows=200)
    full = dataclasses.replace(some, slots=tuple(np.maximum(codes, 1) for codes in some.slots))
    for name, records in (("one", some), ("other", full)):
        workers = FarAway()
        table = parted(records, tmp_path / name, 3, workers)
        asked = parameters(*mode, length=2, epsilon=100.0, record_limit=limit, percentile_percentage=30)
        found = release(table, asked, 7, rule=SizeRule())
        assert len(found.levels[1].counts)
        seen.append([(work, parts) for work, parts, _ in workers.asked])
    assert seen[0] == seen[1]
    reads = 2 if mode[1] != "schema" else 1
    assert len(seen[0]) == 2 * reads


def test_no_text_of_a_question_or_of_an_answer_shows_what_was_counted(tmp_path):
    """A cluster logs what failed: neither a code of the dictionary, nor how many values it has."""
    workers = FarAway()
    records = survey(rows=300, values=4)
    table = parted(records, tmp_path, 2, workers)
    release(table, parameters("gdp", "profile", epsilon=50.0), 7, rule=SizeRule(60, 150, 200))
    assert {name for name, _, _ in workers.asked} == {"sensitivities", "candidates"}
    for _, _, text in workers.asked:
        assert not any(word in text for word in ("array", "sizes=", "codes=", "v1", "4, 4"))
    question = AskedValues(Sample(), False, records.slot_columns, (4,) * 5)
    tally = question.blank()
    LengthCounts(as_table(records)).counted(question, tally, lambda share: None)
    assert repr(tally.answer()) == "Answer()"
    assert "v1" not in repr(table) and "number_of_records" not in repr(table)


def test_a_record_keeps_the_same_tuples_in_whatever_partition_it_is(tmp_path):
    """Its coins are its tag's: those of its place would have others keep other tuples beside it (13)."""
    records = survey(rows=200, columns=6, multi=2)
    asked = parameters("gdp", "profile", percentile_percentage=30, epsilon=50.0)
    expected = files_of(release(records, asked, 4))
    for number, (places, seed) in enumerate(itertools.product([2, 3, 4], [1, 2])):
        order = np.random.default_rng(seed).permutation(200)
        parts = stored(records, tmp_path / str(number), np.array_split(order, places))
        assert files_of(release(opened(parts, FarAway()), asked, 4)) == expected


def test_a_sample_of_partitions_is_drawn_record_by_record(tmp_path):
    """Not so many of each partition: a record more in one would push out another one (R14)."""
    records = survey(rows=900, declared=range(5))
    order = np.argsort(records.tags)
    parts = stored(records, tmp_path, np.array_split(order, 3))
    asked = parameters(record_limit=300, epsilon=100.0, threshold_delta_share=0.0)
    table = opened(parts, FarAway())
    one, other = release(table, asked), release(records, asked)
    assert files_of(one) == files_of(other)
    kept = records_below(records, tag_bound(300, one.number_of_records))
    held = sum(int((codes > 0).sum()) for codes in kept.slots)
    assert abs(one.levels[0].counts.sum() - held) < 30
