"""A few real tables: their headers are told from their records. The benchmark's rates are of 300."""

from tests.benchmarks.header_on_real_tables import TABLES, TUNED_ON, header_rates, table_files


def test_of_real_tables_no_record_becomes_names_and_hardly_a_header_is_asked_about():
    rates = header_rates(table_files()[TUNED_ON + 2 * TABLES :], 20)
    assert rates["records_taken_for_headers"] == 0 == rates["headers_taken_for_records"]
    assert rates["headers_asked_about"] <= 0.05
