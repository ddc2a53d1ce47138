"""The page of a release of nobody, and of one that names no value, says so in words."""

import pytest

from tests.oracles.explorer_pages import page_of


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "There is nothing to show: the number of people can't be told from none."),
        ([(None, None)] * 40, "There is nothing to ask for: this release names no value."),
    ],
    ids=["nobody", "no value"],
)
def test_no_empty_example_is_shown(records, words, opened, tmp_path):
    (tmp_path / "page.html").write_text(page_of(("sex", "town"), records), encoding="utf-8")
    page = opened(tmp_path / "page.html").page
    assert page.locator(".question .note").first.inner_text() == words
    assert "“”" not in page.inner_text("body")
    page.get_by_role("textbox").first.fill("xyzzy")
    page.keyboard.press("Enter")
    assert page.locator(".answer .caution").inner_text() == (
        "There is nothing to ask for: this release names no value."
    )
