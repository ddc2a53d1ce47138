"""A click selects, and every chart follows: the numbers on the screen are those of slow arithmetic."""

from collections import Counter

import pytest

from tests.core.navigation.explorer.conftest import NAMES, people
from tests.oracles.explorer_pages import counted, large_page, page_of

pytestmark = pytest.mark.needs_chromium

MISSING = "missing or too rare"
AGES = {"[18,40)": "18 to under 40", "[40,60)": "40 to under 60", ">60": "over 60"}


def shown(counts: Counter[str | None]) -> dict[str, int]:
    """As the page names the values; what nobody holds is not shown."""
    return {MISSING if value is None else AGES.get(value, value): n for value, n in counts.items() if n}


def estimates(explorer, chart):
    return {label: estimated for label, (estimated, _) in explorer.rows(chart).items() if estimated}


def agrees(explorer, selection):
    """Every chart shows what the records hold within the others' choices."""
    for name in NAMES:
        assert estimates(explorer, name) == shown(counted(NAMES, people(), selection, name))


def test_every_chart_follows_what_is_chosen_and_its_own_shows_the_alternatives(opened, people_page):
    explorer = opened(people_page)
    agrees(explorer, {})
    explorer.click("housing", "rented")
    agrees(explorer, {"housing": {"rented"}})
    explorer.click("age", "over 60")
    agrees(explorer, {"housing": {"rented"}, "age": {">60"}})
    explorer.click("housing", "rented")
    agrees(explorer, {"age": {">60"}})
    explorer.press("Clear")
    # Values of one column are joined by or; missing is a value of its own, also of items.
    explorer.click("housing", "rented")
    explorer.click("housing", "social")
    agrees(explorer, {"housing": {"rented", "social"}})
    explorer.press("Clear")
    explorer.click("housing", MISSING)
    explorer.click("services", MISSING)
    explorer.click("services", "pool")
    agrees(explorer, {"housing": {None}, "services": {None, "pool"}})
    explorer.press("Clear")
    # Actual counts are the published ones as far as they go: the sum, where several values are chosen.
    explorer.click("sex", "female")
    actual = {label: actual for label, (_, actual) in explorer.rows("housing").items()}
    assert actual == shown(counted(NAMES, people(), {"sex": {"female"}}, "housing")) | {MISSING: None}
    explorer.click("age", "over 60")
    assert {actual for _, actual in explorer.rows("housing").values()} == {None}
    assert "not released" in explorer.value("housing", "rented").text_content()
    explorer.press("Clear")
    explorer.click("housing", "rented")
    explorer.click("housing", "owned")
    expected = counted(NAMES, people(), {"housing": {"rented", "owned"}}, "sex")
    assert {label: actual for label, (_, actual) in explorer.rows("sex").items() if actual} == shown(expected)
    # A chip takes its value back, and a chart its choice.
    explorer.press("Remove housing: rented")
    assert explorer.chosen() == ["housing owned"]
    explorer.press("Clear the choice in housing")
    assert explorer.chosen() == []


def test_undo_goes_back_step_by_step_and_a_link_restores_what_was_selected(opened, people_page):
    explorer = opened(people_page)
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer.click("sex", "male")
    explorer.press("Copy link")
    explorer.page.wait_for_selector("[role=status]:text('Copied')", state="attached")
    assert explorer.page.evaluate("navigator.clipboard.readText()") == people_page.as_uri() + "#sex=male"
    explorer.click("age", "over 60")
    explorer.press("Undo")
    assert explorer.chosen() == ["sex male"]
    explorer.press("Clear")
    assert explorer.chosen() == []
    explorer.page.locator("body").press("Control+z")
    assert explorer.chosen() == ["sex male"]
    for chart, label in (("age", "over 60"), ("housing", MISSING), ("services", "pool"), ("sex", "male")):
        explorer.click(chart, label)
    again = opened(people_page, explorer.page.evaluate("location.hash"))
    assert again.chosen() == explorer.chosen() == [f"housing {MISSING}", "age over 60", "services pool"]
    agrees(again, {"age": {">60"}, "housing": {None}, "services": {"pool"}})
    again.page.evaluate("location.hash = '#sex=female&sex=neither'")
    again.page.wait_for_selector(".chips :text('female')")
    assert again.chosen() == ["sex female"]
    # Also values that were not released, and such that look like an address.
    text = page_of(("town",), [("!",), ("undefined",), ("Rye",)]).replace('"open": false', '"open": true')
    explorer = opened(text)
    explorer.ask("town not released")
    explorer.click("town", "!")
    again = opened(text, explorer.page.evaluate("location.hash"))
    assert again.chosen() == explorer.chosen() == ["town !", "town (not released)"]


