"""Which charts stand on which page: SDS's keys, and what the release does not hold."""

from tasks.core.navigation.inputs import Naming
from tasks.core.navigation.payload.columns import (
    ShownColumn,
    describe_columns,
    describe_unreleased_values,
    layout,
)

COLUMNS = (
    ShownColumn("Sex", "category", ("f", "m"), is_open=False),
    ShownColumn("services", "items", ("bus", "gym:pool"), is_open=True),
    ShownColumn("age", "bins", ("<18", "[18,65]"), is_open=False),
)


def test_what_values_mean_stands_beside_them_in_their_order():
    columns = [
        ShownColumn("Sex", "category", ("1", "2", "9"), is_open=False),
        ShownColumn("b", "category", ("x",), True),
    ]
    told = describe_columns(columns, Naming(value_names={"sex": {"2": "female", "1": "male", "7": "nobody"}}))
    assert told[0]["names"] == ["male", "female", ""] and "names" not in told[1]


def test_ages_and_descriptions_are_told_of_their_columns_alone():
    naming = Naming(descriptions={"SEX": "as registered"}, ages=frozenset({"age"}))
    sex, services, age = describe_columns(COLUMNS, naming)
    assert (sex["about"], age["age"]) == ("as registered", True)
    assert not {"about", "age"} & services.keys() and "age" not in sex and "about" not in age


def pages(**settings: object) -> list[tuple[str, list[str]]]:
    found = layout(COLUMNS, Naming(**settings))  # type: ignore[arg-type]
    return [(page["name"], [each["name"] for each in page["visuals"]]) for page in found["pages"]]


def test_without_pages_all_is_on_one_and_visuals_come_first():
    assert pages() == [("", ["Sex", "services", "age"])]
    assert pages(visuals={"Men": ("Sex:m",)}) == [("", ["Men", "Sex", "services", "age"])]


def test_configured_pages_stand_in_order_and_the_rest_has_one_of_its_own():
    found = pages(visuals={"Men": ("Sex:m",)}, pages={"Who": ("AGE", "Men"), "What": ("services",)})
    assert found == [("Who", ["age", "Men"]), ("What", ["services"]), ("Other columns", ["Sex"])]


def test_a_visual_stands_before_a_column_of_its_name():
    found = layout(COLUMNS, Naming(visuals={"age": ("age:<18",)}, pages={"p": ("age",)}))
    assert found["pages"][0]["visuals"] == [{"name": "age", "attributes": [4]}]


def test_attributes_are_named_as_sds_names_them_and_those_not_released_are_told():
    texts = ("sex:f", "services_bus:1", "services:gym:pool", "Sex:x", "services_tram:1")
    found = layout(COLUMNS, Naming(visuals={"Some": texts}))
    assert found["pages"][0]["visuals"][0] == {
        "name": "Some",
        "attributes": [0, 2, 3],
        "unreleased": ["Sex:x", "services_tram:1"],
    }
    (told,) = describe_unreleased_values(found)
    assert told.startswith("report_visuals: 'Some' names values that the release does not hold")
    assert "Sex:x" not in told and "tram" not in told
    assert describe_unreleased_values(layout(COLUMNS, Naming())) == []
    twice = {"pages": found["pages"] * 3}
    assert describe_unreleased_values(twice) == [told], "once, on however many pages"
