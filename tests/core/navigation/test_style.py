"""The pages' style: every colour has its dark counterpart, and no rule comes after the dark ones."""

import re
from pathlib import Path

import pytest

from tasks.core import navigation
from tasks.core.charts import theme
from tasks.core.navigation.page import html
from tests.oracles.pages import Page as Shell

FOLDER = Path(navigation.__file__).parent / "templates"
PAGES = {"release": (), "comparison": ("comparison.css",), "over_time": ("comparison.css", "over_time.css")}
#: White on a red that is dark enough for both.
SAME_IN_BOTH = {".banner"}
_COLOUR = re.compile(r"(?:background|color|border[a-z-]*):[^;{}]*#[0-9a-f]{3,8}")


def rules(sheet: str) -> list[tuple[str, str]]:
    """Selector and body of each innermost rule."""
    return [(found[0].strip(), found[1]) for found in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet)]


def of(found: list[tuple[str, str]], selector: str) -> set[str]:
    """The colour variables that a rule sets."""
    bodies = [body for name, body in found if name == selector]
    return set(re.findall(r"(--[a-z-]+): #", " ".join(bodies)))


def test_the_dark_rules_come_last_so_that_none_undoes_them():
    style = Shell(html("page.html.j2", {"title": ""}, ("comparison.css",))).sheets[0]
    assert style.index("#answers") < style.index(".runs") < style.rindex("@media screen and (prefers-color")
    assert style.rstrip().endswith("}\n}")


@pytest.mark.parametrize("page", PAGES)
def test_every_colour_is_a_variable_or_has_its_dark_counterpart(page):
    light = rules("".join((FOLDER / sheet).read_text() for sheet in ("page.css", *PAGES[page])))
    whole = Shell(html("page.html.j2", {"title": ""})).sheets[0]
    dark = rules(whole[whole.rindex("@media screen and (prefers-color") :].split("{", 1)[1])
    assert of(light, ":root") == of(dark, ":root")
    undone = {name for name, _ in dark} | {name.removeprefix(".mark") for name, _ in dark}
    for selector, body in light:
        if selector not in SAME_IN_BOTH | {":root", ".mark"}:
            assert not _COLOUR.search(body) or selector in undone, selector
    assert "#fff" not in dict(dark)[".mark.look0"] and theme.DARK[theme.PAPER] in dict(dark)[".mark.look0"]
