"""What a fitted release measures, as its configuration says it: every key, what is refused, what names it."""

import dataclasses
import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.configuration.synthesis import AggregateSeeded, Fitted
from tasks.core.dp.digest import configuration_digest
from tasks.core.dp.workload.parameters import LongerSets, Shares, Step, WorkloadParameters, default_steps
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Column, Schema
from tasks.plan.describe import describe
from tasks.public.bundles import configured_digest
from tests.configuration.files import PLAIN, PRIVATE, problems
from tests.flows import pipeline

ANONYMOUS = PLAIN | {"synthesis_mode": "fitted"}
#: Places of the columns in the schema of `pipeline`'s table, whose first column says whose the row is.
TOWN, AGE, SEX, SERVICES, WORK = range(5)


def synthesis(**changes: Any) -> Fitted:
    found = from_flat(PRIVATE | changes).synthesis
    assert isinstance(found, Fitted)
    return found


@pytest.fixture
def table(tmp_path):
    """The folder of a table of one row: nothing here looks at rows."""
    pipeline.write(tmp_path / "people.csv", pipeline.rows(1))
    return tmp_path


def drawn(folder: Path, **changes: Any) -> WorkloadParameters:
    """The parameters of the draw that a configuration of `pipeline`'s table asks for."""
    found = describe(from_flat(pipeline.flat(folder, **changes))).parameters
    assert isinstance(found, WorkloadParameters)
    return found


def refused(folder: Path, **changes: Any) -> str:
    with pytest.raises(ParameterError) as found:
        drawn(folder, **changes)
    return str(found.value)


def digest(folder: Path, **changes: Any) -> str:
    configuration = from_flat(pipeline.flat(folder, **changes))
    return configured_digest(configuration, describe(configuration).schema)


def test_every_key_has_its_default_and_its_place():
    assert synthesis() == Fitted() == synthesis(synthesis_mode="Fitted")
    default = Fitted()
    assert (default.workload, default.allocation, default.target) == ("auto", "effective", None)
    assert default.max_values == 1000
    found = synthesis(
        workload=[["a", "b"], ["c", "d", "e"]],
        allocation="size",
        target="a",
        max_values=7,
        fitted_target_number_of_records=0,
        random_seed=5,
    )
    assert found.workload == (("a", "b"), ("c", "d", "e"))
    assert (found.allocation, found.target, found.max_values) == ("size", "a", 7)
    assert found.target_number_of_records == 0
    assert found.random_seed is not None and found.random_seed.get_secret_value() == 5


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "workload",
            "triples",
            " must be 'auto', 'pairs' or 'pairs+target' or a list of lists of columns, not 'triples'.",
        ),
        ("workload", 3, " must be a list of lists of columns, not 3."),
        ("workload", ["a", "b"], " must be a list of lists of columns."),
        (
            "workload",
            [],
            ' must name at least one set of columns: write "auto" or "pairs", or sets such as '
            '[["age", "town"]].',
        ),
        ("workload", [["a"]], ": each list must have at least 2 item(s)."),
        ("workload", [["a", "b", "c", "d", "e"]], ": each list must have at most 4 item(s)."),
        ("allocation", "best", " must be 'effective', 'size' or 'equal', not 'best'."),
        ("target", ["a"], " must be text, not a list."),
        ("max_values", 0, " must be at least 1, not 0."),
        ("max_values", 100_001, " must be at most 100000, not 100001."),
        ("fitted_target_number_of_records", -1, " must be at least 0, not -1."),
    ],
)
def test_each_fault_of_a_key_is_one_sentence(key, value, words):
    assert problems(PRIVATE | {key: value}) == key + words


INSTEAD = (
    " can't be used with synthesis_mode fitted (the default): leave it out, or write "
    '"synthesis_mode": "aggregate_seeded".'
)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"privacy": {"accountant": "zcdp"}}, "privacy.accountant zcdp"),
        ({"privacy": {"contribution": "profile"}}, "privacy.contribution profile"),
        ({"privacy": {"contribution": "percentile"}}, "privacy.contribution percentile"),
        ({"delta": 1e-6, "delta_factor": 0.5}, "delta_factor"),
        ({"privacy": {"thresholds": "minimize"}}, "privacy.thresholds"),
    ],
)
@pytest.mark.parametrize("named", [{}, {"synthesis_mode": "fitted"}])
def test_what_the_theorem_does_not_cover_is_refused_and_can_be_had_by_lengths(named, changes, key):
    assert problems(PRIVATE | named | changes) == key + INSTEAD
    by_lengths = PRIVATE | changes | {"synthesis_mode": "aggregate_seeded"}
    if changes == {"privacy": {"contribution": "percentile"}}:
        by_lengths["privacy"] = {"contribution": "percentile", "accountant": "zcdp"}
    assert isinstance(from_flat(by_lengths).synthesis, AggregateSeeded)


