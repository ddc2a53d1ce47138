"""What is seen is saved: the numbers of the screen, in files that run nothing."""

import csv
import io
from xml.etree import ElementTree

import pytest

from tests.core.navigation.explorer.conftest import people
from tests.oracles.explorer_pages import page_of

pytestmark = pytest.mark.needs_chromium

FORMULAS = (
    "x;=1+1",
    "x\t=1+1",
    "=1+1",
    "+SUM(A1)",
    "-2",
    "@import",
    "\ttab",
    'a "quote", a comma',
    "two\nlines",
    "plain",
)


def saved(explorer, press):
    with explorer.page.expect_download() as waiting:
        press()
    return waiting.value


def table(download):
    raw = download.path().read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


def save_page(explorer, form):
    group = explorer.page.get_by_role("group", name="Save this page of charts")
    return saved(explorer, lambda: group.get_by_text(form).click())


def save_records(explorer):
    explorer.press("Records")
    return saved(explorer, lambda: explorer.press("Save these records as CSV"))


def save_chart(explorer, chart, form):
    button = explorer.chart(chart).get_by_role("button", name=form, exact=True)
    if not button.is_visible():
        explorer.chart(chart).locator("summary").click()
    return saved(explorer, button.click)


def test_charts_and_records_are_saved_as_they_are_seen(opened, people_page):
    explorer = opened(people_page)
    explorer.click("sex", "female")
    download = save_chart(explorer, "housing", "CSV")
    assert download.suggested_filename == "people_housing.csv"
    header, *rows = table(download)
    counts = ["estimated", "actual", "actual_low", "actual_high"]
    assert header == ["chart", "column", "value", *counts, "selection"]
    on_screen = explorer.rows("housing")
    assert {row[2]: (int(row[3]), int(row[4]) if row[4] else None) for row in rows} == on_screen
    assert {row[7] for row in rows} == {"sex: female"}
    drawing = ElementTree.fromstring(
        save_chart(explorer, "housing", "SVG").path().read_text(encoding="utf-8")
    )
    tags = {element.tag.rpartition("}")[2] for element in drawing.iter()}
    assert tags <= {"svg", "g", "rect", "path", "text"}
    words = {text.strip() for text in drawing.itertext() if text.strip()}
    assert all({label, str(estimated)} <= words for label, (estimated, _) in on_screen.items())
    raw = save_page(explorer, "PNG").path().read_bytes()
    assert raw.startswith(b"\x89PNG")
    width, height = int.from_bytes(raw[16:20], "big"), int.from_bytes(raw[20:24], "big")
    assert width > 1000 and height > 800
    explorer.press("Clear")
    explorer.click("housing", "social")
    _, *records = table(save_records(explorer))
    expected = [[r[0], r[1], r[2], "; ".join(r[3])] for r in people() if r[1] == "social"]
    assert records == expected, "those selected"


def test_formulas_are_neutralised_in_both_tables(opened):
    explorer = opened(page_of(("=cmd", "b"), [(text, "x") for text in FORMULAS]))
    harmless = {f"'{text}" if text[0] in "=+-@\t" else text for text in FORMULAS}
    _, *rows = table(save_page(explorer, "CSV"))
    assert {row[2] for row in rows if row[0] == "'=cmd"} == harmless
    download = save_records(explorer)
    header, *records = table(download)
    assert header == ["'=cmd", "b"]
    assert {record[0] for record in records} == harmless
    # Also as a spreadsheet reads it that splits at other signs.
    raw = download.path().read_text("utf-8-sig")
    for mark in (";", "\t"):
        cells = [cell for row in csv.reader(io.StringIO(raw), delimiter=mark) for cell in row]
        assert not [cell for cell in cells if cell.startswith("=")]
