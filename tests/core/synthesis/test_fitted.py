from fractions import Fraction

import numpy as np
import pytest

from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.workload.draw import draw_workload
from tasks.core.dp.workload.parameters import Shares, WorkloadParameters
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.records.table import RecordTable
from tasks.core.synthesis.assembly import write_wide_tsv
from tasks.core.synthesis.fitted import draw_fitted

SCHEMA = Schema(
    (
        Column("sex", domain=("female", "male")),
        Column("home"),
        Column("tongue", domain=("arabic", "basque", "czech"), delimiter=";", max_items=2),
    )
)
SHARES = Shares(Fraction(1, 100), Fraction(20, 100), Fraction(79, 100))


def _measured(number, epsilon, seed=1):
    generator = np.random.default_rng(seed)
    sex = generator.integers(1, 3, number)
    home = np.where(sex == 1, generator.integers(1, 3, number), 3)
    home[: number // 500] = 4
    first = generator.integers(0, 4, number)
    second = np.where(first == 1, generator.integers(0, 2, number) * 2, 0)
    records = CodedRecords(
        SCHEMA,
        tuple(column.astype(np.uint8) for column in (sex, home, first, second)),
        (0, 1, 2, 2),
        (("female", "male"), ("cabin", "flat", "house", "tent"), ("arabic", "basque", "czech")),
        number,
    )
    parameters = WorkloadParameters(epsilon, 1e-6, SHARES, tables=((0, 1), (0, 2), (1, 2), (2, 2)))
    return draw_workload(
        RecordTable.in_memory(records), parameters, SeededStream(seed), before_first_word=lambda: None
    )


def test_records_keep_the_relations_of_the_table(tmp_path):
    made = draw_fitted(_measured(10_000, 4.0), 7)
    write_wide_tsv(made.records, tmp_path / "records.tsv")
    rows = [line.split("\t") for line in (tmp_path / "records.tsv").read_text().splitlines()]
    assert rows[0] == ["sex", "home", "tongue_arabic", "tongue_basque", "tongue_czech"]
    men = [row for row in rows[1:] if row[0] == "male"]
    assert sum(row[1] == "house" for row in men) / len(men) > 0.97
    both = sum(row[2] == "1" and row[3] == "1" for row in rows[1:])
    assert both / len(made.cells) == pytest.approx(1 / 8, abs=0.02)


def test_a_value_below_the_threshold_is_in_no_record():
    measured = _measured(2_000, 1.0)
    assert "tent" not in measured.cells[1].values
    values = {attribute.value for attribute in draw_fitted(measured, 7).records.attributes}
    assert "tent" not in values


def test_the_number_of_records_is_the_noisy_count_or_the_one_asked_for():
    measured = _measured(2_000, 1.0)
    assert draw_fitted(measured, 7).records.number_of_records == measured.number_of_records
    assert draw_fitted(measured, 7, number=123).records.number_of_records == 123


def test_equal_seeds_give_equal_records_whatever_the_threads():
    measured = _measured(30_000, 1.0)
    one, two = draw_fitted(measured, 7, threads=1), draw_fitted(measured, 7, threads=2)
    assert one.records.attribute_ids.tolist() == two.records.attribute_ids.tolist()
    assert draw_fitted(measured, 8).records.attribute_ids.tolist() != one.records.attribute_ids.tolist()


@pytest.mark.parametrize("number", [0, 1, 20])
def test_tiny_tables_give_a_release(number):
    for seed in range(5):
        measured = _measured(number, 0.2, seed)
        made = draw_fitted(measured, seed)
        assert made.records.number_of_records == max(0, measured.number_of_records)
