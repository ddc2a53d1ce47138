"""Every interaction on real releases: what it leads to is what the files say."""

import csv
import io
import random
from xml.etree import ElementTree

import pytest

from tests.chromium import ExplorerPage
from tests.core.navigation.explorer.releases.conftest import files_of
from tests.core.navigation.explorer.releases.steps import (
    Bars,
    Row,
    agrees,
    charts,
    choose,
    on_kinds,
    pages_of,
    same_actual,
    show,
)
from tests.oracles.released_files import ReleasedFiles, as_shown

pytestmark = [pytest.mark.needs_chromium, pytest.mark.server]

#: Records that are compared cell by cell on the screen.
LOOKED_AT = 8


@pytest.mark.parametrize("kind", on_kinds("survey k_anonymity", "survey syndiffix"))
def test_what_is_chosen_is_joined_listed_and_saved_as_the_files_have_it(kind, release, opened):
    made = release(kind)
    explorer, files, draw = opened(made.page), files_of(made), random.Random(kind)
    several_values_of_a_column_are_joined_by_or(explorer, files, draw)
    explorer.press("Clear")
    what_is_seen_is_saved(explorer, files, draw)
    explorer.press("Clear")
    records_behind_a_selection_are_those_of_the_file(explorer, files, draw)


def several_values_of_a_column_are_joined_by_or(
    explorer: ExplorerPage, files: ReleasedFiles, draw: random.Random
) -> None:
    columns = [name for name in charts(explorer) if name in files.columns and len(charts(explorer)[name]) > 3]
    chosen: dict[str, list[str]] = {}
    for column in draw.sample(columns, 2):
        chosen[column] = [choose(explorer, draw, column)]
        # Of those chosen before, all may hold the same value of the second column.
        others = charts(explorer)[column].keys() - set(chosen[column])
        if any(charts(explorer)[column][label].estimated for label in others):
            chosen[column].append(choose(explorer, draw, column, chosen[column]))
        agrees(explorer, files, chosen)
    assert any(len(labels) > 1 for labels in chosen.values())


def records_behind_a_selection_are_those_of_the_file(
    explorer: ExplorerPage, files: ReleasedFiles, draw: random.Random
) -> None:
    [column] = draw.sample([name for name in charts(explorer) if name in files.columns], 1)
    wanted = expected_records(files, {column: [choose(explorer, draw, column)]})
    explorer.press("Records")
    seen = explorer.page.locator("[role=table] tbody tr, table tbody tr").filter(
        has=explorer.page.locator("td[dir]")
    )
    seen.first.wait_for()
    cells = [row.locator("td").all_inner_texts() for row in seen.all()[:LOOKED_AT]]
    shown = [[as_shown(cell) for cell in row] for row in wanted[:LOOKED_AT]]
    assert same_records(files, cells, shown)
    assert explorer.page.get_by_text(f"{len(wanted):,} of {len(files.records):,}").count() == 1
    _, *saved = table(download(explorer, lambda: explorer.press("Save these records as CSV")))
    assert len(saved) == len(wanted) and same_records(files, saved, wanted)


def expected_records(files: ReleasedFiles, chosen: dict[str, list[str]]) -> list[list[str]]:
    """The file's records of a selection, with items of one column in one cell."""
    found = files.selected(chosen)
    columns = []
    for name in files.columns:
        if name not in files.multi_valued:
            columns.append(found[name].tolist())
            continue
        headers = [header for header in found.columns if header.startswith(f"{name}_")]
        held = found[headers].eq("1").to_numpy()
        items = [header.removeprefix(f"{name}_") for header in headers]
        columns.append(["; ".join(item for item, has in zip(items, row, strict=True) if has) for row in held])
    return [list(row) for row in zip(*columns, strict=True)]


def same_records(files: ReleasedFiles, found: list[list[str]], wanted: list[list[str]]) -> bool:
    """Whether records are the file's; of SynDiffix, where the page has bins, as many."""
    if files.protection == "syndiffix":
        return [len(row) for row in found] == [len(row) for row in wanted]
    return [list(map(in_order, row)) for row in found] == [list(map(in_order, row)) for row in wanted]


def plain(cell: str) -> str:
    """A cell without what keeps a spreadsheet from calculating it."""
    return cell.removeprefix("'")


def in_order(cell: str) -> list[str]:
    """The items of a cell."""
    return sorted(plain(cell).split("; "))


def download(explorer: ExplorerPage, press) -> bytes:
    """What is saved."""
    with explorer.page.expect_download() as waiting:
        press()
    return waiting.value.path().read_bytes()


def table(raw: bytes) -> list[list[str]]:
    """Lines of a CSV file."""
    return list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


def what_is_seen_is_saved(explorer: ExplorerPage, files: ReleasedFiles, draw: random.Random) -> None:
    show(explorer, pages_of(explorer)[0])
    column = draw.choice([name for name in charts(explorer) if name in files.columns])
    chosen = {column: [choose(explorer, draw, column)]}
    group = explorer.page.get_by_role("group", name="Save this page of charts")

    def saved(form: str) -> bytes:
        return download(explorer, lambda: group.get_by_role("button", name=form, exact=True).click())

    header, *rows = table(saved("CSV"))
    counts = ["estimated", "actual", "actual_low", "actual_high"]
    assert header == ["chart", "column", "value", *counts, "selection"]
    assert {row[7] for row in rows} == {f"{column}: {chosen[column][0]}"}
    for _, name, value, estimated, actual, low, high, _ in rows:
        shown = as_shown(plain(value))
        assert int(estimated) == files.estimated(chosen, name, shown), (name, value)
        written = [int(cell) if cell else None for cell in (actual, low, high)]
        row = Row(int(estimated), *written, Bars(None, None, None))
        same_actual(row, files.actual(chosen, name, shown), (name, value))
    for name, drawn in charts(explorer).items():
        assert set(drawn) <= {text_of(files, row) for row in rows if row[0] == name}

    words = {text.strip() for text in ElementTree.fromstring(saved("SVG").decode("utf-8")).itertext()}
    assert {f"{int(row[3]):,}" for row in rows} <= words
    raw = saved("PNG")
    assert raw.startswith(b"\x89PNG") and int.from_bytes(raw[16:20], "big") > 600


def text_of(files: ReleasedFiles, row: list[str]) -> str:
    """The name that a value has in its chart."""
    shown = as_shown(plain(row[2]))
    return shown if row[0] in files.columns else f"{row[1]}: {shown}"


def test_values_that_come_back_out_of_sight_are_there_when_they_are_looked_at(release, opened):
    explorer = opened(release("survey fitted").page)
    explorer.click("district", "Hillside")
    explorer.click("age", "55 to under 65")
    explorer.press("Clear")
    rows = explorer.chart("concern").locator("button[aria-pressed]")
    rows.last.evaluate("row => row.scrollIntoView({block: 'center', behavior: 'instant'})")
    assert rows.count() > 10
    explorer.page.wait_for_function(
        "rows => rows.every((row) => row.getBoundingClientRect().height > 0)", arg=rows.element_handles()
    )
