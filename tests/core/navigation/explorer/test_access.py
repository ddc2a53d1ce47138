"""For everyone: the whole explorer worked by keyboard alone, on paper, and on any screen."""

import re

import pytest

from tests.oracles.explorer_pages import page_of

pytestmark = pytest.mark.needs_chromium


class Keyboard:
    """A person without a mouse."""

    def __init__(self, explorer):
        self.page = explorer.page

    def to(self, name: str) -> None:
        """Press tab until what has the focus says so."""
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if name in self.focused():
                return
        raise AssertionError(f"the tab key does not lead to {name!r}")

    def focused(self) -> str:
        script = """() => { const e = document.activeElement; if (e === document.body) return "";
            const by = document.getElementById(e.getAttribute("aria-labelledby"))?.textContent;
            const label = e.labels?.[0]?.textContent;
            return by ?? [e.getAttribute("aria-label"), label, e.textContent].join(" ") }"""
        return self.page.evaluate(script)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


def test_the_whole_page_is_worked_by_keyboard(opened, people_page):
    explorer = opened(people_page)
    keys = Keyboard(explorer)
    keys.to("Ask a question")
    explorer.page.keyboard.type("female")
    keys.press("Enter")
    assert explorer.chosen() == ["sex female"]
    keys.to("Keep as A")
    keys.press("Enter")
    keys.to("Clear the choice in sex")
    keys.to("female")
    keys.press("ArrowDown", "Space")
    assert explorer.chosen() == ["sex female", "sex male"]
    keys.press("Home", "Enter")
    assert explorer.chosen() == ["sex male"]
    assert explorer.page.locator(".difference").count() == 1
    keys.to("Order of housing")
    keys.press("ArrowDown")
    keys.to("Save housing")
    keys.press("Enter")
    keys.press("Tab")
    with explorer.page.expect_download():
        keys.press("Enter")
    keys.press("Escape")
    explorer.page.keyboard.press("Control+Home")
    explorer.page.locator(".question input").focus()
    keys.to("Undo")
    keys.press("Space")
    assert explorer.chosen() == ["sex female", "sex male"]
    keys.to("Records")
    keys.press("Enter")
    keys.to("The synthetic records behind")
    keys.press("End")
    explorer.page.locator(
        f"[aria-rowindex='{explorer.page.locator('[aria-rowcount]').get_attribute('aria-rowcount')}']"
    ).wait_for()


def test_focus_and_choices_are_seen_and_heard(opened, people_page):
    """Focus is never hidden below what stays in sight, nor that of the chooser of another release."""
    explorer = opened(people_page, viewport={"width": 1280, "height": 500})
    hidden = """() => { const e = document.activeElement, box = e.getBoundingClientRect();
        const top = document.elementFromPoint(box.x + box.width / 2, box.y + Math.min(box.height / 2, 10));
        return !(top && (e.contains(top) || top.contains(e))) && !e.matches("input[type=file]") }"""
    for key in ["Tab"] * 40 + ["Shift+Tab"] * 40:
        explorer.page.keyboard.press(key)
        if explorer.page.evaluate("document.activeElement !== document.body"):
            assert not explorer.page.evaluate(hidden)
    field = explorer.page.get_by_label("Compare with another release")
    field.focus()
    explorer.page.keyboard.press("Shift+Tab")
    explorer.page.keyboard.press("Tab")
    label = explorer.page.locator(".file label")
    assert label.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    # With the focus on it and nothing that disables it, opening the chooser is the browser's.
    assert field.evaluate("e => e.type === 'file' && !e.disabled && e === document.activeElement")
    button = explorer.page.get_by_role("button", name=re.compile("rented ?: estimated"))
    assert "actual" in button.first.text_content()
    button.first.click()
    assert button.first.get_attribute("aria-pressed") == "true"
    assert explorer.page.locator(".answer [aria-live=polite]").count() == 1
    colours = set()
    for scheme in ("light", "dark"):
        explorer.page.emulate_media(color_scheme=scheme)
        colours.add(explorer.page.evaluate("getComputedStyle(document.querySelector('.explorer')).color"))
    assert len(colours) == 2


def test_nothing_is_wider_than_the_screen_and_at_2560_pixels_the_charts_take_the_width(opened):
    names = [f"A column with a rather long name, number {number}" for number in range(12)]
    records = [tuple(f"value {'x' * (row % 40)} {row % 15}" for _ in names) for row in range(60)]
    explorer = opened(page_of(names, records, length=1))
    for width in (320, 390, 768, 1280, 2560):
        explorer.page.set_viewport_size({"width": width, "height": 900})
        for view in ("Records", "Charts"):
            explorer.press(view)
            assert explorer.page.evaluate("document.documentElement.scrollWidth") <= width
    tops = explorer.page.locator(".chart-card").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().top)"
    )
    assert tops.count(tops[0]) >= 5


def test_on_paper_all_charts_and_values_are_drawn_and_nothing_can_be_pressed(opened):
    """Charts out of sight are not drawn on a screen."""
    names = ["town", *(f"column {number}" for number in range(29))]
    records = [(f"Town {row:03}", *("xy"[(row + at) % 2] for at in range(29))) for row in range(60)]
    explorer = opened(page_of(names, records, length=1))
    explorer.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    explorer.page.emulate_media(media="print")
    assert len(explorer.rows("town")) == 60
    boxes = explorer.page.locator(".rows")
    assert all(boxes.evaluate_all("all => all.map(box => box.scrollHeight <= box.clientHeight)"))
    assert not explorer.page.locator(".toolbar").is_visible()
    kinds = explorer.page.locator(".chart-card").evaluate_all(
        "all => all.map(e => getComputedStyle(e).contentVisibility)"
    )
    assert len(kinds) == 30 and set(kinds) == {"visible"}
    shown = explorer.page.locator(".explorer").evaluate(
        "all => [...all.querySelectorAll('button, input, select, summary')]"
        ".filter(e => !e.matches('.row') && e.checkVisibility()).map(e => e.textContent)"
    )
    assert shown == []


def test_what_is_written_from_right_to_left_does_not_turn_what_stands_around_it(opened):
    explorer = opened(page_of(("המחוז", "age"), [("תל אביב", "x"), ("חיפה", "y")] * 5))
    explorer.click("המחוז", "חיפה")
    group = explorer.page.locator(".answer .group").text_content()
    assert group == "people with \u2068המחוז\u2069: \u2068חיפה\u2069"
    label = explorer.value("המחוז", "חיפה").locator("bdi.label")
    assert label.evaluate("e => getComputedStyle(e).direction") == "rtl"