def test_a_rounded_count_has_the_range_of_the_true_one(opened):
    explorer = opened(page_of(NAMES, people(), resolution=10))
    for label, true in shown(counted(NAMES, people(), {}, "housing")).items():
        if label != MISSING:
            low = true // 10 * 10
            assert explorer.rows("housing")[label] == (true, low)
            assert explorer.ranges("housing")[label] == (low, low + 9)


def test_two_groups_are_compared_as_shares_of_a_base_that_can_be_picked(opened, people_page):
    explorer = opened(people_page)
    explorer.ask("female, rented")
    explorer.press("Keep as A, to compare")
    explorer.ask("female, owned")
    held = [(sex, housing) for sex, housing, _, _ in people()]
    shares = {
        home: held.count(("female", home)) / sum(1 for _, housing in held if housing == home)
        for home in ("rented", "owned")
    }
    found = explorer.page.locator(".shares")
    words = found.inner_text()
    for home in shares:
        assert f"{100 * shares[home]:.1f} %\nof people with housing: {home}" in words
    assert f"{100 * (shares['rented'] - shares['owned']):.1f} points".replace("-", "−") in words
    assert "for certain" in words
    found.get_by_role("combobox").select_option(label="All people")
    whole = 100 * held.count(("female", "rented")) / len(held)
    assert f"{whole:.1f} %" in found.inner_text()
    # Where nothing is understood there is no number and no comparison.
    compared = explorer.page.locator(".comparison")
    for question in ("zebra with unicorns", "over 50", "over 60, under 40"):
        explorer.ask(question)
        assert explorer.page.locator(".answer output").count() == 0
        assert explorer.chosen() == []
        assert "Nothing is compared" in compared.inner_text()
        assert compared.locator(".side").count() == 1 and compared.locator(".verdict").count() == 0
        explorer.press("Undo")
        assert explorer.chosen() == ["sex female", "housing owned"]
    # While a part is open, two groups are not judged.
    explorer.ask("male, zebra")
    assert compared.locator(".side").count() == 2 and compared.locator(".verdict").count() == 0
    explorer.ask("male")
    assert compared.locator(".verdict").count() > 0


def test_an_answer_says_what_it_is_of_and_what_it_leaves_out(opened, people_page):
    explorer = opened(people_page)
    words = explorer.page.locator(".answer")
    explorer.ask("zebra")
    assert "Nothing was understood. Name values" in words.inner_text()
    explorer.ask("how many people are there?")
    assert explorer.answer() == "400"
    explorer.ask("female, over 50, zebra")
    assert "what is meant by “over 50”" in words.inner_text()
    assert "leaves out what was not understood: zebra" in words.inner_text()
    explorer.page.locator(".reading").get_by_role("button").last.click()
    assert explorer.page.locator(".reading").get_by_role("group").count() == 0
    assert "what is meant by" not in words.inner_text() and "zebra" in words.inner_text()
    assert explorer.chosen() == ["sex female", "age over 60", "age 40 to under 60"]
    explorer.click("sex", "female")
    assert "zebra" not in words.inner_text()
    # Where counts only bound it, the range is the headline, and is what is cited.
    explorer.ask("female, rented, over 60")
    low, high = explorer.answer().split(" to ")
    true = counted(NAMES, people(), {"sex": {"female"}, "housing": {"rented"}}, "age")[">60"]
    assert int(low) <= true <= int(high)
    assert "in the synthetic records" in words.inner_text()
    assert "nothing is claimed of its error" in words.inner_text()
    explorer.page.get_by_text("How to cite it").click()
    cited = explorer.page.locator("blockquote").inner_text()
    assert f": {low} to {high} (for certain). Nobody (2026)." in cited


