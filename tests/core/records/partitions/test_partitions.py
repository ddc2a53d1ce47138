"""Partitions hold the records of the whole table: the same, coded alike, each once, whoever works on them."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.core.errors import ClusterLost, InputError, StoredTableMismatch
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.records.coded import read_coded_records
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.partitions.encoding import PartitionPlace, encode_partitions
from tasks.core.tables.header import InputFile
from tests.oracles.partitions import FarAway

SCHEMAS = {
    "open": (Column("sex"), Column("age", bins=(20, 40, 60)), Column("town")),
    "declared": (
        Column("sex", domain=("f", "m", "other"), other="other"),
        Column("age", bins=(20, 40, 60)),
        Column("town"),
    ),
    "items": (
        Column("sex", domain=("f", "m")),
        Column("langs", delimiter=";", max_items=2),
        Column("town", forbidden=("x@",)),
    ),
    "all items": (Column("sex"), Column("langs", delimiter=";"), Column("town")),
}
TOWNS = ["Lyon", "Lille", "", "Nice", "Pau", "Aix", "x@y.z"]


def rows(number: int, seed: int, subjects: int) -> list[dict[str, str]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        subject = int(rng.integers(subjects))
        langs = ";".join(str(each) for each in rng.integers(6, size=rng.integers(0, 5)))
        found.append(
            {
                "id": "" if rng.random() < 0.03 else f" P{subject} " if rng.random() < 0.2 else f"p{subject}",
                "sex": str(rng.choice(["f", "m", "", "?"], p=[0.45, 0.45, 0.05, 0.05])),
                "age": str(rng.choice(["12", "35", "61", "old", ""])),
                "langs": langs,
                "town": str(rng.choice(TOWNS, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.04, 0.01])),
            }
        )
    return found


def write(found: list[dict[str, str]], folder: Path, kind: str) -> InputFile:
    names = ["id", "sex", "age", "langs", "town"]
    if kind == "csv":
        path = folder / "people.csv"
        lines = [",".join(f'"{row[name]}"' for name in names) for row in found]
        path.write_text("\n".join([",".join(names), *lines]) + "\n")
        return InputFile(path)
    path = folder / "people.parquet"
    columns = {name: pa.array([row[name] for row in found], pa.string()) for name in names}
    pq.write_table(pa.table(columns), path, row_group_size=37)
    return InputFile(path)


def described(parts) -> Counter:
    """Each record as text, with its tag: of the whole table or of partitions."""
    found: Counter = Counter()
    for records in parts:
        texts = [("", *values) for values in records.values]
        for row in range(records.number_of_records):
            codes = [int(slot[row]) for slot in records.slots]
            cells = [texts[column][code] for code, column in zip(codes, records.slot_columns, strict=True)]
            tag = None if records.tags is None else int(records.tags[row])
            found[tuple(cells), tuple(codes), tag] += 1
    return found


def both(source, schema, place, **options):
    told, told_of_parts = [], []
    whole = encode(source, schema, EncodingOptions(key=b"k", report_dropped=told.append, **options))
    asked = EncodingOptions(key=b"k", report_dropped=told_of_parts.append, **options)
    made = encode_partitions(source, schema, asked, place, FarAway())
    parts = []
    for part in made.parts:
        with part.folder() as folder:
            parts.append(read_coded_records(folder))
    assert described(parts) == described([whole])
    assert made.facts.values == whole.values and made.facts.slot_columns == whole.slot_columns
    assert made.facts.number_of_records == whole.number_of_records
    for part in parts:
        assert part.values == whole.values and part.slot_columns == whole.slot_columns
        assert [slot.dtype for slot in part.slots] == [slot.dtype for slot in whole.slots]
    assert told_of_parts == told
    return parts


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    kind=st.sampled_from(["csv", "parquet"]),
    columns=st.sampled_from(["open", "declared", "items"]),
    number=st.sampled_from([1, 2, 3, 7]),
    size=st.sampled_from([0, 1, 5, 300]),
    has_subjects=st.booleans(),
    tags=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_partitions_hold_the_records_of_the_table(
    kind, columns, number, size, has_subjects, tags, seed, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("table")
    source = write(rows(size, seed, max(1, size // 3)), folder, kind)
    schema = Schema(SCHEMAS[columns], "id" if has_subjects else None)
    place = PartitionPlace(number, PartStore(str(folder / "parts")), "run")
    both(source, schema, place, total=True, tags=tags)
    assert not list(folder.glob("parts/**/.*.part"))
    kept = {path.name for path in (folder / "parts" / "run").iterdir()}
    assert len(kept) == 1 and kept <= {"records", "settled"}


def one_each(number: int, seed: int) -> list[dict[str, str]]:
    return [row | {"id": f"p{place}"} for place, row in enumerate(rows(number, seed, 5))]


@pytest.mark.parametrize("limit", [None, 60])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("has_subjects", [False, True])
def test_where_joining_is_not_total_columns_of_items_may_have_no_cap(kind, limit, has_subjects, tmp_path):
    source = write(one_each(200, 3), tmp_path, kind)
    schema = Schema(SCHEMAS["all items"], "id" if has_subjects else None)
    place = PartitionPlace(3, PartStore(str(tmp_path / "parts")), "run")
    both(source, schema, place, total=False, record_limit=limit)


def test_a_row_that_stops_the_whole_table_stops_its_partition(tmp_path):
    found = one_each(100, 4)
    found[3] = found[3] | {"sex": "f", "town": "Lyon"}
    found[76] = found[3] | {"id": ""}
    source = write(found, tmp_path, "csv")
    schema = Schema((Column("sex"), Column("town")), "id")
    place = PartitionPlace(4, PartStore(str(tmp_path / "parts")), "run")
    asked = EncodingOptions(total=False, key=b"k")
    with pytest.raises(InputError) as raised:
        encode(source, schema, asked)
    with pytest.raises(InputError) as raised_there:
        encode_partitions(source, schema, asked, place, FarAway())
    assert str(raised_there.value) == str(raised.value)
    assert raised_there.value.operator_detail == raised.value.operator_detail
    assert "Lyon" not in str(raised.value)


def test_one_person_is_in_one_partition(tmp_path):
    source = write(rows(500, 5, 20), tmp_path, "parquet")
    schema = Schema((Column("langs", delimiter=";", max_items=4),), "id")
    place = PartitionPlace(4, PartStore(str(tmp_path / "parts")), "run")
    parts = both(source, schema, place, total=True)
    assert sum(part.number_of_records for part in parts) <= 20
    assert sum(part.number_of_records > 0 for part in parts) > 1


class Noting(InProcess):
    """Workers that note of which work they did how much; told to, they stop at one or after so many parts."""

    def __init__(self, stops_at: str = "", after: int = 1000) -> None:
        self.stops_at, self.left, self.done = stops_at, after, Counter()

    def each(self, name, work, parts):
        for part in parts:
            if name == self.stops_at or not self.left:
                raise ClusterLost("gone")
            self.left -= 1
            self.done[name] += 1
            yield work(part)


LYON = {"sex": "f", "age": "30", "langs": "", "town": "Lyon"}


def test_nobody_decides_how_many_parts_a_run_has(tmp_path):
    """Prefect shows each. A value that was read and then lost with a second row, say, takes none."""
    schema = Schema((Column("town"), Column("langs", delimiter=";", max_items=1)), "id")
    found = []
    base = [LYON | {"id": f"p{place}", "langs": "a"} for place in range(60)]
    more = [
        [],
        *([LYON | {"id": f"q{place}"}, LYON | {"id": f"q{place}", "town": "Rome"}] for place in range(4)),
        [LYON | {"id": "", "town": "Rome"}],
        [LYON | {"id": "q", "langs": "b;c;d"}],
    ]
    for number, rows_of_one in enumerate(more):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = write(base + rows_of_one, folder, "parquet")
        place, workers = PartitionPlace(4, PartStore(str(folder / "parts")), "run"), Noting()
        encode_partitions(source, schema, EncodingOptions(total=True, key=b"k"), place, workers)
        found.append(workers.done)
    assert found == [found[0]] * len(found)
    assert found[0] == Counter(read=4, unite=1, join=4, settle=4)


def test_where_all_columns_are_declared_there_is_nothing_to_settle(tmp_path):
    source = write([LYON | {"id": "p"}], tmp_path, "parquet")
    place, workers = PartitionPlace(4, PartStore(str(tmp_path / "parts")), "run"), Noting()
    asked = EncodingOptions(total=True, key=b"k")
    encode_partitions(source, Schema((Column("sex", domain=("f", "m")),), "id"), asked, place, workers)
    assert "settle" not in workers.done


def towns_of(made) -> Counter:
    found: Counter = Counter()
    for part in made.parts:
        with part.folder() as folder:
            records = read_coded_records(folder)
        found.update(records.values[0][code - 1] for code in records.slots[0])
    return found


@pytest.mark.parametrize("stops_at", ["read", "join", "settle"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_was_kept_of_another_file_that_was_there_for_a_while_is_not_used(kind, stops_at, tmp_path):
    schema, asked = Schema((Column("town"),), "id"), EncodingOptions(total=True, key=b"k")
    place = PartitionPlace(2, PartStore(str(tmp_path / "parts")), "of the first")
    first, other = ([LYON | {"id": f"p{n}", "town": town} for n in range(20)] for town in ("Lyon", "Nice"))
    source = write(other, tmp_path, kind)
    with pytest.raises(ClusterLost):
        encode_partitions(source, schema, asked, place, Noting(stops_at))
    source = write(first, tmp_path, kind)
    os.utime(source.path, (1_000_000_000, 1_000_000_000))
    assert towns_of(encode_partitions(source, schema, asked, place, InProcess())) == Counter(Lyon=20)


def test_a_file_that_changes_between_two_blocks_stops_the_run(tmp_path):
    schema, asked = Schema((Column("town"),)), EncodingOptions(total=True, key=b"k")
    source = write([LYON | {"id": f"p{n}"} for n in range(80)], tmp_path, "parquet")

    class Changing(Noting):
        def each(self, name, work, parts):
            for part in parts:
                yield work(part)
                os.utime(source.path, (1_000_000_000, 1_000_000_000))

    place = PartitionPlace(2, PartStore(str(tmp_path / "parts")), "run")
    with pytest.raises(InputError, match="changed meanwhile"):
        encode_partitions(source, schema, asked, place, Changing())


def test_what_somebody_puts_into_the_store_without_the_secret_is_not_read(tmp_path):
    """Copied blocks of a run that stopped lie there until the next one."""
    schema, asked = Schema((Column("town"),), "id"), EncodingOptions(total=True, key=b"k")
    place = PartitionPlace(2, PartStore(str(tmp_path / "parts")), "run")
    source = write([LYON | {"id": f"p{n}"} for n in range(20)], tmp_path, "csv")
    with pytest.raises(ClusterLost):
        encode_partitions(source, schema, asked, place, Noting("read"))
    block = tmp_path / "parts" / "run" / "copied" / "0" / "rows.parquet"
    held = pq.read_table(block)
    forged = pa.concat_tables([held.slice(0, 1)] * 1000)
    pq.write_table(forged, block)
    with pytest.raises(StoredTableMismatch):
        encode_partitions(source, schema, asked, place, InProcess())


def test_no_records_stop_where_joining_is_not_total(tmp_path):
    source = write([], tmp_path, "csv")
    place = PartitionPlace(2, PartStore(str(tmp_path / "parts")), "run")
    with pytest.raises(InputError, match="at least one record"):
        encode_partitions(
            source, Schema((Column("sex"),)), EncodingOptions(total=False, key=b"k"), place, InProcess()
        )
