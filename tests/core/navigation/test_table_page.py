"""The page of a SynDiffix release: its words, its charts, and nothing that the release does not hold."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa

from tasks.core.navigation.table_inputs import TablePage
from tasks.core.navigation.table_page import render_table
from tasks.core.statement.syndiffix import SynDiffixFacts, syndiffix_statement
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tests.oracles.pages import check
from tests.oracles.payloads import decoded


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
    return TablePage(**(given | changes))  # type: ignore[arg-type]


def test_the_page_says_before_anything_else_that_it_is_not_differentially_private() -> None:
    text = render_table(page())
    assert text.index("Not differentially private") < text.index("<h1>")
    assert "SynDiffix release, not differentially private" in text
    assert "What this does not protect against" in text


def test_the_page_is_well_formed_and_every_text_is_escaped() -> None:
    text = render_table(page())
    shown = text.split('<script type="application/json"')[0]
    assert "<i>" not in shown and "&lt;b&gt;town" in shown and "<b>town" not in shown
    check(text)
    found = decoded(text)
    assert [column["name"] for column in found.meta["columns"]] == ["age", "old", "<b>town</b>", "blank"]
    assert found.meta["columns"][3]["values"] == []


def test_equal_inputs_give_equal_bytes() -> None:
    assert render_table(page()) == render_table(page())


def test_related_columns_are_the_strongest_pair() -> None:
    pairs = re.findall(
        r"<title>([^<;]* × [^<;]*); ([0-9.]+); in the table of all columns</title>", render_table(page())
    )
    assert pairs[0][0] == "age × old" and float(pairs[0][1]) > 0.9


def test_an_empty_table_and_a_single_column_have_a_page() -> None:
    assert "No two columns" in render_table(page(table=table().slice(0, 0)))
    assert "No two columns" in render_table(page(table=table().select(["old"])))


def test_what_a_bar_is_and_is_not_is_said_beside_the_noise() -> None:
    text = render_table(page()).replace("&#39;", "'")
    assert "Each group's count carries noise of" in text and "A bar adds up many groups" in text
    assert "values that are well above it in the original may be missing" in text


def test_tables_of_questions_are_listed_with_their_files() -> None:
    tables = {"my own_tables/00001.parquet": ("age", "old")}
    text = render_table(page(tables=tables, read=lambda file, names: table().select(names)))
    link = '<a href="my%20own_tables/00001.parquet">age × old</a> <span class="quiet">00001.parquet</span>'
    assert f"<li>{link}</li>" in text and "<code>my own_tables/</code>" in text
    assert "<details>" not in text
    assert "A table per question" not in render_table(page())


def test_many_tables_of_questions_are_folded_away() -> None:
    tables = {f"t/{number}.parquet": ("age", "old") for number in range(91)}
    text = render_table(page(tables=tables, read=lambda file, names: table().select(names)))
    assert "<details><summary>91 tables</summary>" in text
    assert text.count('<li><a href="t/') == 91


def test_the_table_of_all_columns_is_linked_at_the_top_and_among_the_tables() -> None:
    text = render_table(page(files=("my own_synthetic.parquet", "my own_synthetic.tsv")))
    summary, tables = text.split('id="privacy">')[0], text.split('id="tables">')[1]
    for part in (summary, tables):
        assert '<a href="my%20own_synthetic.parquet">my own_synthetic.parquet</a>' in part
        assert '<a href="my%20own_synthetic.tsv">my own_synthetic.tsv</a>' in part


def test_that_there_are_no_rows_is_the_first_warning() -> None:
    told = '<p class="warning">The synthetic table is empty: each group has fewer people than may be shown.'
    text = render_table(page(table=table().slice(0, 0)))
    assert text.index(told) == text.index('<p class="warning">')
    assert "synthetic table is empty" not in render_table(page())


def test_each_pair_says_which_table_it_was_counted_in() -> None:
    unrelated = table().set_column(1, "old", pa.array([row % 2 == 0 for row in range(300)]))
    tables = {"t/1.parquet": ("age", "<b>town</b>", "old"), "t/2.parquet": ("old", "age")}
    text = render_table(page(table=unrelated, tables=tables, read=lambda file, names: table().select(names)))
    assert re.search(r"<title>age × old; (0.9\d|1.00); in t/2.parquet</title>", text)
    assert "town&lt;/b&gt;; 0.5" not in text and "; in t/1.parquet</title>" in text
    assert re.search(r"1 pair in a <[^>]*>table of just these two columns</a>, 2 in a <", text)
    assert "in the table of all columns</title>" not in text


def test_many_of_the_strongest_pairs_are_in_two_charts_side_by_side() -> None:
    draw = np.random.default_rng(4)
    names = [f"c{number}" for number in range(5)]
    wide = pa.table({name: pa.array(draw.integers(0, 3, 90)) for name in names})
    text = render_table(page(table=wide))
    assert re.findall(r"Strongest pairs, (\d+ to \d+)", text) == ["1 to 5", "6 to 10"]
    shares = [float(share) for share in re.findall(r"× c\d; ([0-9.]+); in", text)]
    assert len(shares) == 10 and shares == sorted(shares, reverse=True)
    assert "to 6" not in render_table(page(table=wide.select(names[:4])))


def test_the_headline_on_noise_holds_where_people_have_several_rows() -> None:
    of_people = check(render_table(page())).text
    of_rows = check(render_table(page(statement=syndiffix_statement(replace(FACTS, ids=()), "abc")))).text
    assert (
        "at least ± 1.4" in of_people
        and "as many times larger" in of_people
        and "come out lower" in of_people
    )
    assert "± 1.4" in of_rows and "at least" not in of_rows and "come out lower" not in of_rows
