"""The page of a SynDiffix release: its words, its charts, and nothing that the release does not hold."""

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan, sqrt

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.navigation.associations import MOST_CHARTED_COLUMNS
from tasks.core.navigation.inputs import TablePage
from tasks.core.navigation.payload.synthetic_table import fill_scale
from tasks.core.navigation.table_page import TableAssociations, render_table, table_associations
from tasks.core.statement.syndiffix import SynDiffixFacts, syndiffix_statement
from tasks.core.syndiffix.bins import bins_of
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tests.oracles.pages import check
from tests.oracles.payloads import decoded

NAMES = ("town", "work", "age", "blank")


def drawn(seed: int, kept: float, rows: int = 400) -> pa.Table:
    """Work follows from the town in a share of the rows."""
    draw = np.random.default_rng(seed)
    town = draw.integers(0, 4, rows)
    work = np.where(draw.random(rows) < kept, town, draw.integers(0, 4, rows))
    return pa.table(
        {
            "town": pa.array([f"t{each}" for each in town]),
            "work": pa.array(work, mask=draw.random(rows) < 0.1),
            "age": pa.array(draw.integers(0, 8, rows)),
            "blank": pa.nulls(rows, pa.string()),
        }
    )


def v_by_hand(table: pa.Table, one: str, other: str) -> float:
    """Cramer's V as a sum over cells of the pairs of values that rows hold."""
    pairs = [
        (a, b)
        for a, b in zip(table[one].to_pylist(), table[other].to_pylist(), strict=True)
        if a is not None and b is not None
    ]
    cells, n = Counter(pairs), len(pairs)
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chi = sum((cells[a, b] - rows[a] * columns[b] / n) ** 2 / (rows[a] * columns[b] / n)
              for a in rows for b in columns)  # fmt: skip
    return sqrt(chi / n / (min(len(rows), len(columns)) - 1))


class Shelf:
    """Tables by file, and which were read."""

    def __init__(self, tables: dict[str, pa.Table]) -> None:
        self.tables = tables
        self.reads: list[tuple[str, tuple[str, ...]]] = []

    def read(self, file: str, names: Sequence[str]) -> pa.Table:
        self.reads.append((file, tuple(names)))
        return self.tables[file].select(list(names))


def found(whole: pa.Table, shelf: Shelf) -> TableAssociations:
    tables = {file: table.column_names for file, table in shelf.tables.items()}
    return table_associations(TablePage({}, whole, shelf.read, tables=tables))


def test_each_pair_is_counted_in_the_smallest_table_that_holds_it():
    whole = drawn(1, kept=0.1)
    shelf = Shelf(
        {
            "three": drawn(2, kept=0.5).select(["town", "work", "age"]),
            "two": drawn(3, kept=0.9).select(["work", "town"]),
            "again": drawn(4, kept=0.3).select(["town", "work"]),
        }
    )
    found_in = found(whole, shelf)
    sources = {("town", "work"): "two", ("town", "age"): "three", ("work", "age"): "three"}
    assert found_in.sources == sources
    for one, other in combinations(NAMES[:3], 2):
        value = found_in.values[NAMES.index(one), NAMES.index(other)]
        assert value == pytest.approx(v_by_hand(shelf.tables[sources[one, other]], one, other))
    assert v_by_hand(whole, "town", "work") < 0.3 < 0.7 < found_in.values[0, 1]
    assert all(isnan(value) for value in found_in.values[:, 3])
    assert sorted(shelf.reads) == sorted((file, pair) for pair, file in sources.items())
    # Where there are no others, in the table of all columns; of an empty one nothing is said.
    whole, none = drawn(1, kept=0.8), Shelf({})
    found_in = found(whole, none)
    assert set(found_in.sources.values()) == {""} and not none.reads
    assert found_in.values[0, 1] == pytest.approx(v_by_hand(whole, "town", "work"))
    assert found_in.ranked(1) == [(("town", "work"), found_in.values[0, 1])]
    empty = found(whole, Shelf({"two": whole.select(["town", "work"]).slice(0, 0)}))
    assert ("town", "work") not in empty.sources and isnan(empty.values[0, 1])


