import pytest

from tasks.core.synthesis.assembly import write_wide_tsv
from tasks.core.synthesis.fitted import draw_fitted
from tests.oracles.workloads import draw, parameters, people


def _measured(number, epsilon, seed=1):
    return draw(people(number, seed), parameters(epsilon), seed)


def test_records_keep_the_relations_of_the_table(tmp_path):
    """Men live in flats; two of 25 speak Arabic and Basque."""
    made = draw_fitted(_measured(10_000, 4.0), 7)
    write_wide_tsv(made.records, tmp_path / "records.tsv")
    header, *rows = [line.split("\t") for line in (tmp_path / "records.tsv").read_text().splitlines()]
    assert header == ["sex", "home", "tongue_arabic", "tongue_basque", "tongue_czech", "tongue_dutch"]
    men = [row for row in rows if row[0] == "male"]
    assert sum(row[1] == "flat" for row in men) / len(men) > 0.97
    both = sum(row[2] == row[3] == "1" for row in rows)
    assert both / len(made.cells) == pytest.approx(2 / 25, abs=0.02)


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