def test_columns_of_every_kind_are_shown_searched_and_ordered_as_people_read_them(opened):
    in_time = {
        "month": ("2023-12", "2024-01", "2024-04"),
        "year": ("1999", "2020", "2021"),
        "day": ("2024-03-30", "2024-04-04", "2024-04-05"),
        "quarter": ("Q4 2023", "Q1 2024", "2024-Q3"),
    }
    bins = ("<20", "[20,40)", "[40,60]", "[60,80]")
    records = [
        (
            f"Town {number}",
            "12"[number % 3 > 0],
            bins[number % 4],
            *(each[number % 3] for each in in_time.values()),
        )
        for number in range(30)
        for _ in range(number + 1)
    ]
    text = page_of(("town", "SEX", "age", *in_time), records, length=1)
    text = text.replace('"name": "SEX",', '"name": "SEX", "names": ["male", "female"],')
    explorer = opened(text.replace('"order": "listed"', '"order": "count"'))
    for name, values in in_time.items():
        assert explorer.page.get_by_label(f"Order of {name}").input_value() == "listed"
        assert [label for label in explorer.rows(name) if label != MISSING] == list(values)
    card = explorer.chart("town")
    card.get_by_role("searchbox").fill("tówn 2")
    assert set(explorer.rows("town")) == {"Town 2", *(f"Town 2{digit}" for digit in range(10))}
    card.get_by_label("Order of town").select_option("count")
    assert list(explorer.rows("town"))[:2] == ["Town 29", "Town 28"]
    card.get_by_label("Order of town").select_option("name")
    assert list(explorer.rows("town"))[:2] == ["Town 2", "Town 20"]
    card.get_by_role("searchbox").fill("nowhere")
    assert "No value contains this text." in card.inner_text()
    # Neighbouring bins are one chip.
    for label in ("20 to under 40", "40 to 60", "under 20"):
        explorer.click("age", label)
    assert explorer.chosen() == ["age up to 60"]
    explorer.press("Remove age: up to 60")
    assert explorer.chosen() == []
    # What a code means stands beside it, and needs no click.
    assert set(explorer.rows("SEX")) == {"male (1)", "female (2)"}
    explorer.ask("women")
    women = sum(record[1] == "2" for record in records)
    assert explorer.chosen() == ["SEX female (2)"] and explorer.answer() == str(women)
    assert "SEX=2" in explorer.page.evaluate("location.hash")
    explorer.press("Records")
    assert explorer.page.get_by_role("cell", name="female (2)").count() > 1


def test_the_records_behind_a_selection_are_listed(opened, people_page):
    explorer = opened(people_page)
    explorer.click("housing", "social")
    explorer.press("Records")
    table = explorer.page.get_by_role("table")
    chosen = [record for record in people() if record[1] == "social"]
    assert table.get_attribute("aria-rowcount") == str(len(chosen) + 1)
    first = table.locator("tbody tr:not(.filler)").first.locator("td").all_inner_texts()
    sex, housing, age, services = chosen[0]
    assert first == [sex, housing, AGES.get(age, age), "; ".join(services)]
    scroll = explorer.page.locator(".records .scroll")
    scroll.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    table.locator(f"[aria-rowindex='{len(chosen) + 1}']").wait_for()


def test_of_many_records_a_page_is_listed_at_a_time(opened):
    """All at once would be higher than a browser draws; `large_page` numbers nothing, so places are read."""
    explorer = opened(large_page(600_000, columns=2))
    explorer.press("Records")
    table, words = explorer.page.get_by_role("table"), explorer.page.locator(".records")
    assert "Records 1 to 1,000 of 600,000" in words.inner_text()
    assert explorer.page.locator(".records .scroll").evaluate("box => box.scrollHeight") < 100_000
    explorer.press("Last")
    assert "Records 599,001 to 600,000 of 600,000" in words.inner_text()
    box = explorer.page.locator(".records .scroll")
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    table.locator("[aria-rowindex='600001']").wait_for()
    assert table.locator("tbody tr").count() < 100
    page = words.get_by_role("spinbutton")
    page.fill("77")
    page.press("Enter")
    assert "Records 76,001 to 77,000 of 600,000" in words.inner_text()
    explorer.page.wait_for_function("box => box.scrollTop === 0", arg=box.element_handle())
    page.fill("99999")
    page.press("Enter")
    assert "Records 599,001 to 600,000" in words.inner_text()
    explorer.press("Previous")
    assert "Records 598,001 to 599,000" in words.inner_text()
    explorer.press("Charts")
    explorer.click("column 0", "value 0 of 0")
    explorer.press("Records")
    assert "Records 1 to 1,000 of" in words.inner_text()