def test_tables_of_columns_that_are_not_compared_are_not_read():
    names = [f"c{number}" for number in range(MOST_CHARTED_COLUMNS + 2)]
    whole = pa.table({name: pa.array([place % 2, 1]) for place, name in enumerate(names)})
    shelf = Shelf({"late": whole.select(names[-2:]), "half": whole.select([names[0], names[-1]])})
    assert found(whole, shelf).names == tuple(names[:MOST_CHARTED_COLUMNS])
    assert not shelf.reads


def shown(values: list[object], edges: tuple[float, ...] | None = None) -> tuple[str, ...]:
    return fill_scale(bins_of("x", pa.chunked_array([pa.array(values)]), edges)).labels


def at(*hours: int) -> list[object]:
    return [datetime.datetime(2024, 2, 28) + datetime.timedelta(hours=hour) for hour in hours]


def test_bins_between_edges_and_few_whole_numbers_are_all_there_and_far_ones_stand_by_themselves():
    assert shown([1, 1, 9], (0, 3, 6, 10)) == ("<0", "[0,3)", "[3,6)", "[6,10]", ">10")
    assert shown([-1, 1, 2, 2]) == ("-1", "0", "1", "2")
    assert shown([1, 1000, 2**62]) == ("1", "1000", str(2**62))
    assert shown([0.5, 7.0]) == ("0.5", "7")
    assert shown(["b", "a", "b"]) == ("b", "a")
    assert shown([None, None], (0, 1)) == ()


def test_empty_hours_and_months_are_there_over_the_ends_of_days_and_years():
    assert shown(at(22, 23, 26)) == tuple(
        f"2024-02-{day} h" for day in ("28 22", "28 23", "29 00", "29 01", "29 02")
    )
    months = [datetime.date(2023, 11, 1), datetime.date(2023, 12, 1), datetime.date(2024, 2, 1)]
    assert shown(months) == ("2023-11", "2023-12", "2024-01", "2024-02")
    for far in (1800, 1):  # a gap of very many is not filled
        years = [datetime.date(year, 1, 1) for year in (far, 2023, 2024)]
        assert shown(years) == (f"{far:04}", "2023", "2024")


def table(rows: int = 300) -> pa.Table:
    draw = np.random.default_rng(2)
    age = draw.integers(0, 90, rows)
    return pa.table(
        {
            "age": pa.array(age),
            "old": pa.array(age > 50),
            "<b>town</b>": pa.array(draw.choice(["Aberwick", "<i>", "Caldwell"], rows)),
            "blank": pa.nulls(rows, pa.int64()),
        }
    )


FACTS = SynDiffixFacts(
    "visits",
    "2026-11",
    ("person",),
    {"age": "integer"},
    AnonymizationParameters(bytes(32)),
    BucketizationParameters(),
)


def page(**changes: object) -> TablePage:
    given: dict[str, object] = {"statement": syndiffix_statement(FACTS, "abc"), "table": table()}
    given["read"] = lambda file, names: table().select(names)
    return TablePage(**(given | changes))  # type: ignore[arg-type]


def test_the_page_says_before_anything_else_that_it_is_not_differentially_private():
    text = render_table(page())
    assert text == render_table(page()), "equal inputs give equal bytes"
    assert text.index("Not differentially private") < text.index("<h1>")
    assert "SynDiffix release, not differentially private" in text
    assert "What this does not protect against" in text
    words = text.replace("&#39;", "'")
    assert "Each group's count carries noise of" in words and "A bar adds up many groups" in words
    assert "values that are well above it in the original may be missing" in words
    pairs = re.findall(r"<title>([^<;]* × [^<;]*); ([0-9.]+); in the table of all columns</title>", text)
    assert pairs[0][0] == "age × old" and float(pairs[0][1]) > 0.9


