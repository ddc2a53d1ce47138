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
    agrees(explorer, {"housing": {None}})
    explorer.click("services", MISSING)
    explorer.click("services", "pool")
    agrees(explorer, {"housing": {None}, "services": {None, "pool"}})


def test_actual_counts_are_the_published_ones_as_far_as_they_go(opened, people_page):
    explorer = opened(people_page)
    explorer.click("sex", "female")
    actual = {label: actual for label, (_, actual) in explorer.rows("housing").items()}
    assert actual == shown(counted(NAMES, people(), {"sex": {"female"}}, "housing")) | {MISSING: None}
    explorer.click("age", "over 60")
    assert {actual for _, actual in explorer.rows("housing").values()} == {None}
    assert "not released" in explorer.value("housing", "rented").text_content()
    explorer.press("Clear")
    # Where several values are chosen, the sum of their counts.
    explorer.click("housing", "rented")
    explorer.click("housing", "owned")
    expected = counted(NAMES, people(), {"housing": {"rented", "owned"}}, "sex")
    assert {label: actual for label, (_, actual) in explorer.rows("sex").items() if actual} == shown(expected)


def test_a_rounded_count_has_the_range_of_the_true_one(opened, tmp_path):
    path = tmp_path / "rounded.html"
    path.write_text(page_of(NAMES, people(), resolution=10), encoding="utf-8")
    explorer = opened(path)
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


def test_while_something_is_asked_back_the_number_says_that_it_is_not_the_answer_yet(opened, people_page):
    explorer = opened(people_page)
    words = explorer.page.locator(".answer")
    explorer.ask("female, over 50, zebra")
    assert "what is meant by “over 50”" in words.inner_text()
    assert "leaves out what was not understood: zebra" in words.inner_text()
    explorer.page.locator(".reading").get_by_role("button").last.click()
    assert explorer.page.locator(".reading").get_by_role("group").count() == 0
    assert "what is meant by" not in words.inner_text() and "zebra" in words.inner_text()
    assert explorer.chosen() == ["sex female", "age over 60", "age 40 to under 60"]
    explorer.click("sex", "female")
    assert "zebra" not in words.inner_text()


def test_where_counts_only_bound_it_the_range_is_the_headline_and_what_is_cited(opened, people_page):
    explorer = opened(people_page)
    explorer.ask("female, rented, over 60")
    low, high = explorer.answer().split(" to ")
    assert (
        int(low)
        <= counted(NAMES, people(), {"sex": {"female"}, "housing": {"rented"}}, "age")[">60"]
        <= int(high)
    )
    words = explorer.page.locator(".answer").inner_text()
    assert "in the synthetic records" in words and "nothing is claimed of its error" in words
    explorer.page.get_by_text("How to cite it").click()
    assert (
        f": {low} to {high} (for certain). Nobody (2026)." in explorer.page.locator("blockquote").inner_text()
    )


def test_neighbouring_bins_are_one_chip(opened, tmp_path):
    path = tmp_path / "bins.html"
    path.write_text(
        page_of(("age",), [("<20",), ("[20,40)",), ("[40,60]",), ("[60,80]",)] * 3), encoding="utf-8"
    )
    explorer = opened(path)
    for label in ("20 to under 40", "40 to 60", "under 20"):
        explorer.click("age", label)
    assert explorer.chosen() == ["age up to 60"]
    explorer.press("Remove age: up to 60")
    assert explorer.chosen() == []


def test_undo_goes_back_step_by_step_and_clear_takes_all_or_a_part(opened, people_page):
    explorer = opened(people_page)
    explorer.click("sex", "male")
    explorer.click("age", "over 60")
    explorer.press("Undo")
    assert explorer.chosen() == ["sex male"]
    explorer.click("housing", "social")
    explorer.press("Clear")
    assert explorer.chosen() == []
    explorer.page.locator("body").press("Control+z")
    assert explorer.chosen() == ["sex male", "housing social"]
    agrees(explorer, {"sex": {"male"}, "housing": {"social"}})
    # A chip takes its value back, and a chart its choice.
    explorer.press("Clear")
    for label in ("rented", "owned"):
        explorer.click("housing", label)
    explorer.press("Remove housing: rented")
    assert explorer.chosen() == ["housing owned"]
    explorer.press("Clear the choice in housing")
    assert explorer.chosen() == []


def test_a_link_restores_what_was_selected(opened, people_page):
    explorer = opened(people_page)
    explorer.click("age", "over 60")
    explorer.click("housing", MISSING)
    explorer.click("services", "pool")
    address = explorer.page.evaluate("location.hash")
    again = opened(people_page, address)
    assert again.chosen() == explorer.chosen() == [f"housing {MISSING}", "age over 60", "services pool"]
    agrees(again, {"age": {">60"}, "housing": {None}, "services": {"pool"}})
    again.page.evaluate("location.hash = '#sex=female&sex=neither'")
    again.page.wait_for_selector(".chips :text('female')")
    assert again.chosen() == ["sex female"]


