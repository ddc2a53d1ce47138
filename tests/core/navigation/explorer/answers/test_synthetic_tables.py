"""A SynDiffix release: counts of its tables, and no error that nobody stated."""

import pytest

from tests.oracles.page_answers import answer, ask, column, difference, payload

pytestmark = pytest.mark.needs_node

COLUMNS = [
    column("town", ("Lille", "Lyon"), opened=True, other=True) | {"codes": [[1, 1, 2, 0]]},
    column("sex", ("f", "m"), opened=True, other=True) | {"codes": [[1, 2, 2, 1]]},
]
#: Lille, Lyon, other, none: the town's own table has one more row than the table of all columns.
TABLES = [{"columns": [0], "shape": [4], "file": "tables/1.parquet", "cells": [2, 1, 1, 1]}]


def release():
    made = payload("syndiffix", COLUMNS, None, tables=TABLES)
    made["records"] = made["meta"]["records"] = 4
    return made


def test_a_column_is_counted_in_its_own_table_and_the_rest_in_that_of_all_columns():
    one, both, everyone = ask(
        [release()], [answer(0, [[0, [1, 3]]]), answer(0, [[0, [1]], [1, [1]]]), answer(0, [])]
    )
    assert (one["value"], one["source"]["given"]) == (3, {"file": "tables/1.parquet"})
    assert (both["value"], both["basis"], everyone["value"]) == (1, "records", 4)


def test_no_range_is_claimed_and_no_difference_is_called_real():
    found, between = ask([release()], [answer(0, [[0, [1]]]), difference(0, [[0, [1]]], 0, [[0, [2]]])])
    assert (found["low"], found["high"], found["sd"]) == (None, None, None)
    assert (between["value"], between["low"], between["real"]) == (1, None, None)


def test_rows_of_a_sample_stand_for_all_and_the_towns_own_table_is_no_sample():
    made = release()
    made["meta"]["records"] = 40
    one, both, everyone = ask([made], [answer(0, [[0, [1]]]), answer(0, [[0, [1]], [1, [1]]]), answer(0, [])])
    assert (one["value"], "sampled" in one) == (2, False)
    assert (both["value"], both["sampled"], both["numbers"]["records"]) == (10, True, 10)
    assert everyone["value"] == 40