def test_the_page_is_well_formed_and_every_text_is_escaped():
    text = render_table(page())
    shown = text.split('<script type="application/json"')[0]
    assert "<i>" not in shown and "&lt;b&gt;town" in shown and "<b>town" not in shown
    check(text)
    found = decoded(text)
    assert [column["name"] for column in found.meta["columns"]] == ["age", "old", "<b>town</b>", "blank"]
    assert found.meta["columns"][3]["values"] == []


def test_an_empty_table_has_a_page_whose_first_warning_says_so_and_a_single_column_has_one():
    told = '<p class="warning">The synthetic table is empty: each group has fewer people than may be shown.'
    text = render_table(page(table=table().slice(0, 0)))
    assert text.index(told) == text.index('<p class="warning">') and "No two columns" in text
    assert "synthetic table is empty" not in render_table(page())
    assert "No two columns" in render_table(page(table=table().select(["old"])))


def test_tables_of_questions_are_listed_with_their_files():
    tables = {"my own_tables/00001.parquet": ("age", "old")}
    text = render_table(page(tables=tables))
    link = '<a href="my%20own_tables/00001.parquet">age × old</a> <span class="quiet">00001.parquet</span>'
    assert f"<li>{link}</li>" in text and "<code>my own_tables/</code>" in text
    assert "<details>" not in text
    assert "A table per question" not in render_table(page())
    # Many are folded away.
    many = render_table(page(tables={f"t/{number}.parquet": ("age", "old") for number in range(91)}))
    assert "<details><summary>91 tables</summary>" in many
    assert many.count('<li><a href="t/') == 91


def test_the_table_of_all_columns_is_linked_at_the_top_and_among_the_tables():
    text = render_table(page(files=("my own_synthetic.parquet", "my own_synthetic.tsv")))
    summary, tables = text.split('id="privacy">')[0], text.split('id="tables">')[1]
    for part in (summary, tables):
        assert '<a href="my%20own_synthetic.parquet">my own_synthetic.parquet</a>' in part
        assert '<a href="my%20own_synthetic.tsv">my own_synthetic.tsv</a>' in part


def test_each_pair_says_which_table_it_was_counted_in():
    unrelated = table().set_column(1, "old", pa.array([row % 2 == 0 for row in range(300)]))
    tables = {"t/1.parquet": ("age", "<b>town</b>", "old"), "t/2.parquet": ("old", "age")}
    text = render_table(page(table=unrelated, tables=tables))
    assert re.search(r"<title>age × old; (0.9\d|1.00); in t/2.parquet</title>", text)
    assert "town&lt;/b&gt;; 0.5" not in text and "; in t/1.parquet</title>" in text
    assert re.search(r"1 pair in a <[^>]*>table of just these two columns</a>, 2 in a <", text)
    assert "in the table of all columns</title>" not in text


def test_many_of_the_strongest_pairs_are_in_two_charts_side_by_side():
    draw = np.random.default_rng(4)
    names = [f"c{number}" for number in range(5)]
    wide = pa.table({name: pa.array(draw.integers(0, 3, 90)) for name in names})
    text = render_table(page(table=wide))
    assert re.findall(r"Strongest pairs, (\d+ to \d+)", text) == ["1 to 5", "6 to 10"]
    shares = [float(share) for share in re.findall(r"× c\d; ([0-9.]+); in", text)]
    assert len(shares) == 10 and shares == sorted(shares, reverse=True)
    assert "to 6" not in render_table(page(table=wide.select(names[:4])))


def test_the_headline_on_noise_holds_where_people_have_several_rows():
    of_people = check(render_table(page())).text
    of_rows = check(render_table(page(statement=syndiffix_statement(replace(FACTS, ids=()), "abc")))).text
    assert (
        "at least ± 1.4" in of_people
        and "as many times larger" in of_people
        and "come out lower" in of_people
    )
    assert "± 1.4" in of_rows and "at least" not in of_rows and "come out lower" not in of_rows
