"""Heavy tails in the table of all columns: nothing of them is lost, and nobody in them is shown.

The peer's figures are those of `python -m tests.benchmarks syndiffix_tails`, package 1.0.8.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    DefaultClustering,
    SingleClustering,
    SynDiffixParameters,
)
from tasks.core.syndiffix.synthesizer import Synthesizer
from tests.benchmarks.syndiffix_tables import generated_orders, generated_tails
from tests.benchmarks.syndiffix_tails import column_errors

SALTS = 3
_KEYS = ("q0.5", "q0.75", "q0.9", "q0.95", "q0.99", "mean")
# The peer's mean absolute errors of a column's quantiles and mean, and its 1-way distance.
PEER = {
    ("orders", "ids", "amount"): ((0.0986, 0.2774, 0.6140, 0.9931, 2.1802, 0.3389), 0.261),
    ("orders", "rows", "amount"): ((0.0766, 0.1652, 0.2778, 0.2615, 0.6057, 0.2131), 0.163),
    ("tails", "ids", "income"): ((0.0716, 0.1982, 0.4085, 0.5649, 0.9246, 0.1492), 0.171),
    ("tails", "ids", "claim"): ((0.0826, 0.2738, 0.7382, 1.2267, 4.4882, 0.4288), 0.287),
    ("tails", "rows", "income"): ((0.0721, 0.1632, 0.3071, 0.3425, 0.8320, 0.1202), 0.130),
    ("tails", "rows", "claim"): ((0.0869, 0.2803, 0.7697, 1.4996, 6.0261, 0.4937), 0.299),
}
TABLES = {"orders": (generated_orders, "customer"), "tails": (generated_tails, "person")}


def synthesizer(table, salt, ids=(), clustering=SingleClustering()):
    anonymization = AnonymizationParameters((salt + 1).to_bytes(16, "big"))
    return Synthesizer(table, SynDiffixParameters(anonymization, clustering=clustering), ids=ids)


@pytest.mark.parametrize("entities", ["ids", "rows"])
@pytest.mark.parametrize("name", TABLES)
def test_quantiles_means_and_distances_are_no_worse_than_the_peer_s(name, entities):
    generate, id_column = TABLES[name]
    table = generate() if entities == "ids" else generate().drop_columns([id_column])
    ids = [id_column] if entities == "ids" else []
    found = [
        column_errors(table, synthesizer(table, salt, ids, DefaultClustering()).sample())
        for salt in range(SALTS)
    ]
    columns = {column: errors for (of, by, column), errors in PEER.items() if (of, by) == (name, entities)}
    for column, (peers, distance) in columns.items():
        for key, peer in zip(_KEYS, peers, strict=True):
            assert np.mean([abs(errors[column][key]) for errors in found]) <= 1.5 * peer
        assert np.mean([errors[column]["distance"] for errors in found]) <= distance


@pytest.mark.parametrize("ids", [["customer"], []])
def test_a_column_s_tail_is_as_large_among_others_as_alone(ids):
    """12.6 percent of the orders are above 60; in four columns 0.6 to 10.7 percent were, by the salt."""
    table = generated_orders()
    for salt in range(SALTS):
        made = synthesizer(table if ids else table.drop_columns(["customer"]), salt, ids)
        basis = made.basis()
        alone, among = (
            pa.chunked_array([made.draw(columns, basis).cells[0].values]) for columns in [(0,), (0, 1, 2, 3)]
        )
        for least in (20, 60, 100):
            shares = [
                pc.mean(pc.greater_equal(cells, least).cast(pa.float64())).as_py() for cells in (alone, among)
            ]
            assert abs(shares[0] - shares[1]) < 0.004
        assert abs(pc.mean(alone).as_py() / pc.mean(among).as_py() - 1) < 0.1


def lies_in_own_buckets(made, column, numbers):
    """Whether all numbers are among what is published of the column alone."""
    buckets = made.forest.buckets((column,))
    lower, upper = (bound[None, :, 0] for bound in (buckets.lower, buckets.upper))
    values = numbers[:, None]
    return (((lower <= values) & (values < upper)) | ((lower == upper) & (values == lower))).any(axis=1).all()


def with_outliers(outliers):
    """400 amounts of a long tail, and what is added to them."""
    draw = np.random.default_rng(3)
    amounts = [*draw.lognormal(3, 1, 400).round(2).tolist(), *outliers]
    rows = len(amounts)
    return pa.table(
        {
            "amount": amounts,
            "items": [place % 3 for place in range(rows)],
            "ward": [place % 5 for place in range(rows)],
        }
    )


RARE = [(), (48_123.45,), (512.37, 512.37), (512.37, 512.37, 7001.11, 8002.22)]


@pytest.mark.parametrize("rare", RARE, ids=["none", "one", "two alike", "two alike and two beyond"])
def test_nothing_is_shown_that_is_not_published_of_the_column_alone(rare):
    for salt in range(60):
        made = synthesizer(with_outliers(rare), salt)
        table = made.draw((0, 1, 2), made.basis())
        numbers = table.cells[0].numbers
        assert lies_in_own_buckets(made, 0, numbers)
        assert not set(numbers.tolist()) & set(rare)


def test_an_amount_far_beyond_all_others_stretches_nothing_that_is_shown():
    for salt in range(60):
        without, beside = (
            synthesizer(with_outliers(rare), salt).sample()["amount"] for rare in ((), (48_123.45,))
        )
        assert pc.max(beside).as_py() < 1024 and pc.max(without).as_py() < 1024
