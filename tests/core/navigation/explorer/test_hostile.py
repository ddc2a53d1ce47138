"""Hostile and strange releases: shown as text, nothing executed, nothing broken."""

import base64
import json
import zlib

import numpy as np
import pytest

from tasks.core.navigation.payload.block import Buffers
from tests.chromium import ExplorerPage
from tests.oracles.explorer_pages import column_of, html_of, meta_of, page_of

pytestmark = pytest.mark.needs_chromium

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script><svg onload=alert(3)>",
    "javascript:alert(4)",
    "{{ 7 * 7 }}",
    "a\u202eb",
    "שלום עולם",
    "東京",
    "👩‍👩‍👧 👍🏽",
    "x" * 300,
)


def test_values_and_names_are_text_alone(opened):
    text = page_of(("<b>bold</b>", "constructor"), [(text, text) for text in HOSTILE])
    explorer = opened(text)
    for value in HOSTILE:
        explorer.click("<b>bold</b>", value)
    assert set(explorer.rows("<b>bold</b>")) == set(HOSTILE)
    assert explorer.page.locator("#marginalia-explorer :is(img, script, b, iframe)").count() == 0
    explorer.press("Records")
    assert HOSTILE[0] in explorer.page.get_by_role("table").inner_text()
    direction = "element => getComputedStyle(element).direction"
    again = opened(text, explorer.page.evaluate("location.hash"))
    for value, expected in (("שלום עולם", "rtl"), ("東京", "ltr")):
        assert again.value("<b>bold</b>", value).locator(".label").evaluate(direction) == expected
    assert again.chosen() == explorer.chosen()
    again.ask("<script>alert(5)</script>, __proto__, toString")


def test_ten_thousand_values_are_scrolled_searched_and_selected(opened):
    buffers, generator = Buffers(), np.random.default_rng(1)
    codes = generator.integers(0, 10_001, 50_000)
    buffers.put("column/0/0", codes.astype(np.uint16))
    buffers.put("column/1/0", (1 + codes % 3).astype(np.uint8))
    values = [f"value {number:05}" for number in range(10_000)]
    columns = [column_of("many", values, type="u16"), column_of("few", ["a", "b", "c"])]
    explorer = opened(html_of(meta_of(columns, len(codes), buffers), buffers.text()))
    card = explorer.chart("many")
    assert 0 < card.locator("button.row").count() < 100
    card.get_by_role("searchbox").fill("value 0777")
    assert len(explorer.rows("many")) == len({code for code in codes if 7771 <= code <= 7780})
    explorer.click("many", "value 07770")
    found = [code for code in codes if code == 7771]
    assert explorer.rows("few")["b" if 7771 % 3 == 1 else "a"] == (len(found), None)
    card.get_by_role("searchbox").fill("")
    card.locator("button.row").first.focus()
    explorer.page.keyboard.press("End")
    explorer.page.locator("button.row:focus .label", has_text="missing").wait_for()


def test_a_page_that_was_cut_off_says_so(chromium, people_page, tmp_path):
    text = people_page.read_text(encoding="utf-8")
    start = text.index('id="marginalia-data">') + len('id="marginalia-data">')
    path = tmp_path / "page.html"
    path.write_text(text[: start + 40] + text[text.index("</script>", start) :], encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    assert "Take a fresh copy of the release" in page.get_by_role("alert").inner_text()
    page.context.close()


HOSTILE_PAGES = {
    "slots": lambda meta: meta["columns"][0].update(slots=10**9),
    "records": lambda meta: meta.update(records=10**9),
    "shape": lambda meta: meta.update(tables=[{"columns": [0], "shape": [10**12], "scale": 1}]),
    "type": lambda meta: meta["buffers"][0].update(type="constructor"),
    "length": lambda meta: meta["buffers"][0].update(length=10**9),
    "offset": lambda meta: meta["buffers"][0].update(offset=-8),
    "values": lambda meta: meta["columns"][0].update(values=10**9),
    "counts": lambda meta: meta.update(counts=[{"n": 10**9}]),
    "columns": lambda meta: meta.update(columns=None),
}


def with_data(text: str, element: str, body: str) -> str:
    """A page with another text in one of its two elements of data."""
    head, rest = text.split(f'id="marginalia-{element}">', 1)
    return f'{head}id="marginalia-{element}">{body}</script>{rest.split("</script>", 1)[1]}'


def test_another_page_that_is_not_as_it_says_is_refused_at_once(opened, people_page, tmp_path):
    """Also one that is none, or that unpacks to more than a page may hold; another dataset is warned of."""
    text = people_page.read_text(encoding="utf-8")
    described = text.split('id="marginalia-release">', 1)[1].split("</script>", 1)[0]
    explorer = opened(people_page)
    field = explorer.page.get_by_label("Compare with another release")
    other = tmp_path / "other.html"

    def refused(page: str, words: str) -> None:
        other.write_text(page, encoding="utf-8")
        field.set_input_files(other)
        explorer.page.locator(f".comparison .caution:visible:has-text('{words}')").wait_for()
        explorer.page.locator(f"[role=status]:has-text('{words}')").wait_for(state="attached")
        assert explorer.page.locator(".pair").count() == 0
        field.set_input_files(people_page)
        explorer.page.locator(".pair").wait_for()
        assert explorer.page.locator(".comparison .problem").count() == 0
        explorer.press("Close the other release")

    refused("<p>Not a release</p>", "This file holds no release")
    for change in HOSTILE_PAGES.values():
        meta = json.loads(described)
        change(meta)
        refused(with_data(text, "release", json.dumps(meta)), "cut off or changed")
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [*(packer.compress(bytes(1 << 20)) for _ in range(520)), packer.flush()]
    refused(with_data(text, "data", base64.b64encode(b"".join(parts)).decode()), "more than 500 megabytes")
    guests = json.dumps(json.loads(described) | {"dataset": "guests", "vintage": "2026-12"})
    other.write_text(with_data(text, "release", guests), encoding="utf-8")
    warned = "The other page is of another dataset: “guests”, and this one of “people”."
    for page, times in ((people_page, 0), (other, 1)):
        field.set_input_files(page)
        explorer.page.get_by_text("this release (2026-11)").wait_for()
        assert explorer.page.locator(".pair").get_by_text("2026-12").count() == times
        assert explorer.page.get_by_text(warned).count() == times
        explorer.press("Close the other release")


def test_nothing_foreign_can_be_loaded_or_run(chromium, people_page):
    explorer = ExplorerPage.opened(chromium, people_page)
    script = """async () => {
        const refused = [];
        const note = (event) => refused.push(event.effectiveDirective);
        document.addEventListener("securitypolicyviolation", note);
        const image = new Image(); image.src = "https://example.org/x.png";
        await fetch("https://example.org/").catch(() => 0);
        const added = document.createElement("script");
        added.textContent = "window.ran = 1";
        document.body.append(added);
        const button = document.createElement("button");
        button.setAttribute("onclick", "window.ran = 2");
        button.click();
        setTimeout("window.ran = 3", 0);
        await new Promise((done) => setTimeout(done, 50));
        return [window.ran ?? null, refused];
    }"""
    ran, refused = explorer.page.evaluate(script)
    assert ran is None
    assert {"img-src", "connect-src", "script-src-elem", "script-src-attr", "script-src"} <= set(refused)
    explorer.page.context.close()
