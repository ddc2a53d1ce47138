"""Whole pages are closed: they ask nobody for anything, and hostile values of a table are text in them."""

import csv
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import ExplorerPage
from tests.core.navigation.explorer.releases.making import run
from tests.core.navigation.explorer.releases.steps import charts, on_kinds
from tests.core.navigation.explorer.releases.test_interactions import download, table

pytestmark = [pytest.mark.needs_chromium, pytest.mark.server]

HOSTILE = (
    "<script>window.ran = 1</script>",
    "<img src=x onerror=window.ran=2>",
    "</script><svg onload=window.ran=3>",
    "=HYPERLINK(0)",
    "+1",
    "@SUM(A1)",
    "-2+3",
    "{{ 7 * 7 }}",
    "שלום עולם",
    "مرحبا",
    "👩‍👩‍👧 👍🏽",
    "東京",
    "a & b < c",
)
#: 40 people and more of each hostile value.
ROWS = 600


def all_of_it(explorer: ExplorerPage) -> None:
    """Fold out, click, ask, look at the records, print."""
    explorer.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    explorer.page.locator(".explorer article button[aria-pressed]").first.click()
    explorer.press("Keep as A, to compare")
    explorer.ask("https://example.org/, <img src=//example.org/x>")
    explorer.press("Records")
    explorer.press("Charts")
    explorer.page.emulate_media(media="print")
    explorer.page.mouse.wheel(0, 100_000)
    explorer.page.emulate_media(media="screen")


@pytest.mark.parametrize("kind", on_kinds("survey fitted"))
def test_no_request_leaves_the_page(kind, release, opened):
    path = release(kind).page
    explorer = opened(path)
    all_of_it(explorer)
    assert explorer.requests == [path.as_uri()]


@pytest.mark.parametrize("kind", on_kinds("survey fitted", "survey k_anonymity", "survey syndiffix"))
def test_a_strict_policy_comes_before_all_that_could_load(kind, release):
    text = release(kind).page.read_text(encoding="utf-8")
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    told = dict(rule.strip().split(" ", 1) for rule in policy.replace("&#39;", "'").split(";"))
    assert (
        told["default-src"] == "'none'" and told["base-uri"] == "'none'" and told["form-action"] == "'none'"
    )
    assert set(told["img-src"].split()) <= {"data:", "blob:"}
    for name in ("script-src", "style-src"):
        assert all(source.startswith("'sha256-") for source in told[name].split())
    before = text[: text.index("Content-Security-Policy")]
    assert not re.search(r"<(script|style|link|img|base)\b", before)
    assert not re.search(r"\bon[a-z]+=|\bstyle=|<iframe|<object|<embed|<link|<base", outside_data(text))


def outside_data(text: str) -> str:
    """The page's markup, without programs, style sheets and data."""
    return re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)


def hostile_rows() -> list[tuple[str, ...]]:
    rows = []
    for number in range(ROWS):
        row, place = divmod(number, len(HOSTILE))
        text = HOSTILE[place]
        rows.append((text, HOSTILE[(place + 1) % len(HOSTILE)] if row % 2 else text, "only", "few"))
    return rows


@pytest.fixture
def page_of_table(tmp_path, prefect_server):
    """Runs a table; gives the page of its release."""

    def make(header: tuple[str, ...], rows: list[tuple[str, ...]], **settings: Any) -> Path:
        source = tmp_path / "table.csv"
        with source.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        body = {
            "sensitive_microdata_path": str(source),
            "dataset": "hostile",
            "prefix": "hostile",
            "vintage": "1",
            "output_dir": str(tmp_path / "out"),
        }
        run(body | settings, tmp_path)
        return tmp_path / "out" / "release" / "hostile" / "1-1" / "hostile_data_showcase.html"

    return make


ROUNDED: dict[str, Any] = {
    "evaluate_sensitive": False,
    "dp_aggregates": False,
    "reporting_resolution": 2,
    "reporting_length": 1,
}
FITTED: dict[str, Any] = {
    "dp_aggregates": True,
    "noise_epsilon": 8.0,
    "privacy": {"cap": {"epsilon": 20, "delta": 1e-5}, "population": '<b>nobody</b> & "others"'},
}
TREES: dict[str, Any] = {
    "synthesis_mode": "syndiffix",
    "syndiffix": {"columns": ["<b>bold</b>:s", "=cmd:s", "one:s"]},
}
HEADER = ("<b>bold</b>", "=cmd", "one", "many")


@pytest.mark.parametrize(
    ("settings", "title"),
    [(ROUNDED, "<script>window.ran = 9</script>"), (FITTED, "</title><b>x</b>"), (TREES, "{{ 7 * 7 }}")],
    ids=["k_anonymity", "fitted", "syndiffix"],
)
def test_hostile_values_are_text_on_the_page_of_a_run(settings, title, page_of_table, opened):
    rows = hostile_rows()
    path = page_of_table(HEADER, rows, report_title=title, **settings)
    explorer = opened(path)
    assert explorer.page.title() == title
    all_of_it(explorer)
    assert explorer.page.evaluate("window.ran ?? null") is None
    assert explorer.page.locator("img, iframe, object, #marginalia-explorer script, main b").count() == 0
    assert explorer.chosen() == []  # a question of which nothing is understood leaves nothing chosen
    drawn = charts(explorer)["<b>bold</b>"]
    assert set(HOSTILE) <= set(drawn)
    held = Counter(row[0] for row in rows)
    assert all(abs((drawn[text].estimated or 0) - held[text]) < 40 for text in HOSTILE)
    explorer.press("Records")
    cells = table(download(explorer, lambda: explorer.press("Save these records as CSV")))
    assert not [cell for line in cells for cell in line if cell[:1] in tuple("=+-@\t")]


def test_a_release_of_nobody_has_a_page_that_says_so(page_of_table, opened):
    explorer = opened(page_of_table(HEADER, [], **FITTED, domains={"one": ["only", "<i>other</i>"]}))
    explorer.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert all((row.estimated or 0) < 100 for each in charts(explorer).values() for row in each.values())
    explorer.press("Records")
    assert explorer.page.locator(".records").inner_text()
    assert int(re.sub(r"\D", "", explorer.answer()) or 0) < 100