def test_a_link_restores_values_that_were_not_released(opened, tmp_path):
    path = tmp_path / "open.html"
    text = page_of(("town",), [("!",), ("undefined",), ("Rye",)])
    path.write_text(text.replace('"open": false', '"open": true'), encoding="utf-8")
    explorer = opened(path)
    explorer.ask("town not released")
    explorer.click("town", "!")
    again = opened(path, explorer.page.evaluate("location.hash"))
    assert again.chosen() == explorer.chosen() == ["town !", "town (not released)"]


def test_the_link_can_be_copied(opened, people_page):
    explorer = opened(people_page)
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer.click("sex", "female")
    explorer.press("Copy link")
    explorer.page.wait_for_selector("[role=status]:text('Copied')", state="attached")
    assert explorer.page.evaluate("navigator.clipboard.readText()") == people_page.as_uri() + "#sex=female"


def test_charts_are_searched_and_ordered(opened, tmp_path):
    names = ("town",)
    towns = [f"Town {number}" for number in range(30)]
    records = [(town,) for place, town in enumerate(towns) for _ in range(place + 1)]
    path = tmp_path / "towns.html"
    path.write_text(page_of(names, records), encoding="utf-8")
    explorer = opened(path)
    card = explorer.chart("town")
    card.get_by_role("searchbox").fill("tówn 2")
    assert set(explorer.rows("town")) == {"Town 2", *(f"Town 2{digit}" for digit in range(10))}
    card.get_by_label("Order of town").select_option("count")
    assert list(explorer.rows("town"))[:2] == ["Town 29", "Town 28"]
    card.get_by_label("Order of town").select_option("name")
    assert list(explorer.rows("town"))[:2] == ["Town 2", "Town 20"]
    card.get_by_role("searchbox").fill("nowhere")
    assert "No value contains this text." in card.inner_text()


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


def test_of_many_records_a_page_is_listed_at_a_time(opened, tmp_path):
    """All at once would be higher than a browser draws; `large_page` numbers nothing, so places are read."""
    path = tmp_path / "many.html"
    path.write_text(large_page(600_000, columns=2), encoding="utf-8")
    explorer = opened(path)
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


def test_what_a_code_means_stands_beside_it_and_needs_no_click(opened, tmp_path):
    names = ("SEX", "HOME")
    path = tmp_path / "codes.html"
    text = page_of(names, [("1", "a"), ("2", "b"), ("2", "a")])
    assert '"name": "SEX", "kind"' in text
    path.write_text(
        text.replace('"name": "SEX",', '"name": "SEX", "names": ["male", "female"],'), encoding="utf-8"
    )
    explorer = opened(path)
    assert set(explorer.rows("SEX")) == {"male (1)", "female (2)"}
    explorer.ask("women")
    assert explorer.chosen() == ["SEX female (2)"] and explorer.answer() == "2"
    assert "SEX=2" in explorer.page.evaluate("location.hash")
    explorer.press("Records")
    assert explorer.page.get_by_role("cell", name="female (2)").count() == 2


def test_on_the_owners_page_nothing_is_called_published(opened, tmp_path):
    path = tmp_path / "owner.html"
    path.write_text(page_of(NAMES, people(), audience="owner"), encoding="utf-8")
    explorer = opened(path)
    explorer.ask("female, rented")
    for summary in explorer.page.locator(".answer summary").all():
        summary.click()
    words = explorer.page.locator(".explorer").inner_text()
    assert "The true count in the raw table." in words
    assert "published" not in words and "How to cite" not in words and "rounded" not in words


def test_pages_of_charts_are_as_they_were_laid_out(opened, tmp_path):
    layout = {
        "pages": [
            {"name": "People", "visuals": [{"name": "sex", "column": 0}]},
            {
                "name": "Homes",
                "visuals": [{"name": "A choice", "attributes": [3, 0], "unreleased": ["age:7"]}],
            },
        ]
    }
    path = tmp_path / "layout.html"
    path.write_text(page_of(NAMES, people(), layout=layout), encoding="utf-8")
    explorer = opened(path)
    assert explorer.page.locator("h3").all_inner_texts() == ["sex"]
    explorer.press("Homes")
    assert set(explorer.rows("A choice")) == {"housing: rented", "sex: female"}
    assert "Not in this release: age:7." in explorer.chart("A choice").inner_text()
    assert "!page=2" in explorer.page.evaluate("location.hash")


