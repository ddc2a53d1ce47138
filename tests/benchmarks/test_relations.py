"""Relations of small tables, by hand; and those that SynDiffix's clusters keep of a generated census."""

import pyarrow as pa
import pytest

from tasks.core.syndiffix.settings import AnonymizationParameters, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer
from tests.benchmarks.relations import mean_error, relations
from tests.benchmarks.syndiffix_tables import census


def relation(one, other):
    table = pa.table({"a": one, "b": other})
    return relations(table, table, [("a", "b")])["a", "b"]


def test_numbers_are_related_by_their_ranks_where_both_are_there():
    assert relation([1, 2, 3, 40], [10, 20, 30, 31]) == pytest.approx(1)
    assert relation([1, 2, 3, None], [9.0, 8.0, 7.0, 100.0]) == pytest.approx(-1)
    assert relation([1, 2, 3, 4], [1, 4, 2, 3]) == pytest.approx(0.4)
    assert relation([1, 1, 1], [1, 2, 3]) == 0


def test_texts_are_related_by_cramer_s_v():
    assert relation(["a", "a", "b", "b"], ["x", "x", "y", "y"]) == pytest.approx(1)
    assert relation(["a", "a", "b", "b"], ["x", "y", "x", "y"]) == pytest.approx(0)
    # Chi squared of 3 1 / 1 3 is 8 * (9 - 1)^2 / 4^4 = 2, and V the root of 2 / 8.
    assert relation(list("aaaabbbb"), [1, 1, 1, 2, 1, 2, 2, 2]) == pytest.approx(0.5)


def test_default_clusters_keep_the_relations_of_a_census():
    table = census(8000)
    parameters = SynDiffixParameters(AnonymizationParameters((1).to_bytes(16, "big")))
    # The peer: 0.057 +- 0.002 over three salts; with all pairs of nodes in the weights: 0.035.
    assert mean_error(table, Synthesizer(table, parameters).sample()) < 0.026
