"""`privacy.json` of a fitted release worked out again from itself alone, for a grid of options; its page."""

import dataclasses
import itertools
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.dp.budget import nominal_charge
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.workload.draw import draw_workload
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.parameters import LongerSets, Shares, Step, WorkloadParameters
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.evaluation.fit import evaluate_fit
from tasks.core.ledger.ledger import Ledger
from tasks.core.ledger.names import ReleaseName
from tasks.core.navigation.inputs import ReportInputs
from tasks.core.navigation.report import render_page
from tasks.core.records.table import RecordTable
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.core.statement.released_json import check_released_json
from tasks.core.synthesis.estimates import ranges
from tasks.core.synthesis.fitted import draw_fitted
from tasks.sensitive.hand_over import account_facts
from tests.oracles.pages import check
from tests.oracles.payloads import UNMEASURED, Decoded, decoded
from tests.oracles.stated import (
    SCHEMAS,
    lowered_ledger,
    records_of,
    require_wrong_numbers_are_noticed,
    stated_after_charge,
)
from tests.oracles.statement import differences
from tests.oracles.workload_statement import WorkloadStatement
from tests.oracles.workloads import default_shares

HUNDREDTHS = tuple(Fraction(part, 100) for part in (1, 19, 50, 10, 20))
NAMED = Shares(*(Fraction(part, 100) for part in (2, 8, 90)))
STEPS = tuple(
    Shares(Fraction(1, 100), Fraction(part, 100), Fraction(99 - part, 100)) for part in (60, 40, 20)
)
#: Settings, taken by turns; what a schema has no columns for is left out.
MORE: tuple[dict[str, Any], ...] = (
    {},
    {"tables": ((0, 1),), "shares": NAMED, "longer": LongerSets()},
    {"tables": (), "shares": NAMED, "longer": LongerSets()},
    {"allocation": "equal", "target": 0, "threshold_delta_share": Fraction(1, 3)},
    {"allocation": "size", "target": 0, "target_factor": 2.5, "shares": NAMED, "longer": LongerSets()},
    {"record_limit": 150},
    {"most_pairs": 2, "pair_scores": Fraction(1, 4), "max_values": 2},
    {"longer": LongerSets((3,), most=2), "shares": Shares(*HUNDREDTHS), "target": 1, "target_factor": 2.0},
    {"longer": LongerSets((3, 4), most=1, holding=1), "shares": Shares(*HUNDREDTHS), "delta": 1e-4},
    {"steps": tuple(Step(30.0 * 3**place, step) for place, step in enumerate(STEPS)), "longer": LongerSets()},
)