def test_keys_that_only_lengths_read_are_named_as_unused():
    unused = {
        "sigma_proportions": [1, 1],
        "percentile_percentage": 99,
        "percentile_epsilon_proportion": 0.01,
        "noise_threshold_type": "adaptive",
        "noise_threshold_values": {"2": 0.1},
        "use_synthetic_counts": True,
        "weight_selection_percentile": 101,  # out of its range, but nobody reads it
        "aggregate_seeded_counts_scale_factor": 1.0,
        "aggregate_seeded_target_number_of_records": 100,
    }
    assert set(from_flat(PRIVATE | unused).unused_keys) == set(unused)


def test_under_k_anonymity_nothing_is_measured_by_a_workload():
    asked = {"workload": "pairs", "allocation": "size", "target": "age", "max_values": 3}
    found = from_flat(ANONYMOUS | asked | {"fitted_target_number_of_records": 9})
    assert found.synthesis == Fitted(target_number_of_records=9)
    assert set(found.unused_keys) == set(asked)
    assert from_flat({"sensitive_microdata_path": "a.csv", "workload": "pairs"}).unused_keys == ("workload",)


def test_words_and_lists_become_tables_and_shares(table):
    first, *others = default_steps(all_declared=False, columns=5, tables=11)
    auto = drawn(table)
    assert (auto.tables, auto.shares, auto.longer) == (None, first.shares, first.longer)
    assert auto.steps == tuple(others) and auto.steps[-1].longer.lengths == (3, 4)
    plain = tuple(step for step in others if not step.longer.lengths)
    pairs = drawn(table, workload="pairs")
    assert pairs.tables is not None and len(pairs.tables) == 11  # ten, and items with items
    assert (SERVICES, SERVICES) in pairs.tables
    targeted = drawn(table, workload="pairs+target", target="sex")
    assert {step.longer.holding for step in targeted.steps if step.longer.lengths} == {SEX}
    assert [step.shares for step in targeted.steps] == [step.shares for step in others]
    assert (targeted.tables, targeted.shares, targeted.target) == (pairs.tables, first.shares, SEX)
    listed = drawn(table, workload=[["work", "town"], ["age", "sex", "services"], ["services", "services"]])
    assert listed.tables == ((TOWN, WORK), (SERVICES, SERVICES), (AGE, SEX, SERVICES))
    for found in (pairs, listed):
        assert (found.shares, found.longer) == (first.shares, LongerSets())
        assert all(sum(dataclasses.astuple(step.shares)) == 1 for step in found.steps)
    assert pairs.steps == plain


def test_the_share_of_the_count_can_be_chosen_and_the_rest_keeps_its_ratios(table):
    usual, chosen = (
        drawn(table, **asked).shares for asked in ({}, {"number_of_records_epsilon_proportion": 0.2})
    )
    assert chosen.count == Fraction(1, 5) and sum(dataclasses.astuple(chosen)) == 1
    rest = [(part, share) for part, share in zip(*map(dataclasses.astuple, (usual, chosen)), strict=True)]
    assert len({share / part for part, share in rest[1:] if part}) == 1


def test_other_settings_of_the_draw(table):
    found = drawn(
        table,
        allocation="equal",
        max_values=12,
        record_limit=300,
        fitted_target_number_of_records=9,
        privacy={"threshold_delta_share": 0.3},
    )
    assert (found.allocation, found.max_values, found.record_limit) == ("equal", 12, 300)
    assert found.threshold_delta_share == Fraction(3, 10)
    assert (found.target, found.target_factor, found.filled) == (None, 3.0, ())


def test_columns_are_named_as_they_are_matched_elsewhere(table):
    assert drawn(table, workload=[[" TOWN", "Sex"]], target="AGE").tables == ((TOWN, SEX),)


def test_columns_that_are_not_used_are_refused_by_name(table):
    meant = "workload must name columns that are used, and 'towm' is not one: did you mean town?"
    assert refused(table, workload=[["towm", "sex"]]) == meant
    assert refused(table, target="person").startswith("target must name columns that are used, and 'person'")
    assert refused(table, target="").startswith("target must name columns that are used, and ''")
    columns = ["town", "sex", "services"]
    assert "'age' is not one" in refused(
        table, use_columns=columns, bins={}, sensitive_zeros=[], target="age"
    )


def test_a_column_stands_twice_only_where_a_record_holds_several_items(table):
    assert refused(table, workload=[["town", "town"]]) == (
        "workload: 'town' stands twice in one set; a record holds one of its values: name it once."
    )
    assert "stand twice in a set, and then the set is just that" in refused(
        table, workload=[["services", "services", "sex"]]
    )


def test_pairs_with_a_target_need_a_target(table):
    assert refused(table, workload="pairs+target") == (
        "workload pairs+target needs the target: name the column whose prediction matters."
    )


@pytest.mark.parametrize(("key", "value"), [("noise_epsilon", 101.0), ("delta", 2e-3)])
def test_a_claim_that_promises_nothing_is_refused(key, value, table):
    assert "must be" in refused(table, **{key: value})


