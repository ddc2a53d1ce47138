"""What Power BI would show: a template's own queries and measures, run on the files of a release."""

import itertools
import os
from pathlib import Path

import numpy as np
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
    opened,
    template_of,
)

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


def of_people(folder: Path, **changes: object) -> MadeRelease:
    return made_release(folder, SCHEMA, PEOPLE, OTHERS, **changes)


@pytest.mark.parametrize("has_ranges", [False, True])
def test_what_is_shown_of_every_selection_is_what_the_files_hold(tmp_path, has_ranges):
    release = of_people(tmp_path, has_ranges=has_ranges)
    shown = opened(release, tmp_path)
    assert shown.model.value("Estimated", {}) == len(PEOPLE)
    assert shown.counts({}) == release.reported[frozenset()]
    # A value of no synthetic record has no bar to click; the list on the right has it.
    attributes = [text for text in shown.texts if estimated(release, {text})]
    triples = list(itertools.combinations(attributes, 3))
    some = np.random.default_rng(1).choice(len(triples), 60, replace=False)
    selections = [*itertools.combinations(attributes, 1), *itertools.combinations(attributes, 2)]
    for chosen in [*selections, *(triples[place] for place in some)]:
        filters = shown.select(*chosen)
        if len(filters) == len(chosen):  # two bars of one chart select one or the other
            assert shown.model.value("Estimated", filters) == estimated(release, chosen)
            assert shown.counts(filters) == release.reported.get(frozenset(chosen), NOTHING)


def test_the_list_on_the_right_has_every_reported_attribute_under_any_selection(tmp_path):
    release = of_people(tmp_path)
    shown = opened(release, tmp_path)
    listed = shown.model.tables["Compare"]
    assert {"nn", "only reported"} <= {row["Label"] for row in listed}
    for row in listed:
        text = shown.texts[row["Number"] - 1]
        if text.startswith("sex:") and text != "sex:f":
            continue  # no record has two of one column
        filters = {("Compare", "Column"): [row["Column"]], ("Compare", "Label"): [row["Label"]]}
        filters |= shown.select("sex:f")
        assert shown.model.value("Estimated", filters) == estimated(release, {"sex:f", text})
        assert shown.counts(filters) == release.reported.get(frozenset({"sex:f", text}), NOTHING)


def test_several_values_of_a_column_and_a_missing_value_have_no_actual_count(tmp_path):
    release = of_people(tmp_path)
    shown = opened(release, tmp_path)
    one, other = (shown.select(each) for each in ("sex:f", "sex:m"))
    ((column, first),) = one.items()
    both = {column: [*first, *other[column]]}
    assert (shown.model.value("Estimated", both), shown.counts(both)) == (4, NOTHING)
    # Others may leave one of them alone; they are still both selected.
    assert shown.counts(both | shown.select("Sex:F")) == NOTHING
    missing = {column: [None]}
    assert (shown.model.value("Estimated", missing), shown.counts(missing)) == (1, NOTHING)


def test_values_that_power_bi_takes_for_one_are_told_apart_by_their_number(tmp_path):
    shown = opened(of_people(tmp_path), tmp_path)
    labels = {text: label for text, (_, _, label) in shown.bars.items()}
    assert labels["sex:m"] == "m" and labels["langs_de:1"] == "de"
    for text in ("sex:f", "sex:F", "langs_fr:1", "langs_FR:1", "Straße 東京:ß", "Straße 東京:ss"):
        assert labels[text].endswith(f" (#{shown.texts.index(text) + 1})")


def test_texts_that_power_bi_merges_after_all_have_no_actual_count_and_never_a_wrong_one(tmp_path):
    """An accent may be a part of its letter or follow it; that is not among what the queries look for."""
    schema = Schema((Column("grade"), Column("sex")))
    people = [{"grade": "é", "sex": "f"}, {"grade": "e\u0301", "sex": "f"}, {"grade": "B", "sex": "m"}]
    model = load(template_of(made_release(tmp_path, schema, people, people)), str(tmp_path), "p")
    merged = {("Records", "grade"): ["é"]}
    assert (model.value("Estimated", merged), model.value("Actual", merged)) == (2, None)
    assert model.value("Actual", {("Records", "grade"): ["B"]}) == 2


def test_a_chart_of_chosen_attributes_selects_records(tmp_path):
    release = of_people(tmp_path, visuals={"Chosen": ("sex:f", "sex:F", "langs_fr:1", "no:such")})
    shown = opened(release, tmp_path)
    labels = {row["Name"]: shown.texts[row["Number"] - 1] for row in shown.model.tables["Chosen"]}
    assert set(labels.values()) == {"sex:f", "sex:F", "langs_fr:1"}
    for label, text in labels.items():
        for more in ((), ("Record:1",), (text,)):  # the same attribute in two charts is one
            filters = {("Chosen", "Name"): [label]} | shown.select(*more)
            assert shown.model.value("Estimated", filters) == estimated(release, {text, *more})
            assert shown.counts(filters) == release.reported.get(frozenset({text, *more}), NOTHING)


def test_under_differential_privacy_by_lengths_no_interval_is_shown(tmp_path):
    shown = opened(of_people(tmp_path, statement=PRIVATE), tmp_path)
    assert shown.counts(shown.select("sex:m")) == (2, None, None)


@pytest.mark.parametrize("typed", ["{}", f"{{}}{os.sep}", '"{}"', " {} "])
def test_the_folder_may_be_typed_as_explorer_copies_it(tmp_path, typed):
    template = template_of(of_people(tmp_path))
    assert load(template, typed.format(tmp_path), " p").value("Estimated", {}) == len(PEOPLE)


def test_the_records_of_another_release_are_refused_in_words(tmp_path):
    template, other = template_of(of_people(tmp_path)), tmp_path / "other"
    other.mkdir()
    made_release(other, Schema((Column("sex"),)), [{"sex": "f"}], [{"sex": "f"}])
    with pytest.raises(MError, match="Open the template that lies in the same release"):
        load(template, str(other), "p")


def test_a_release_without_a_record_opens(tmp_path):
    shown = opened(made_release(tmp_path, Schema((Column("sex"),)), [], [], statement=PRIVATE), tmp_path)
    assert shown.model.value("Estimated", {}) is None
    assert shown.counts({}) == (0, None, None)


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
    people = [
        {name: values[pick % len(values)] for name, pick in zip(names, row, strict=False) if pick >= 0}
        for row in picks
    ]
    release = made_release(tmp_path, Schema(tuple(map(Column, names))), people, people)
    shown = opened(release, tmp_path)
    labels = [(column, compared(label)) for _, column, label in shown.bars.values()]
    for pair in itertools.combinations(shown.texts, 2):
        filters = shown.select(*pair)
        if len(filters) == 2:
            found = shown.counts(filters)
            # Labels that stay alike in spite of their numbers have no count, and never a wrong one.
            are_merged = len(set(labels)) < len(labels)
            assert found == release.reported.get(frozenset(pair), NOTHING) or (
                found == NOTHING and are_merged
            )
