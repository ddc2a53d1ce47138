"""Steps of a synthesizer taken apart: what follows from some columns alone is the same among others."""

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    ClusteringStrategy,
    DefaultClustering,
    SingleClustering,
)
from tasks.core.syndiffix.synthesizer import (
    SynDiffixParameters,
    Synthesizer,
    needs_dependence,
    tables_per_question,
)

SALT = b"a salt of a test"
NAMES = ("town", "age", "income", "ward", "smoker")


def visits(rows: int = 500) -> pa.Table:
    draw = np.random.default_rng(5)
    age = draw.integers(0, 90, rows)
    income = np.where(draw.random(rows) < 0.1, np.nan, draw.lognormal(8, 1, rows).round(2))
    return pa.table(
        {
            "town": pa.array(draw.choice(["Aberwick", "Brenmoor", "Caldwell"], rows)),
            "age": pa.array(age),
            "income": pa.array(income, from_pandas=True),
            "ward": pa.array(draw.integers(0, 6, rows)),
            "smoker": pa.array(age + draw.integers(0, 20, rows) > 50),
        }
    )


def synthesizer(
    columns: tuple[str, ...] = NAMES, clustering: ClusteringStrategy = DefaultClustering(sample_size=10_000)
) -> Synthesizer:
    parameters = SynDiffixParameters(AnonymizationParameters(SALT), clustering=clustering)
    return Synthesizer(visits(), parameters, columns=columns)


@pytest.fixture(scope="module")
def whole() -> Synthesizer:
    return synthesizer()


def test_rows_of_a_cluster_are_the_same_whatever_other_columns_are_synthesized(whole: Synthesizer) -> None:
    among = whole.draw((1, 2, 4), whole.basis())
    alone = synthesizer(("age", "income", "smoker"))
    rows = alone.draw((0, 1, 2), alone.basis())
    for one, other in zip((1, 2, 4), (0, 1, 2), strict=True):
        assert among.cells[one].values.equals(rows.cells[other].values)
        assert np.array_equal(among.cells[one].numbers, rows.cells[other].numbers)


def test_the_steps_one_by_one_give_the_sample(whole: Synthesizer) -> None:
    clusters, basis = whole.clusters(whole.measure()), whole.basis()
    drawn = [whole.draw(combination, basis) for combination in clusters.combinations]
    assert whole.stitched(clusters, drawn, basis).equals(synthesizer().sample())


def test_a_pair_that_is_known_is_not_measured_again_and_the_others_are_as_before(whole: Synthesizer) -> None:
    measured = whole.measure()
    again = whole.measure({("town", "age"): 0.125})
    assert again.dependence[0, 1] == again.dependence[1, 0] == 0.125
    again.dependence[0, 1] = again.dependence[1, 0] = measured.dependence[0, 1]
    assert np.array_equal(again.dependence, measured.dependence)


def test_a_pair_depends_as_much_whatever_other_columns_there_are(whole: Synthesizer) -> None:
    found = whole.measure().dependence[1, 4]
    assert found == synthesizer(("age", "smoker")).measure().dependence[0, 1]
    assert found > 0.3, "the columns are related, or nothing is shown"


@pytest.mark.parametrize("names", [("town",), ("town", "ward"), ("age", "income", "smoker")])
def test_a_table_of_a_question_is_what_its_columns_alone_would_give(
    names: tuple[str, ...], whole: Synthesizer
) -> None:
    places = [NAMES.index(name) for name in names]
    (table,) = tables_per_question(whole, [places])
    assert table.equals(synthesizer(names, SingleClustering()).sample())


def test_tables_come_in_the_order_of_their_questions(whole: Synthesizer) -> None:
    found = [table.column_names for table in tables_per_question(whole, [(3, 0), (1,), (0, 2)])]
    assert found == [["town", "ward"], ["age"], ["town", "income"]]


def test_dependence_is_needed_only_where_clusters_are_solved_by_it() -> None:
    assert needs_dependence(DefaultClustering(), 5)
    assert not needs_dependence(DefaultClustering(), 4)
    assert not needs_dependence(DefaultClustering(max_weight=1), 5)
    assert not needs_dependence(SingleClustering(), 5)