def test_on_the_owners_page_nothing_is_called_published(opened):
    explorer = opened(page_of(NAMES, people(), audience="owner"))
    explorer.ask("female, rented")
    for summary in explorer.page.locator(".answer summary").all():
        summary.click()
    words = explorer.page.locator(".explorer").inner_text()
    assert "The true count in the raw table." in words
    assert "published" not in words and "How to cite" not in words and "rounded" not in words


def test_pages_of_charts_are_as_they_were_laid_out_and_a_missing_value_may_have_been_too_rare(opened):
    layout = {
        "pages": [
            {"name": "People", "visuals": [{"name": "sex", "column": 0}]},
            {
                "name": "Homes",
                "visuals": [
                    {"name": "A choice", "attributes": [3, 0], "unreleased": ["age:7"]},
                    {"name": "housing", "column": 1},
                    {"name": "services", "column": 3},
                ],
            },
        ]
    }
    text = page_of(NAMES, people(), layout=layout, protection="fitted")
    explorer = opened(text.replace('"open": false', '"open": true', 2))
    assert explorer.page.locator("h3").all_inner_texts() == ["sex"]
    explorer.press("Homes")
    assert set(explorer.rows("A choice")) == {"housing: rented", "sex: female"}
    assert "Not in this release: age:7." in explorer.chart("A choice").inner_text()
    assert "!page=2" in explorer.page.evaluate("location.hash")
    rare, plain = explorer.value("housing", MISSING), explorer.value("services", "missing")
    assert "too rare to be released" in rare.get_attribute("title")
    assert plain.get_attribute("title") == "missing"
    explorer.click("housing", MISSING)
    assert explorer.chosen() == [f"housing {MISSING}"]
    explorer.page.get_by_text("Why so, and how exact").click()
    assert "too rare to be released" in explorer.page.locator(".answer").inner_text()


def test_no_choice_is_hidden_without_a_sign(opened):
    towns = [f"A town with a rather long name, number {number}" for number in range(25)]
    link = "#" + "&".join(f"town={town.replace(' ', '%20')}" for town in towns)
    explorer = opened(page_of(("town",), [(town,) for town in towns] * 2), link)
    bar = explorer.page.locator(".selection")
    assert len(explorer.chosen()) == 8
    explorer.press("+17 more")
    assert len(explorer.chosen()) == 25
    script = """bar => [bar, ...bar.querySelectorAll('*')].every(box =>
        box.scrollHeight <= box.clientHeight || !/auto|scroll/.test(getComputedStyle(box).overflowY))"""
    assert bar.evaluate(script)
    explorer.press("Show fewer")
    assert len(explorer.chosen()) == 8


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "There is nothing to show: the number of people can't be told from none."),
        ([(None, None)] * 40, "There is nothing to ask for: this release names no value."),
    ],
    ids=["nobody", "no value"],
)
def test_no_empty_example_is_shown(records, words, opened):
    explorer = opened(page_of(("sex", "town"), records))
    page = explorer.page
    assert page.locator(".question .note").first.inner_text() == words
    assert "“”" not in page.inner_text("body")
    explorer.ask("xyzzy")
    assert page.locator(".answer .caution").inner_text() == (
        "There is nothing to ask for: this release names no value."
    )
    if not records:
        assert explorer.rows("sex") == {}
        assert "Nobody in this selection." in explorer.chart("sex").inner_text()
        explorer.press("Records")
        assert "no synthetic records" in page.locator(".records").inner_text()
    else:
        assert explorer.rows("town") == {MISSING: (40, None)}
