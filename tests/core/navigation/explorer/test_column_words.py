"""What columns are called and what the contract says of them: at charts, in chips, and above the records."""

import json

import pytest

from tests.oracles.explorer_pages import page_of

pytestmark = pytest.mark.needs_chromium

NAMES = ("birth_date", "town", "plan")
RECORDS = [("[30,40)", "Lyon", "full"), ("[40,50)", "Nice", "basic"), (">50", "Lyon", "basic")] * 10
LONG = "Paid " + "for every month of a year " * 8


def written(**changes):
    """A page whose columns say more of themselves."""
    text = page_of(NAMES, RECORDS)
    head, rest = text.split('id="marginalia-release">', 1)
    described, tail = rest.split("</script>", 1)
    meta = json.loads(described)
    for column in meta["columns"]:
        column |= changes.get(column["name"], {})
    described = json.dumps(meta, ensure_ascii=False).replace("<", "\\u003c")
    return f'{head}id="marginalia-release">{described}</script>{tail}'


def test_a_date_of_birth_that_was_turned_into_ages_is_called_an_age(opened):
    explorer = opened(written(birth_date={"age": True}))
    assert explorer.rows("age (from birth_date)")
    assert "age over 30" in explorer.page.locator(".question .note").first.inner_text()
    explorer.ask("age over 50")
    assert explorer.chosen() == ["age (from birth_date) over 50"]
    assert explorer.page.locator(".answer .group").inner_text() == (
        "people with age (from birth_date): over 50"
    )
    explorer.ask("over 45")
    cut = explorer.page.locator(".question .reading p").first.inner_text()
    assert cut.endswith("cuts through [40,50) of age (from birth_date). Choose with it or without it.")
    explorer.press("Records")
    assert "age (from birth_date)" in explorer.page.locator("thead").inner_text()


def test_what_the_contract_says_of_a_column_stands_at_its_chart_and_above_its_records(opened):
    hostile = "<img src=x onerror=alert(1)> of the town"
    about = {"town": {"about": hostile}, "plan": {"about": LONG}, "birth_date": {"about": "תאריך לידה"}}
    explorer = opened(written(**about))
    assert explorer.chart("town").locator(".about").inner_text() == hostile
    plan = explorer.chart("plan").locator(".about")
    assert not plan.get_by_text(LONG.strip()).is_visible(), "a long text is opened"
    plan.get_by_text("What this column is").click()
    assert plan.get_by_text(LONG.strip()).is_visible()
    direction = "element => getComputedStyle(element).direction"
    assert explorer.chart("birth_date").locator(".about").evaluate(direction) == "rtl"
    explorer.press("Records")
    heads = explorer.page.locator("thead th")
    assert heads.nth(2).inner_text().split("\n") == ["town", hostile]
    assert heads.nth(2).get_attribute("abbr") == "town", "with each cell only the name is said"
    assert heads.nth(1).locator(".about").evaluate(direction) == "rtl"
    assert explorer.page.locator("#marginalia-explorer img").count() == 0


def test_without_a_contract_nothing_is_said_and_how_a_wide_range_gets_narrower_is_told(opened):
    explorer = opened(written())
    assert explorer.page.locator(".about").count() == 0
    said = "This release counts up to 2 columns together."
    explorer.ask("Lyon, full")
    assert said not in explorer.page.locator(".answer").inner_text()
    explorer.ask("Lyon, full, birth date over 50")
    assert said in explorer.page.locator(".answer").inner_text()