def test_where_nothing_is_understood_there_is_no_number_and_no_comparison(opened, people_page):
    explorer = opened(people_page)
    explorer.ask("zebra")
    assert "Nothing was understood. Name values" in explorer.page.locator(".answer").inner_text()
    explorer.ask("how many people are there?")
    assert explorer.answer() == "400"
    explorer.ask("female, rented")
    explorer.press("Keep as A, to compare")
    compared = explorer.page.locator(".comparison")
    for question in ("zebra with unicorns", "over 50", "over 60, under 40"):
        explorer.ask(question)
        assert explorer.page.locator(".answer output").count() == 0
        assert explorer.chosen() == []
        assert "Nothing is compared" in compared.inner_text()
        assert compared.locator(".side").count() == 1 and compared.locator(".verdict").count() == 0
        explorer.press("Undo")
        assert explorer.chosen() == ["sex female", "housing rented"]


def test_while_a_part_is_open_two_groups_are_not_judged(opened, people_page):
    explorer = opened(people_page)
    explorer.ask("female")
    explorer.press("Keep as A, to compare")
    explorer.ask("male, zebra")
    compared = explorer.page.locator(".comparison")
    assert compared.locator(".side").count() == 2 and compared.locator(".verdict").count() == 0
    explorer.ask("male")
    assert compared.locator(".verdict").count() > 0


def test_missing_in_an_open_column_says_that_it_may_have_been_too_rare(opened, tmp_path):
    path = tmp_path / "open.html"
    text = page_of(NAMES, people(), protection="fitted")
    path.write_text(text.replace('"open": false', '"open": true', 2), encoding="utf-8")
    explorer = opened(path)
    rare, plain = explorer.value("housing", "missing or too rare"), explorer.value("services", "missing")
    assert "too rare to be released" in rare.get_attribute("title")
    assert plain.get_attribute("title") == "missing"
    explorer.click("housing", "missing or too rare")
    assert explorer.chosen() == ["housing missing or too rare"]
    explorer.page.get_by_text("Why so, and how exact").click()
    assert "too rare to be released" in explorer.page.locator(".answer").inner_text()


def test_dates_are_in_time_order_at_first(opened, tmp_path):
    in_time = {
        "month": ("2023-12", "2024-01", "2024-04"),
        "year": ("1999", "2020", "2021"),
        "day": ("2024-03-30", "2024-04-04", "2024-04-05"),
        "quarter": ("Q4 2023", "Q1 2024", "2024-Q3"),
    }
    path = tmp_path / "dates.html"
    records = [tuple(each[place] for each in in_time.values()) for place in (0, 1, 1, 2, 2, 2)]
    text = page_of(tuple(in_time), records, length=1)
    path.write_text(text.replace('"order": "listed"', '"order": "count"'), encoding="utf-8")
    explorer = opened(path)
    for name, values in in_time.items():
        assert explorer.page.get_by_label(f"Order of {name}").input_value() == "listed"
        assert [label for label in explorer.rows(name) if label != MISSING] == list(values)


def test_no_choice_is_hidden_without_a_sign(opened, tmp_path):
    towns = [f"A town with a rather long name, number {number}" for number in range(25)]
    path = tmp_path / "towns.html"
    path.write_text(page_of(("town",), [(town,) for town in towns] * 2), encoding="utf-8")
    explorer = opened(path, "#" + "&".join(f"town={town.replace(' ', '%20')}" for town in towns))
    bar = explorer.page.locator(".selection")
    assert len(explorer.chosen()) == 8
    explorer.press("+17 more")
    assert len(explorer.chosen()) == 25
    script = """bar => [bar, ...bar.querySelectorAll('*')].every(box =>
        box.scrollHeight <= box.clientHeight || !/auto|scroll/.test(getComputedStyle(box).overflowY))"""
    assert bar.evaluate(script)
    explorer.press("Show fewer")
    assert len(explorer.chosen()) == 8


def test_a_wrong_file_to_compare_with_is_refused_in_sight(opened, people_page, tmp_path):
    explorer, words = opened(people_page), "This file holds no release"
    wrong = tmp_path / "wrong.html"
    wrong.write_text("<p>Not a release</p>", encoding="utf-8")
    explorer.page.locator("input[type=file]").set_input_files(wrong)
    explorer.page.locator(f".comparison .caution:visible:has-text('{words}')").wait_for(timeout=10_000)
    explorer.page.locator(f"[role=status]:has-text('{words}')").wait_for(state="attached", timeout=10_000)
    explorer.page.locator("input[type=file]").set_input_files(people_page)
    explorer.page.locator(".pair").wait_for()
    assert explorer.page.locator(".comparison .problem").count() == 0


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
