"""A release's files give back the counts that were drawn or rounded, with the error that was stated."""

import dataclasses
import json

import numpy as np
import pytest

from tasks.core.aggregates.interchange import write_reportable_parquet
from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.workload.tables_file import write_noisy_tables
from tasks.core.errors import ParameterError
from tasks.core.evaluation.over_time import ABSENT, NUMBER_OF_RECORDS, OTHER, read_released_counts
from tasks.core.statement.differential_privacy.statement import accounted_statement
from tests.oracles import anonymous_releases
from tests.oracles.described import statement
from tests.oracles.releases import ledger_facts, release
from tests.oracles.workloads import draw, parameters, people


def test_a_fitted_release_gives_its_noisy_counts_as_drawn(tmp_path):
    drawn = dataclasses.replace(draw(people(400, 1, tags=True), parameters()), private=True)
    body = accounted_statement(drawn, ledger_facts(unit="row"), "abc")
    (tmp_path / "privacy.json").write_text(json.dumps(body))
    write_noisy_tables(drawn, tmp_path / "x_noisy_tables.parquet")
    found = read_released_counts(tmp_path)
    counts = dict(zip(found.combinations, found.counts.tolist(), strict=True))
    assert counts[NUMBER_OF_RECORDS] == drawn.number_of_records
    names = [column.name for column in drawn.schema.columns]
    for table in drawn.values:
        name, cells = names[table.columns[0]], drawn.cells[table.columns[0]]
        for value, count in zip(cells.values, table.counts.tolist(), strict=False):
            place = found.combinations.index(((name, value),))
            assert found.counts[place] == count and found.scales[place, 0] == table.scale
            assert found.least[place] == (body["values"]["threshold"] if cells.has_other else -(2**62))
    texts = {cell for combination in found.combinations for _, cell in combination}
    assert ABSENT in texts
    # What is other depends on the values that were released, and is named by them.
    assert OTHER not in texts and any(text.startswith(f"{OTHER} than") for text in texts)


def test_a_cell_that_was_drawn_twice_is_one_count_with_less_noise(tmp_path):
    drawn = dataclasses.replace(draw(people(400, 1), parameters()), private=True)
    table = drawn.tables[0]
    twice = dataclasses.replace(table, counts=table.counts + 10, scale=2 * table.scale)
    both = dataclasses.replace(drawn, tables=(table, twice))
    (tmp_path / "privacy.json").write_text(
        json.dumps(accounted_statement(drawn, ledger_facts(unit="row"), "abc"))
    )
    write_noisy_tables(both, tmp_path / "x_noisy_tables.parquet")
    found = read_released_counts(tmp_path)
    wide = [row for row, each in enumerate(found.combinations) if len(each) == len(table.columns) > 1]
    assert sorted(found.counts[wide]) == pytest.approx(sorted(table.counts.ravel() + 2.0))
    assert found.scales[wide, 0] == pytest.approx(table.scale / np.sqrt(1.25))


def test_a_release_by_lengths_gives_its_published_counts(tmp_path):
    measurement, _, _ = release(600)
    aggregates = normalised_counts(measurement)
    (tmp_path / "privacy.json").write_text(
        json.dumps(accounted_statement(measurement, ledger_facts(), "abc"))
    )
    write_reportable_parquet(aggregates, tmp_path / "x_reportable_aggregates.parquet")
    found = read_released_counts(tmp_path)
    assert len(found.counts) == 1 + sum(len(counts) for counts in aggregates.counts)
    assert found.counts.sum() == aggregates.number_of_records + sum(int(c.sum()) for c in aggregates.counts)
    pair = next(
        row for row in range(len(found.counts)) if found.weights[row, 2] == 1 and found.weights[row, 1] == 2
    )
    scales = [measurement.count_scale, *(level.scale for level in measurement.levels)]
    assert found.scales[pair].tolist() == scales
    thresholds = [level.threshold or 1 for level in measurement.levels]
    assert found.least[pair] == max(thresholds[:2])


def test_a_k_anonymous_release_gives_its_rounded_counts(tmp_path):
    aggregates, _ = anonymous_releases.rounded()
    (tmp_path / "privacy.json").write_text(json.dumps(statement("k_anonymity")))
    write_reportable_parquet(aggregates, tmp_path / "x_reportable_aggregates.parquet")
    found = read_released_counts(tmp_path)
    assert found.kind == "rounded" and found.resolution == 10 and found.length == 3
    assert set((found.counts % 10).tolist()) == {0.0}


def test_a_release_without_counts_whose_error_is_stated_is_refused(tmp_path):
    (tmp_path / "privacy.json").write_text(json.dumps(statement("syndiffix")))
    with pytest.raises(ParameterError, match="has none"):
        read_released_counts(tmp_path)
