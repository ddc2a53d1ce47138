"""The whole page of a release, not its explorer alone: for axe, and for a person without a mouse."""

import pytest

from tests.core.navigation.explorer.releases.conftest import files_of
from tests.core.navigation.explorer.releases.steps import agrees
from tests.core.navigation.explorer.test_access import Keyboard

pytestmark = [pytest.mark.needs_chromium, pytest.mark.server]

#: WCAG 2.2 to level AA, and what axe calls good practice.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """([place, rules]) => axe.run(place, {runOnly: {type: "tag", values: rules}})
    .then(({violations, passes}) =>
        [violations.map(({id, nodes}) => [id, nodes.map(({html}) => html)]), passes.length])"""
#: Of each protection one page at one width; of the fitted one all, two of them among the slow ones.
PAGES = [("survey fitted", 390, "light"), ("survey fitted", 1280, "dark")]
PAGES += [("survey k_anonymity", 390, "dark"), ("survey syndiffix", 1280, "light")]
PAGES += [
    pytest.param("survey fitted", width, scheme, marks=pytest.mark.slow)
    for width, scheme in ((390, "dark"), (1280, "light"))
]


@pytest.mark.needs_node
@pytest.mark.parametrize(("kind", "width", "scheme"), PAGES)
def test_axe_finds_nothing_on_the_whole_page_folded_out(kind, width, scheme, release, opened, packages):
    explorer = opened(release(kind).page, color_scheme=scheme, viewport={"width": width, "height": 900})
    axe = (packages / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    explorer.click("housing", "rented")
    explorer.press("Keep as A, to compare")
    explorer.click("housing", "social")
    explorer.ask("retired, nonsense")
    explorer.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    for view, place in (("Charts", "html"), ("Records", ".explorer")):  # all else stays as it was
        explorer.press(view)
        program = f"async (asked) => {{ {axe}; return ({RUN})(asked); }}"
        violations, passes = explorer.page.evaluate(program, [place, RULES])
        assert violations == []
        assert passes > 15


def test_the_whole_page_is_worked_by_keyboard(release, opened):
    made = release("survey fitted")
    files, explorer = files_of(made), opened(made.page)
    keys = Keyboard(explorer)
    keys.press("Tab")
    assert "Skip to the answers" in keys.focused()
    keys.press("Enter")
    assert explorer.page.evaluate("location.hash") == "#answers"
    keys.to("Ask a question")
    explorer.page.keyboard.type("retired")
    keys.press("Enter")
    assert explorer.chosen() == ["work retired"]
    agrees(explorer, files, {"work": ["retired"]})
    explorer.press("Clear")
    open_the_report(explorer, keys)
    # Folded out, nothing is wider than the screen, and every link of the contents leads to what it names.
    for width in (390, 2560, 1280):
        explorer.page.set_viewport_size({"width": width, "height": 900})
        assert explorer.page.evaluate("document.documentElement.scrollWidth") <= width
    links = explorer.page.locator("nav.contents a")
    for place in range(links.count()):
        links.nth(place).click()
        target = explorer.page.locator(links.nth(place).get_attribute("href"))
        assert target.count() == 1
        assert target.locator("h2, h3").first.is_visible()
        assert explorer.page.url.startswith(made.page.as_uri())


def open_the_report(explorer, keys):
    """Every folded section is opened on the way down, and the way ends."""
    folded = "details.more:not([open])"
    wanted = explorer.page.locator(folded).count()
    assert wanted > 4
    for _ in range(800):
        keys.press("Tab")
        at = explorer.page.evaluate(
            "(folded) => document.activeElement.parentElement?.matches(folded) ?? false", folded
        )
        if at:
            keys.press("Enter")
        if explorer.page.evaluate("document.activeElement === document.body"):
            break
    else:
        raise AssertionError("the tab key does not come to the end of the page")
    assert explorer.page.locator(folded).count() == 0