def grid() -> Iterator[Any]:
    """All of epsilon, schema and settings; subjects and rows by turns."""
    for number, (epsilon, schema, more) in enumerate(
        itertools.product((0.5, 3.0, 8.0), SCHEMAS, range(len(MORE)))
    ):
        shares, longer = default_shares(epsilon)
        settings = {"delta": 1e-5, "shares": shares, "longer": longer} | MORE[more]
        name = f"{epsilon:g}-{schema}-{more}".replace(" ", "_")
        marks = [pytest.mark.slow] if (number + 2 * (number // len(MORE))) % 5 else []
        parameters = WorkloadParameters(epsilon, **settings)
        yield pytest.param(schema, parameters, number % 3 > 0, id=name, marks=marks)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return lowered_ledger(tmp_path_factory.mktemp("ledger"))


def stated(
    ledger: Ledger, schema: str, parameters: WorkloadParameters, subject: bool
) -> tuple[WorkloadMeasurement, dict[str, Any]]:
    """A draw, charged, and its statement as a reader gets it."""
    records = records_of(schema, subject)
    charge = nominal_charge(parameters, records.schema)
    drawn = draw_workload(
        RecordTable.in_memory(records), parameters, SeededStream(3), before_first_word=lambda: None
    )
    drawn = dataclasses.replace(drawn, private=True)
    choices = RunChoices(least_records=100, unused_keys=("sigma_proportions",))
    return drawn, stated_after_charge(ledger, charge, drawn, choices)


@pytest.mark.parametrize(("schema", "parameters", "subject"), list(grid()))
def test_every_number_is_recomputed_or_a_declared_input_and_is_what_the_draw_used(
    schema, parameters, subject, ledger
):
    drawn, body = stated(ledger, schema, parameters, subject)
    found = WorkloadStatement(body).everything()
    assert differences(body, found) == []
    check_released_json(body)
    assert float(found["guarantee.mu_squared"]) == pytest.approx(drawn.mu_squared, rel=1e-9)
    assert float(found["guarantee.delta_threshold"]) == pytest.approx(drawn.threshold_delta, rel=1e-12)
    assert float(found["noisy_count.scale"]) == drawn.count_scale
    assert float(found["values.scale"]) == drawn.values[0].scale
    assert found["values.sensitivity"] == drawn.values[0].sensitivity
    assert found["values.threshold"] == drawn.threshold
    for place, table in enumerate(drawn.tables):
        assert found[f"tables.{place}.sensitivity"] == table.sensitivity
        assert found[f"tables.{place}.cells"] == table.counts.size
        assert body["tables"][place]["scale"] == table.scale
    chosen = [each for each in (drawn.pair_scores, drawn.scores) if each is not None]
    assert [choice["scale"] for choice in body["choices"]] == [each.scale for each in chosen]
    assert len(body["tables"]) == len(drawn.tables)
    # What anybody can add up: the whole of the proof that is in numbers.
    charges = [body["noisy_count"]["mu_squared"], body["values"]["mu_squared"]]
    charges += [each["mu_squared"] for each in (*body["tables"], *body["choices"])]
    assert sum(charges) == pytest.approx(body["mu_squared_realised"], rel=1e-12)
    assert sum(charges) <= body["guarantee"]["mu_squared"] * (1 + 1e-12)
    assert sum(charges) > 0.9 * body["guarantee"]["mu_squared"] or not drawn.tables


def test_each_number_that_is_wrong_is_noticed(ledger):
    """A thousandth more or less of any number that is not an input is a difference."""
    asked = WorkloadParameters(3.0, 1e-5, Shares(*HUNDREDTHS), most_pairs=2, longer=LongerSets((3,), most=1))
    _, body = stated(ledger, "mixed, several items", asked, subject=False)
    assert len(body["choices"]) == 2
    require_wrong_numbers_are_noticed(body, WorkloadStatement)


def test_a_measurement_whose_noise_does_not_carry_its_charge_is_not_stated(ledger):
    from tasks.core.errors import InternalError

    asked = WorkloadParameters(3.0, 1e-5, default_shares(3.0)[0], longer=LongerSets((3,)))
    drawn, _ = stated(ledger, "open", asked, subject=True)
    table = dataclasses.replace(drawn.tables[0], scale=drawn.tables[0].scale / 8)
    weaker = dataclasses.replace(drawn, tables=(table, *drawn.tables[1:]))
    account = ledger.account("people")
    name = ReleaseName("people", "month 0", "0" * 64)
    with pytest.raises(InternalError, match="must cover its charge"):
        accounted_statement(weaker, account_facts(account, name, 0, "this test"), "abc")


def require_tables_and_ranges(found: Decoded, inputs: ReportInputs) -> None:
    """The page's data hold every table as drawn and every range, each at its own texts."""
    drawn = inputs.measurement
    assert isinstance(drawn, WorkloadMeasurement)
    tables = (*drawn.values, *drawn.tables)
    assert found.meta["protection"] == "fitted" and len(found.meta["tables"]) == len(tables)
    for place, table in enumerate(tables):
        alone = place < len(drawn.values)
        axes = []
        for column in table.columns:
            cells = drawn.cells[column]
            other = ["\x00other"] if cells.has_other and not alone else []
            axes.append([*cells.values, *other, *([None] if cells.has_absent else [])])
        keys = itertools.product(*axes)
        assert found.table(place) == dict(zip(keys, table.counts.ravel().tolist(), strict=True))
        assert found.meta["tables"][place]["scale"] == table.scale
    held = [a.value if a.item is None else a.item for a in inputs.aggregates.attributes]
    texts = [(a.column, value) for a, value in zip(inputs.aggregates.attributes, held, strict=True)]
    for name, of in (("low", "at_least"), ("high", "at_most"), ("estimate", "least_squares")):
        told = found.counts(name)
        for rows, each in zip(inputs.aggregates.combinations, inputs.ranges, strict=True):
            for row, number in zip(rows.tolist(), getattr(each, of).tolist(), strict=True):
                assert told[frozenset(texts[place] for place in row)] == max(number, UNMEASURED)


@pytest.mark.parametrize("schema", ["mixed, several items", "public"])
def test_the_page_of_a_fitted_release_renders_and_says_what_was_measured(schema, ledger, tmp_path):
    asked = WorkloadParameters(8.0, 1e-5, Shares(*HUNDREDTHS), longer=LongerSets((3,), most=2))
    drawn, body = stated(ledger, schema, asked, subject=False)
    made = draw_fitted(drawn, 3)
    counted = count_in_memory(code_synthetic(made.records, drawn.schema), 3)
    counted = dataclasses.replace(
        counted, headers=made.records.headers, number_of_records=drawn.number_of_records
    )
    held = ranges(drawn, counted)
    fit = json.loads(json.dumps(evaluate_fit(drawn, made.cells, 5)))
    written = (("town", "released values"), ("tongue", "nothing"))
    fit["unreleased"] = [{"column": name, "share": 0.25, "written_as": how} for name, how in written]
    inputs = ReportInputs(body, drawn.schema, counted, drawn, synthetic=made.records, fit=fit, ranges=held)
    text = render_page(inputs)
    page = check(text)
    require_tables_and_ranges(decoded(text), inputs)
    for table in body["tables"][:3]:
        assert all(name in page.text for name in table["columns"])
    # Noise hides how many hold a rare value; of several items one may be left out of a cell that isn't empty.
    assert re.search(
        "By the noisy counts, few [a-z]+, if any, have a value in town that was too rare to be released",
        page.text,
    )
    assert "would hold nothing else is empty. By the noisy counts, this concerns about" in page.text
    assert "differential privacy" in page.text and "Attention" in page.text
    # Formulas are set as such; nothing else on the page has names with underscores or powers written out.
    assert not re.search(r"\b(?:Delta|[A-Za-z])_[A-Za-z0-9]|parameters\.filled", page.text)
    for words in ("other", "absent", "delta_threshold"):
        assert words in json.dumps(body)
