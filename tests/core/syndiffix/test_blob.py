"""The blob: any question about any columns, from few tables, with nothing in them that may not be told."""

import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InputError, ParameterError
from tasks.core.syndiffix.blob import count_tables, public_texts, read_blob, write_blob
from tasks.core.syndiffix.clusters import Clusters
from tasks.core.syndiffix.columns import encode_column
from tasks.core.syndiffix.forest import Buckets
from tasks.core.syndiffix.microdata import CellSource, DrawnCells
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    DefaultClustering,
    MlClustering,
    SynDiffixParameters,
)
from tasks.core.syndiffix.stitching import shuffle
from tasks.core.syndiffix.synthesizer import Synthesizer

SALT = b"a salt that no blob may hold"
COLUMNS = ["age", "income", "city", "joined", "member", "name"]
ROWS = 1500
OUTLIER = 987_654.25  # an income that one person has
RARE = "Zzyzx Unique"  # a city that one person lives in
FIRST_DAY = datetime(2015, 3, 1, tzinfo=UTC)


def people(rows: int = ROWS) -> pa.Table:
    """Columns of all types that depend on each other, each with nulls, of names that are nearly all rare."""
    draw = np.random.default_rng(5)
    age = draw.integers(18, 70, rows)
    income = np.round(age * 400 + draw.normal(0, 3000, rows), 2)
    income[0] = OUTLIER
    city = [f"City {age // 12}" for age in age]
    city[1] = RARE
    days = (age // 10 * 100 + draw.integers(0, 5, rows)).tolist()
    cells = {
        "age": pa.array(age.tolist(), pa.int32()),
        "income": pa.array(income.tolist()),
        "city": pa.array(city).dictionary_encode(),
        "joined": pa.array([FIRST_DAY + timedelta(days=day) for day in days], pa.timestamp("us", "UTC")),
        "member": pa.array((age > 40).tolist()),
        "name": pa.array([f"Surname{number:04d}" for number in draw.integers(0, 900, rows).tolist()]),
    }
    for place, name in enumerate(cells):
        present = pa.array(np.arange(rows) % 29 != place)
        cells[name] = pc.if_else(present, cells[name], pa.scalar(None, cells[name].type))
    return pa.table(cells)


def grown(table: pa.Table | None = None, clustering=None, ids=()) -> Synthesizer:
    table = people() if table is None else table
    parameters = SynDiffixParameters(
        AnonymizationParameters(SALT), clustering=clustering or DefaultClustering()
    )
    return Synthesizer(table, parameters, ids=ids)


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def tables(path: Path) -> dict[str, pa.Table]:
    content = members(path)
    return {n: pq.read_table(io.BytesIO(b)) for n, b in content.items() if n.endswith(".parquet")}


def rewritten(path: Path, target: Path, changed: dict[str, bytes | None]) -> Path:
    """A copy of a blob with other members, or without them."""
    with zipfile.ZipFile(target, "w") as file:
        for name, content in (members(path) | changed).items():
            if content is not None:
                file.writestr(name, content)
    return target


@pytest.fixture(scope="module")
def synthesizer():
    return grown()


@pytest.fixture(scope="module")
def blob(synthesizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("blob") / "people.sdxblob.zip"
    write_blob(synthesizer, path)
    return path


@pytest.fixture(scope="module")
def pairs(synthesizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("blob") / "pairs.sdxblob.zip"
    write_blob(synthesizer, path, largest=2)
    return path


def direct(synthesizer: Synthesizer, combination: tuple[int, ...]) -> pa.Table:
    basis = synthesizer.basis()
    return synthesizer.stitch_clusters(Clusters(combination), [synthesizer.draw(combination, basis)], basis)


def unranked(table: pa.Table) -> pa.Table:
    """A table whose ``prefix*rank`` has no rank."""
    columns = [
        pc.replace_substring_regex(column.cast(pa.string()), r"\*[0-9]+$", "*")
        if name in ("city", "name")
        else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


class TestAnswers:
    def test_every_set_of_columns_is_answered_with_its_columns_types_and_rows(self, blob):
        stored = {frozenset(table.column_names): table.num_rows for table in tables(blob).values()}
        schema = people().schema
        sets = chain.from_iterable(combinations(COLUMNS, size) for size in range(1, 7))
        answered = 0
        for columns in sets:
            answer = read_blob(blob, columns[::-1])
            assert answer.column_names == list(columns[::-1])
            assert all(answer[name].type == schema.field(name).type for name in columns)
            parts = [rows for part, rows in stored.items() if part <= set(columns)]
            assert min(parts) <= answer.num_rows <= max(parts)
            answered += 1
        assert answered == 63

    def test_a_stored_table_is_the_one_of_asking_for_these_columns_alone(self, blob, synthesizer):
        for size in (1, 2, 3):
            for combination in combinations(range(6), size):
                answer = read_blob(blob, [COLUMNS[column] for column in combination])
                assert unranked(answer).equals(unranked(direct(synthesizer, combination)))

    def test_columns_that_are_put_together_keep_what_they_have_to_do_with_each_other_and_no_order(
        self, pairs
    ):
        assert len(tables(pairs)) == 21
        answer = read_blob(pairs, ["age", "income", "member"]).drop_null().to_pandas()
        assert answer[["age", "income"]].corr().iloc[0, 1] > 0.5
        assert ((answer["age"] > 40) == answer["member"]).mean() > 0.8
        ages = answer["age"].to_numpy()
        # Of independent orders the correlation is normal with sd 1 / sqrt(n): a chance of 6e-7 beyond five.
        assert abs(np.corrcoef(ages, np.arange(len(ages)))[0, 1]) < 5 / len(ages) ** 0.5

    def test_a_cluster_that_is_not_stored_is_put_together_along_what_depends_on_each_other(self, tmp_path):
        # Halved around the column that tells most, noise, the two copies of a column would be in two halves.
        draw = np.random.default_rng(3)
        one, other = (draw.integers(0, 8, 2000) for _ in range(2))
        noise = draw.integers(0, 64, 2000)
        table = pa.table({"one": one, "noise": noise, "other": other, "one again": one, "other again": other})
        path = tmp_path / "copies.sdxblob.zip"
        write_blob(grown(table), path, largest=2)
        answer = read_blob(path, table.column_names).to_pandas()
        assert (answer["one"] == answer["one again"]).mean() > 0.9
        assert (answer["other"] == answer["other again"]).mean() > 0.9

    def test_features_of_a_target_are_found_in_the_blob_alone(self, blob):
        asked = ["name", "city", "age", "joined", "member"]
        answer = read_blob(blob, asked, "member")
        assert answer.column_names == asked
        known = answer.select(["age", "member"]).drop_null().to_pandas()
        assert ((known["age"] > 40) == known["member"]).mean() > 0.9

    def test_a_cluster_of_all_columns_is_stored_up_to_the_largest_size(self, tmp_path):
        clusters = Clusters((0, 1, 2, 3, 4, 5))
        for largest, more in ((6, 1), (5, 0)):
            path = tmp_path / "all.sdxblob.zip"
            assert write_blob(grown(clustering=clusters), path, largest=largest) == 41 + more
            assert read_blob(path, COLUMNS).num_columns == 6

    def test_a_table_of_which_nothing_may_be_shown_has_empty_answers(self, tmp_path):
        path = tmp_path / "few.sdxblob.zip"
        write_blob(grown(people(3)), path)
        answer = read_blob(path, COLUMNS)
        assert answer.num_rows == 0
        assert answer.schema.types == people().schema.types

    def test_rows_of_one_person_count_by_the_person(self, tmp_path):
        few = pa.table({"who": ["a"] * 50 + ["b"] * 50, "what": ["secret"] * 100, "where": [1.5] * 100})
        path = tmp_path / "ids.sdxblob.zip"
        write_blob(grown(few, ids=["who"]), path)
        assert b"secret" not in b"".join(
            table.to_pandas().to_csv().encode() for table in tables(path).values()
        )
        assert "who" not in json.loads(members(path)["blob.json"])["columns"]


class TestWhatIsTold:
    def test_the_file_has_the_same_bytes_each_time(self, blob, tmp_path):
        again = tmp_path / "again.sdxblob.zip"
        shuffled = people().take(np.random.default_rng(2).permutation(ROWS))
        write_blob(grown(shuffled), again)
        assert again.read_bytes() == blob.read_bytes()

    def test_neither_the_salt_nor_a_value_of_one_person_is_in_it(self, blob):
        content = members(blob)
        whole = b"\n".join([*content.values(), blob.read_bytes()])
        for secret in (SALT, SALT.hex().encode(), RARE.encode(), np.float64(OUTLIER).tobytes()):
            assert secret not in whole
        for stored in tables(blob).values():
            if "income" in stored.column_names:
                assert pc.max(stored["income"]).as_py() < 100_000
            for name in {"city", "name"} & set(stored.column_names):
                texts = set(stored[name].to_pylist())
                assert RARE not in texts
                assert not any(text and text.startswith(RARE[:3]) for text in texts)

    def test_of_the_header_nothing_follows_from_the_true_number_of_rows(self, blob):
        header = json.loads(members(blob)["blob.json"])
        assert set(header) == {"version", "columns", "parameters", "clustering", "dependence", "entropies"}
        assert set(header["parameters"]["anonymization"]) == {
            "low_count_params",
            "outlier_count",
            "top_count",
            "layer_noise_sd",
        }
        numbers = np.array([*chain.from_iterable(header["dependence"]), *header["entropies"]])
        assert (np.round(numbers, 2) == numbers).all()
        for name, stored in tables(blob).items():
            numbers = name.removeprefix("tables/").removesuffix(".parquet").split("-")
            assert stored.column_names == [COLUMNS[int(number)] for number in numbers]

    def test_a_rank_is_not_that_of_a_text_and_keeps_the_order(self, blob, synthesizer):
        number = COLUMNS.index("name")
        drawn = shuffle(synthesizer.draw((number,), synthesizer.basis()), synthesizer.basis()).cells[number]
        shown = read_blob(blob, ["name"])["name"].to_pylist()
        pairs = [
            (int(own.rpartition("*")[2]), int(text.rpartition("*")[2]))
            for own, text in zip(drawn.values.to_pylist(), shown, strict=True)
            if own is not None and "*" in own
        ]
        assert len(pairs) > 500
        assert sum(private == public for private, public in pairs) < len(pairs) / 50
        # A rank has several places, so that how many ranks there are can't be counted.
        assert len(set(pairs)) > 1.2 * len({private for private, _ in pairs})
        assert np.corrcoef(pairs, rowvar=False)[0, 1] > 0.99
        texts = chain.from_iterable(
            stored["name"].to_pylist() for stored in tables(blob).values() if "name" in stored.column_names
        )
        digits = {len(found[1]) for text in texts if text and (found := re.search(r"\*([0-9]+)$", text))}
        assert len(digits) == 1

    @pytest.mark.parametrize("texts", [17, 20, 30, 32])
    def test_places_do_not_tell_where_the_list_of_texts_ends(self, texts):
        column = encode_column("t", pa.array([f"t{number:02}" for number in range(texts)]))
        bounds = np.array([[0.0], [16.0]])
        marginal = Buckets(bounds, bounds + 16, np.array([160, 160]))
        ranks = np.repeat(np.arange(16.0, texts), 320 // (texts - 16))
        cells = DrawnCells(ranks, pa.array([f"t*{int(rank)}" for rank in ranks]))
        source = CellSource(column, -1.0, marginal)
        shown = public_texts(source, cells, np.random.default_rng(1)).to_pylist()
        places = [int(text.removeprefix("t*")) for text in shown]
        assert min(places) < 170 and max(places) > 310


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("name", "options", "complaint"),
        [
            ("people.zip", {}, r"must end in \.sdxblob\.zip"),
            ("people.parquet", {}, r"must end in \.sdxblob\.zip"),
            (".sdxblob.zip", {}, r"must end in \.sdxblob\.zip"),
            ("none/people.sdxblob.zip", {}, "can't be written"),
            ("people.sdxblob.zip", {"largest": 1}, "choose 2 or more"),
        ],
    )
    def test_a_place_or_a_size_that_can_not_be_and_nothing_is_left(
        self, synthesizer, tmp_path, name, options, complaint
    ):
        with pytest.raises(ParameterError, match=complaint):
            write_blob(synthesizer, tmp_path / name, **options)
        assert list(tmp_path.iterdir()) == []

    def test_more_tables_than_anybody_would_wait_for_and_a_target(self, tmp_path):
        wide = pa.table({f"column {number}": [1, 2, 3] for number in range(60)})
        with pytest.raises(ParameterError, match=f"60 columns have {count_tables(60)} of up to 3"):
            write_blob(grown(wide), tmp_path / "wide.sdxblob.zip")
        # The features of a target would be those of the table.
        with pytest.raises(ParameterError, match="without a target"):
            write_blob(grown(clustering=MlClustering("member")), tmp_path / "people.sdxblob.zip")

    def test_columns_that_it_does_not_have_with_what_may_have_been_meant(self, blob):
        with pytest.raises(ParameterError, match=r"'agee' must be one of the blob's.*did you mean 'age'"):
            read_blob(blob, ["agee", "city"])
        for columns in ([], ["age", "age"]):
            with pytest.raises(ParameterError, match="each once"):
                read_blob(blob, columns)
        with pytest.raises(ParameterError, match="target must be among the columns"):
            read_blob(blob, ["age", "city"], "income")

    def test_a_file_that_is_cut_short_or_changed_anywhere(self, blob, tmp_path):
        content = blob.read_bytes()
        broken = tmp_path / "broken.sdxblob.zip"
        flipped = bytearray(content)
        flipped[content.index(b"PAR1") + 40] ^= 1
        for changed in (b"", content[: len(content) // 2], content[100:], b"age,city\n1,2\n", bytes(flipped)):
            broken.write_bytes(changed)
            with pytest.raises(InputError, match="as it was written"):
                [read_blob(broken, [name]) for name in COLUMNS]

    @pytest.mark.parametrize(
        "changed",
        [
            {"blob.json": None},
            {"types.arrow": None},
            {"blob.json": b"[]"},
            {"blob.json": b'{"version": 1}'},
            {"types.arrow": b"nothing"},
            {"tables/0.parquet": None, "tables/0-1.parquet": None},
            {"tables/0-1.parquet": b"PAR1"},
        ],
    )
    def test_a_file_without_its_parts(self, blob, tmp_path, changed):
        path = rewritten(blob, tmp_path / "other.sdxblob.zip", changed)
        with pytest.raises(InputError, match="as it was written"):
            [read_blob(path, ["age"]), read_blob(path, ["age", "income"])]

    def test_a_file_of_another_version_or_none(self, blob, tmp_path):
        header = json.loads(members(blob)["blob.json"]) | {"version": 7}
        path = rewritten(blob, tmp_path / "new.sdxblob.zip", {"blob.json": json.dumps(header).encode()})
        with pytest.raises(InputError, match="version 1, and is of version 7"):
            read_blob(path, ["age"])
        with pytest.raises(InputError, match="there is none"):
            read_blob(tmp_path / "none.sdxblob.zip", ["age"])
