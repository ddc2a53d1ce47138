"""What is on which page, within SDS's limits; whatever is left out is told by name."""

import pytest

from tasks.core.navigation.power_bi.layout import about
from tasks.core.navigation.power_bi.model import TabularModel
from tasks.core.navigation.power_bi.showcase import plan_showcase
from tasks.core.records.columns import Column, Schema
from tests.oracles.showcases import made_release, parts_of, template_of, visuals_of


def planned(tmp_path, columns: int, **layout):
    schema = Schema(tuple(Column(f"c{number}") for number in range(columns)))
    person = {column.name: "x" for column in schema.columns}
    release = made_release(tmp_path, schema, [person], [person], length=1, **layout)
    return release, plan_showcase(release.inputs)


def titles(showcase):
    return [[chart.title for chart in page.charts] for page in showcase.pages]


def test_without_configured_pages_all_columns_stand_on_as_many_as_they_need(tmp_path):
    _, showcase = planned(tmp_path, 20)
    assert [page.name for page in showcase.pages] == ["Overview 1", "Overview 2"]
    assert titles(showcase) == [[f"c{n}" for n in range(16)], [f"c{n}" for n in range(16, 20)]]
    assert showcase.left_out == ()


def test_columns_beyond_sixty_four_are_left_out_and_named(tmp_path):
    _, showcase = planned(tmp_path, 66)
    assert sum(map(len, titles(showcase))) == 64
    assert " ".join(showcase.left_out) == (
        "Power BI shows 4 of 5 pages, without: Overview 5. They would have: c64, c65."
    )


def test_charts_of_chosen_values_beyond_ten_are_left_out_and_named(tmp_path):
    visuals = {f"v{number}": ("c0:x",) for number in range(12)}
    _, showcase = planned(tmp_path, 2, visuals=visuals, pages={"P": ("v11", "v0", "c1")})
    assert titles(showcase) == [["v0", "c1"]]
    assert showcase.left_out[0] == "Power BI shows 10 of 12 charts of report_visuals, without: v10, v11."


def test_pages_and_charts_beyond_the_limits_are_left_out_and_named(tmp_path):
    pages = {f"P{page}": tuple(f"c{number}" for number in range(18)) for page in range(5)}
    _, showcase = planned(tmp_path, 18, pages=pages)
    assert [(page.name, len(page.charts)) for page in showcase.pages] == [(f"P{n}", 16) for n in range(4)]
    assert [each for each in showcase.left_out if "P2" in each] == [
        "Power BI shows 16 of 18 charts of the page P2, without: c16, c17."
    ]
    assert any("4 of 5 pages, without: P4." in each for each in showcase.left_out)


def test_columns_that_no_page_names_are_told_too(tmp_path):
    _, showcase = planned(tmp_path, 3, pages={"P": ("C1", "c1")})
    assert titles(showcase) == [["c1"]]
    assert showcase.left_out == (
        "On no page by the configuration: c0, c2. The list on the right has their values too.",
    )


@pytest.mark.parametrize("columns", [2, 66])
def test_the_first_page_says_what_is_left_out(tmp_path, columns):
    release, showcase = planned(tmp_path, columns)
    first, *others = visuals_of(parts_of(template_of(release))["Report/Layout"])
    words = [paragraphs(each["singleVisual"]) for each in first]
    for sentence in showcase.left_out or ("Nothing that the configuration asks for was left out.",):
        assert any(sentence in said for said in words)
    assert set(about(TabularModel(release.inputs, showcase))) <= {line for said in words for line in said}
    assert not any(
        "left out" in line for page in others for each in page for line in paragraphs(each["singleVisual"])
    )


def paragraphs(visual) -> list[str]:
    if visual["visualType"] != "textbox":
        return []
    found = visual["objects"]["general"][0]["properties"]["paragraphs"]
    return [run["value"] for each in found for run in each["textRuns"]]


def test_the_title_stands_on_every_page(tmp_path):
    release, _ = planned(tmp_path, 20, title="Who lives where")
    pages = visuals_of(parts_of(template_of(release))["Report/Layout"])
    assert [paragraphs(page[0]["singleVisual"])[0] for page in pages] == ["Who lives where"] * 2


def test_a_column_of_several_items_has_one_chart_of_all_of_them(tmp_path):
    schema = Schema((Column("langs", delimiter="|", max_items=2), Column("town")))
    people = [{"langs": frozenset({"fr", "de"}), "town": "Lyon"}]
    release = made_release(tmp_path, schema, people, people)
    showcase = plan_showcase(release.inputs)
    assert titles(showcase) == [["langs", "town"]]
    assert [(header.name, header.place) for header in showcase.columns] == [("town", 3)]
    assert [chart.column for chart in showcase.groups] == ["langs"]
