"""What Power BI would show: a template's own queries and measures, run on the files of a release."""

import csv
import itertools
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.core.records.columns import Column, Schema
from tests.oracles.dax import compared
from tests.oracles.power_query import MError
from tests.oracles.showcases import (
    PRIVATE,
    MadeRelease,
    estimated,
    hostile_schema,
    load,
    made_release,
    parts_of,
    template_of,
)

COUNTS = ("Actual", "At least", "At most")
NOTHING = (None, None, None)
SCHEMA = hostile_schema()
ODD = SCHEMA.columns[3].name
PEOPLE = [
    {"sex": "f", "Sex": "F", "Record": "1", ODD: 'a "quoted" value', "langs": frozenset({"fr", "de"})},
    {"sex": "m", "Sex": "f", "Record": "2", ODD: "tab\tand\nline", "langs": frozenset({"fr"})},
    {"sex": "F", "Record": "'", ODD: "<semicolon><colon>", "Straße 東京": "ß", "langs": frozenset()},
    {"sex": "f", "Sex": "F", ODD: "#(tab)", "Straße 東京": "ss", "langs": frozenset({"de", "FR"})},
    {},
    {"sex": "f", "Record": "007", ODD: "1.50", "Straße 東京": "NA", "langs": frozenset({"fr", "ar"})},
]
OTHERS = [*PEOPLE[:3], {"sex": "x", "Sex": "only reported", "langs": frozenset({"nn"})}]


def select(release: MadeRelease, model, attribute: str) -> dict[tuple[str, str], list[str]]:
    """The filter that a click on an attribute's bar makes."""
    (row,) = [row for row in shown(release, model) if row["text"] == attribute]
    return {(row["table"], row["column"]): [row["label"]]}


def shown(release: MadeRelease, model) -> list[dict[str, str]]:
    """Every bar of the columns' charts: the attribute, where it is, and what stands beside it."""
    layout = {header.place: header for header in release.inputs.headers}
    names = {}
    for table in parts_of(template_of(release))["DataModelSchema"]["model"]["tables"]:
        if table["name"] == "Records":
            names = {each["sourceColumn"]: each["name"] for each in table["columns"]}
    bars = []
    for row in model.tables["Attribute values"]:
        header = layout[row["Place"]]
        if header.item is None:
            table, column = "Records", names[f"Column{header.place}"]
            value = text_of(release, row["Number"], model).partition(":")[2]
            label = row["Label"]
            assert label == value or label == f"{value} (#{row['Number']})"
        else:
            table, column, label = "langs", "Name", f"{row['Label']}"
        bars.append(
            {
                "text": text_of(release, row["Number"], model),
                "table": table,
                "column": column,
                "label": label,
            }
        )
    return bars


ORDER: dict[int, list[str]] = {}


def text_of(release: MadeRelease, number: int, model) -> str:
    """The attribute that has a number: its single count stands at that place in the file."""
    return ORDER[id(model)][number - 1]


def opened(release: MadeRelease, folder):
    """The model, with the order of the attributes in the file of counts."""
    model = load(template_of(release), str(folder), "p")
    lines = csv_lines(folder / "p_reportable_aggregates.tsv")
    ORDER[id(model)] = [line[0] for line in lines[2:] if ";" not in line[0]]
    return model


def csv_lines(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))


@pytest.mark.parametrize("has_ranges", [False, True])
def test_what_is_shown_of_every_selection_is_what_the_files_hold(tmp_path, has_ranges):
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS, has_ranges=has_ranges)
    model = opened(release, tmp_path)
    # A value of no synthetic record has no bar to click; the list on the right has it.
    attributes = [row["text"] for row in shown(release, model) if estimated(release, {row["text"]})]
    headers = {text: text.partition(":")[0] for text in attributes}
    assert model.value("Estimated", {}) == len(PEOPLE)
    assert tuple(model.value(name, {}) for name in COUNTS) == release.reported[frozenset()]
    for number in (1, 2, 3):
        for chosen in itertools.combinations(attributes, number):
            tables = [tuple(select(release, model, each)) for each in chosen]
            if len(set(tables)) < number or len({headers[each] for each in chosen}) < number:
                continue  # two bars of one chart select one or the other
            filters = {k: v for each in chosen for k, v in select(release, model, each).items()}
            assert model.value("Estimated", filters) == estimated(release, chosen)
            found = tuple(model.value(name, filters) for name in COUNTS)
            assert found == release.reported.get(frozenset(chosen), NOTHING)


def test_the_list_on_the_right_has_every_reported_attribute_under_any_selection(tmp_path):
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS)
    model = opened(release, tmp_path)
    chosen = select(release, model, "sex:f")
    for row in model.tables["Compare"]:
        text = text_of(release, row["Number"], model)
        if text.startswith("sex:") and text != "sex:f":
            continue
        filters = chosen | {("Compare", "Column"): [row["Column"]], ("Compare", "Label"): [row["Label"]]}
        assert model.value("Estimated", filters) == estimated(release, {"sex:f", text})
        assert model.value("Actual", filters) == release.reported.get(frozenset({"sex:f", text}), NOTHING)[0]
    assert {"nn", "only reported"} <= {row["Label"] for row in model.tables["Compare"]}