def test_w20_what_is_asked_of_open_columns_names_no_release_without_one(table):
    declared: dict[str, Any] = {"use_columns": ["age", "sex"], "multi_value_columns": {}, "max_items": {}}
    plain = digest(table, **declared)
    assert digest(table, **declared, max_values=999) == plain
    assert digest(table, **declared, privacy={"threshold_delta_share": 0.2}) == plain


def test_w20_pairs_and_the_list_of_all_pairs_are_one_release(table):
    names = ["town", "age", "sex", "services", "work"]
    listed = [*map(list, itertools.combinations(names, 2)), ["services", "services"]]
    assert digest(table, workload=listed) == digest(table, workload="pairs")
    assert digest(table, workload="auto") != digest(table, workload="pairs")


def test_w20_order_and_repetition_of_a_listed_workload_do_not_matter(table):
    listed = [["town", "sex"], ["age", "work", "sex"], ["services", "services"]]
    again = [["sex", "work", "age"], ["services", "services"], ["SEX", "town"], ["town", "sex"]]
    assert digest(table, workload=listed) == digest(table, workload=again)
    every = [["town", "sex"], ["town", "age"]]
    assert digest(table, workload=every) != digest(table, workload=every[:1])


#: A column that a rule for what is outside its domain, or for empty cells, is about.
SCHEMA = Schema((Column("sex", domain=("f", "m", "x"), other="x"), Column("job")), "person")
SHARES = Shares(*(Fraction(part, 100) for part in (1, 5, 60, 3, 15)))
STEP = Step(5.0, SHARES, LongerSets((3,), 7))
PARAMETERS = WorkloadParameters(2.0, 1e-6, SHARES, longer=LongerSets((3,)), steps=(STEP,))
#: A change of every field; a field that is added fails the test below until it is entered here.
CHANGED: dict[type, dict[str, object]] = {
    WorkloadParameters: {
        "epsilon": 2.5,
        "delta": 1e-7,
        "shares": Shares(Fraction(1, 10), Fraction(1, 10), Fraction(8, 10)),
        "tables": ((0, 1),),
        "threshold_delta_share": Fraction(1, 5),
        "allocation": "size",
        "target": 0,
        "target_factor": 2.0,
        "record_limit": 10,
        "filled": (0,),
        "max_values": 10,
        "most_cells": 10,
        "most_cells_together": 10,
        "most_pairs": 10,
        "pair_scores": Fraction(1, 10),
        "longer": LongerSets(),
        "steps": (Step(3.0, SHARES),),
    },
    Step: {
        "signal": 4.0,
        "shares": Shares(Fraction(1, 100), Fraction(1, 2), Fraction(1, 3)),
        "longer": LongerSets(),
    },
    Shares: {name: Fraction(1, 1000) for name in ("count", "values", "tables", "scores", "chosen")},
    LongerSets: {"lengths": (3, 4), "most": 2, "most_cells": 9, "most_candidates": 9, "holding": 1},
}


def test_w20_every_field_of_the_parameters_is_in_the_digest():
    for kind, changes in CHANGED.items():
        assert {field.name for field in dataclasses.fields(kind)} == set(changes), kind

    def changes(of: Any) -> list[Any]:
        return [dataclasses.replace(of, **{name: value}) for name, value in CHANGED[type(of)].items()]

    changed = [
        *changes(PARAMETERS),
        *(dataclasses.replace(PARAMETERS, shares=shares) for shares in changes(PARAMETERS.shares)),
        *(dataclasses.replace(PARAMETERS, longer=longer) for longer in changes(PARAMETERS.longer)),
        *(dataclasses.replace(PARAMETERS, steps=(step,)) for step in changes(STEP)),
    ]
    digests = [configuration_digest(SCHEMA, each.as_settings()) for each in (PARAMETERS, *changed)]
    assert len(set(digests)) == len(digests)


def test_w20_rules_for_what_is_outside_a_domain_are_in_the_digest():
    plain = configuration_digest(SCHEMA, PARAMETERS.as_settings())
    sex, job = SCHEMA.columns
    for other in (
        dataclasses.replace(sex, other=None),
        dataclasses.replace(sex, other="m"),
        dataclasses.replace(sex, domain=("f", "m", "x", "y")),
    ):
        schema = dataclasses.replace(SCHEMA, columns=(other, job))
        assert configuration_digest(schema, PARAMETERS.as_settings()) != plain


def test_w20_what_is_written_down_is_read_back_with_the_same_digest(table):
    asked = {"workload": [["town", "sex"]], "target": "sex"}
    configuration = from_flat(pipeline.flat(table, **asked))
    again = type(configuration).model_validate(configuration.model_dump(mode="json"))
    assert again == configuration and digest(table, **asked) == configured_digest(
        again, describe(again).schema
    )
