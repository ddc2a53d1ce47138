"""Dictionary columns, such as pandas' categories, in a whole synthetic table."""

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.syndiffix.clusters import Clusters, DerivedCluster
from tasks.core.syndiffix.settings import AnonymizationParameters, MlClustering, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer


def table(rows=800):
    draw = np.random.default_rng(4)
    names = [f"name{number:07}" for number in draw.integers(0, 10**6, rows)]
    kind = [f"kind {number}" for number in draw.integers(0, 4, rows)]
    return pa.table(
        {
            "kind": pa.array(kind).dictionary_encode(),
            "name": pa.array(names).dictionary_encode(),
            "x": draw.integers(0, 4, rows),
            "y": draw.integers(0, 9, rows),
        }
    )


def synthesized(clustering):
    parameters = SynDiffixParameters(AnonymizationParameters(bytes(16)), clustering=clustering)
    return Synthesizer(table(), parameters).sample()


@pytest.mark.parametrize("owner", ["shared", "left", "right"])
def test_clusters_are_stitched_by_a_category(owner):
    clusters = Clusters((0, 2), (DerivedCluster(owner, (0,), (1,)), DerivedCluster(owner, (0, 2), (3,))))
    found = synthesized(clusters)
    assert found.schema.types == table().schema.types
    assert set(found["kind"].to_pylist()) <= set(table()["kind"].to_pylist())
    assert 600 < found.num_rows < 1000


def test_a_category_can_be_the_target():
    assert synthesized(MlClustering(0)).num_rows > 600


def test_a_dictionary_is_in_the_order_of_the_rows_and_so_tells_nothing_of_groups():
    found = synthesized(Clusters((0, 1, 2), (DerivedCluster("left", (0,), (3,)),)))
    for name in ("kind", "name"):
        column = found[name].combine_chunks()
        assert column.dictionary.to_pylist() == list(dict.fromkeys(column.drop_null().to_pylist()))