def test_several_values_of_a_column_and_a_missing_value_have_no_actual_count(tmp_path):
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS)
    model = opened(release, tmp_path)
    one, other = (select(release, model, each) for each in ("sex:f", "sex:m"))
    ((column, first),) = one.items()
    both = {column: [*first, *other[column]]}
    assert (model.value("Estimated", both), model.value("Actual", both)) == (4, None)
    # A selection that other filters leave one value of is still one of both.
    both |= select(release, model, "Sex:F")
    assert model.value("Actual", both) is None
    missing = {column: [None]}
    assert (model.value("Estimated", missing), model.value("Actual", missing)) == (1, None)


def test_values_that_power_bi_takes_for_one_are_told_apart_by_their_number(tmp_path):
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS)
    model = opened(release, tmp_path)
    labels = {row["text"]: row["label"] for row in shown(release, model)}
    assert labels["sex:m"] == "m"
    twins = {labels["sex:f"], labels["sex:F"]}
    assert all("(#" in each for each in twins) and len(twins) == 2
    assert {labels["langs_fr:1"], labels["langs_FR:1"]}.isdisjoint({"fr", "FR"})
    assert labels["langs_de:1"] == "de"


def test_texts_that_power_bi_merges_after_all_have_no_actual_count_and_never_a_wrong_one(tmp_path):
    """An accent may be a part of its letter or follow it; that is not among what the queries look for."""
    schema = Schema((Column("grade"), Column("sex")))
    people = [{"grade": "é", "sex": "f"}, {"grade": "e\u0301", "sex": "f"}, {"grade": "B", "sex": "m"}]
    release = made_release(tmp_path, schema, people, people)
    model = load(template_of(release), str(tmp_path), "p")
    merged = {("Records", "grade"): ["é"]}
    assert (model.value("Estimated", merged), model.value("Actual", merged)) == (2, None)
    assert model.value("Actual", {("Records", "grade"): ["B"]}) == 2


def test_a_chart_of_chosen_attributes_selects_records(tmp_path):
    visuals = {"Chosen": ("sex:f", "sex:F", "langs_fr:1", "no:such")}
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS, visuals=visuals)
    model = opened(release, tmp_path)
    labels = {row["Name"]: text_of(release, row["Number"], model) for row in model.tables["Chosen"]}
    assert set(labels.values()) == {"sex:f", "sex:F", "langs_fr:1"}
    for label, text in labels.items():
        chosen = {("Chosen", "Name"): [label]}
        assert model.value("Estimated", chosen) == estimated(release, {text})
        assert model.value("Actual", chosen) == release.reported[frozenset({text})][0]
        with_record = chosen | select(release, model, "Record:1")
        assert model.value("Estimated", with_record) == estimated(release, {text, "Record:1"})
        wanted = release.reported.get(frozenset({text, "Record:1"}), NOTHING)[0]
        assert model.value("Actual", with_record) == wanted
    # The same attribute in two charts is one.
    twice = select(release, model, "sex:f")
    twice |= {("Chosen", "Name"): [label for label, text in labels.items() if text == "sex:f"]}
    assert model.value("Actual", twice) == release.reported[frozenset({"sex:f"})][0]


def test_under_differential_privacy_by_lengths_no_interval_is_shown(tmp_path):
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS, statement=PRIVATE)
    model = opened(release, tmp_path)
    chosen = select(release, model, "sex:m")
    assert tuple(model.value(name, chosen) for name in COUNTS) == (2, None, None)


@pytest.mark.parametrize("ending", ["", os.sep, '"'])
def test_the_folder_may_be_typed_as_explorer_copies_it(tmp_path, ending):
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS)
    folder = f'"{tmp_path}"' if ending == '"' else f"{tmp_path}{ending}"
    assert load(template_of(release), folder, " p").value("Estimated", {}) == len(PEOPLE)


def test_the_records_of_another_release_are_refused_in_words(tmp_path):
    release = made_release(tmp_path, SCHEMA, PEOPLE, OTHERS)
    other = tmp_path / "other"
    other.mkdir()
    made_release(other, Schema((Column("sex"),)), [{"sex": "f"}], [{"sex": "f"}])
    with pytest.raises(MError, match="Open the template that lies in the same release"):
        load(template_of(release), str(other), "p")


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Zs", "Zl", "Zp"), exclude_characters=";:"),
    min_size=1,
    max_size=5,
).filter(lambda text: text == text.strip() and text != "0")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(TEXTS, min_size=2, max_size=3, unique=True),
    values=st.lists(TEXTS, min_size=1, max_size=4, unique=True),
    picks=st.lists(st.tuples(*[st.integers(-1, 3)] * 3), min_size=1, max_size=8),
)
def test_any_names_and_values_are_found_again(tmp_path, names, values, picks):
    schema = Schema(tuple(map(Column, names)))
    people = [
        {name: values[pick % len(values)] for name, pick in zip(names, row, strict=False) if pick >= 0}
        for row in picks
    ]
    release = made_release(tmp_path, schema, people, people)
    model = opened(release, tmp_path)
    bars = shown(release, model)
    for one, other in itertools.combinations(bars, 2):
        if one["column"] == other["column"]:
            continue
        filters = {(bar["table"], bar["column"]): [bar["label"]] for bar in (one, other)}
        found = model.value("Actual", filters)
        wanted = release.reported.get(frozenset({one["text"], other["text"]}), NOTHING)[0]
        # Labels that stay alike in spite of their numbers have no count, and never a wrong one.
        assert found == wanted or (found is None and merges(bars))


def merges(bars) -> bool:
    return len({(bar["column"], compared(bar["label"])) for bar in bars}) < len(bars)
