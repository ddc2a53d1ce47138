"""Known attacks (X7.1): each finds its target in the port's construction, and not in ours.

Trials differ by salt, which the attacker doesn't know, or by table. Who attacks knows all else: code and
parameters. Outputs are also predicted, averaged or put together, and types declared to draw noise anew. What
needs many trials of the port, whose oracle is slow, is among the slow tests.
"""

import functools
from collections import Counter
from itertools import combinations, product
from math import log2

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom, norm

from tasks.core.syndiffix.hashing import hash_entities, hash_int
from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    SingleClustering,
    SuppressionParameters,
    SynDiffixParameters,
)
from tasks.core.syndiffix.synthesizer import Synthesizer, tables_per_question
from tasks.core.syndiffix.tree_kernels import DEPTH
from tasks.core.tables.header import InputFile
from tests.oracles.syndiffix_counters import is_low, noisy_row_count
from tests.oracles.syndiffix_port import (
    is_low_in_port,
    port_buckets,
    port_column,
    port_id_hash,
    port_texts,
    public_generators,
)

MAXIMUM = 1234.567
EXACT = 511.37
SECRET = "ma7-secret-clinic"
#: Of the port, whose oracle is slow.
SALTS = 30
#: What is found with a probability of an eighth stays unfound in 60 trials in 3 of 10,000 runs.
TRIALS = pytest.mark.parametrize("trials", [60, pytest.param(200, marks=pytest.mark.slow)])
FALSE_ALARM = 1e-6  # of a count of salts below the least that is asserted
# With the default threshold, 5 +- 1, four entities fail the filter so probably, and six pass it (2.3).
ONE_SD = float(norm.cdf(1))


def least(chance):
    """Of so many salts, fewer find the target only with the probability of a false alarm."""
    return binom.ppf(FALSE_ALARM, SALTS, chance)


def salted(trial, **options):
    return AnonymizationParameters(trial.to_bytes(16, "little"), **options)


def synthesizer(columns, trial, ids=(), **options):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    parameters = SynDiffixParameters(salted(trial, **options), clustering=SingleClustering())
    return Synthesizer(table, parameters, ids=ids)


def sampled(columns, trial, ids=(), **options):
    return synthesizer(columns, trial, ids, **options).sample().to_pydict()


def bucket_size(column):
    """How long the bucket of the longest stretch of cells is that lie on one line over the public draws."""
    _, cells = public_generators()
    x, u = np.array(column), np.array([cells.random() for _ in column])
    best, size, start = 0, np.nan, 0
    while start + 3 <= len(x):
        (slope, at), end = np.polyfit(u[start : start + 3], x[start : start + 3], 1), start + 3
        if slope <= 0 or np.abs(at + slope * u[start:end] - x[start:end]).max() > 2e-3:
            start += 1
            continue
        while end < len(x) and abs(at + slope * u[end] - x[end]) < 5e-3:
            end += 1
        if end - start > best:
            best = end - start
            size = np.polyfit(u[start:end], x[start:end], 1)[0]
        start = end
    return size


def finds_maximum(column):
    """Whether the sizes of buckets give the maximum, the power of two known, within 0.1; the minimum is 0."""
    size = bucket_size(column)
    if not size > 0:
        return False
    found = size * 0.9999
    return abs(found * 2 ** round(log2(MAXIMUM / found)) - MAXIMUM) < 0.1


def with_maximum():
    generator = np.random.default_rng(1)
    return [0.0, *np.round(generator.uniform(0, 500, 298), 3).tolist(), MAXIMUM]


@pytest.mark.slow
def test_port_s_grid_gives_one_person_s_maximum_away():
    found = [finds_maximum(port_column(with_maximum(), salted(trial))) for trial in range(30)]
    assert sum(found) >= 27


@pytest.mark.parametrize("trials", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_our_grid_does_not_depend_on_one_person_s_maximum(trials):
    found = [finds_maximum(sampled({"x": with_maximum()}, trial)["x"]) for trial in range(trials)]
    assert sum(found) == 0


def test_edges_of_our_buckets_are_binary_fractions_whatever_the_extremes():
    for trial in range(50):
        values = [*with_maximum()[:-1], MAXIMUM + trial]
        buckets = synthesizer({"x": values}, trial).forest.buckets((0,))
        edges = np.concatenate([buckets.lower, buckets.upper])[:, 0]
        assert (edges * 2**10 == np.rint(edges * 2**10)).all()


def with_rare_value():
    """Two hold the value at the edge, four lie far beyond and are pushed into its cell."""
    generator = np.random.default_rng(2)
    values = [*generator.uniform(0, 505, 150), *generator.uniform(504, 505, 20)]
    return [*np.round(values, 2).tolist(), EXACT, EXACT, 5001.11, 6002.22, 7003.33, 8004.44]


@pytest.mark.slow
def test_port_publishes_a_rare_value_that_outliers_were_added_to():
    # It is published where the four outliers fail the filter, so that they are pushed into the leaf of the
    # two, and the six of it pass.
    values, published = with_rare_value(), 0
    for trial in range(SALTS):
        buckets = port_buckets([values], salted(trial))
        published += any(interval.lower == interval.upper == EXACT for (interval,), _ in buckets)
    assert published >= least(ONE_SD**2)


@pytest.mark.parametrize("others", [[], ["sex"], ["sex", "dose"]], ids=["alone", "two", "three"])
@TRIALS
def test_ours_never_publishes_a_rare_value_that_outliers_were_added_to(others, trials):
    values = with_rare_value()
    known = {"sex": [place % 2 for place in range(len(values))], "dose": [3 * (v // 100) for v in values]}
    table = {"x": values} | {name: known[name] for name in others}
    rare = {*values} - {value for value, count in Counter(values).items() if count >= 3}
    for trial in range(trials):
        forest = synthesizer(table, trial).forest
        buckets = forest.buckets(tuple(range(len(table))))
        single = buckets.lower[:, 0] == buckets.upper[:, 0]
        assert not rare & set(buckets.lower[single, 0].tolist())


def with_rare_text():
    """Seven frequent texts, a rare one after them, four outliers at the vocabulary's end."""
    texts = [f"ma{place}-clinic" for place in range(7) for _ in range(40)]
    return [*texts, SECRET, SECRET, "x1", "y2", "z3", "zz4"]


def shown_by_port(columns, vocabulary):
    """In how many outputs the rare text is spelled out; the first column is that of the texts' ranks."""
    shown = 0
    for trial in range(SALTS):
        buckets = port_buckets(columns, salted(trial))
        texts = (intervals[0] for intervals, _ in buckets if intervals[0].lower < len(vocabulary))
        cells = {port_texts(interval, vocabulary, 0) for interval in texts}
        shown += any(cell.startswith(SECRET) for cell in cells)
    return shown


@pytest.mark.slow
def test_port_publishes_a_rare_text_that_outliers_were_added_to():
    texts = with_rare_text()
    vocabulary = sorted(set(texts))
    ranks = [float(vocabulary.index(text)) for text in texts]
    tail = [float(place >= 280) for place in range(len(texts))]
    # As of a rare value: four outliers, and a leaf of six.
    assert shown_by_port([ranks, tail], vocabulary) >= least(ONE_SD**2)


def with_rare_text_alone():
    """Eight frequent texts, and in the other half of the ranks a rare one with three nulls."""
    return [*(f"ma{place}-clinic" for place in (0, 1, 2, 3, 4, 5, 6, 61) for _ in range(40)), SECRET, SECRET]


@pytest.mark.slow
def test_port_publishes_a_rare_text_that_is_alone_in_its_range():
    texts = with_rare_text_alone()
    vocabulary = sorted(set(texts))
    ranks = [float(vocabulary.index(text)) for text in texts]
    # Five pass the filter with a probability of a half, and too few hold the text or null to part them.
    assert shown_by_port([[*ranks, *[float("nan")] * 3]], vocabulary) >= least(0.5)


@TRIALS
def test_ours_shows_no_more_of_a_rare_text_than_what_it_begins_with_like_others(trials):
    texts, alone = with_rare_text(), [*with_rare_text_alone(), None, None, None]
    tail = [place >= 280 for place in range(len(texts))]
    for trial in range(trials):
        for table in ({"t": texts}, {"t": texts, "tail": tail}, {"t": alone}):
            assert not any(cell and cell.startswith(SECRET[:3]) for cell in sampled(table, trial)["t"])


HIGH = SuppressionParameters(low_threshold=50)
FEW = 25


def test_port_publishes_a_value_of_25_entities_where_50_are_required():
    hashes = hash_entities(range(1, FEW + 1)).tolist()
    for trial in range(200):
        parameters = salted(trial, low_count_params=HIGH)
        assert not is_low_in_port(hashes, 50, parameters)
        assert is_low(hashes, 50, parameters)


@TRIALS
def test_ours_never_publishes_a_value_of_25_entities_where_50_are_required(trials):
    people = [*range(1, 526)] * 2
    texts = ["rare" if person <= FEW else f"common{person % 2}" for person in people]
    table = {"person": people, "t": texts, "h": [person % 3 for person in people]}
    for trial in range(trials):
        cells = sampled(table, trial, ids=["person"], low_count_params=HIGH)["t"]
        assert "rare" not in cells and any(cell.startswith("common") for cell in cells)


def test_port_counts_every_row_of_id_0():
    hashes = np.array([port_id_hash(one, hash_int) for one in [*range(1, 21), *[0] * 500]], np.uint64)
    assert all(noisy_row_count([hashes], 1, salted(trial)) > 500 for trial in range(200))


@pytest.mark.parametrize("identifier", [0, -7])
@TRIALS
def test_our_table_does_not_show_how_many_rows_one_id_has(identifier, trials):
    table = {"id": [*range(1, 21), *[identifier] * 500], "x": [5] * 520}
    for trial in range(trials):
        assert len(sampled(table, trial, ids=["id"])["x"]) < 40


THRESHOLD = 3


def numbers():
    return np.round(np.random.default_rng(3).uniform(0, 500, 400), 3).tolist()


def port_output(trial):
    return port_column(numbers(), salted(trial))


@functools.cache
def our_output(trial):
    return sampled({"x": numbers()}, trial)["x"]


def agreement(first, second):
    """The rank correlation of two columns, row by row."""
    return np.corrcoef(*(np.argsort(np.argsort(column)) for column in (first, second)))[0, 1]


def predictions(output, guess):
    """How well a guess, made with a salt of one's own, tells a row's value, and which of two is greater."""
    size = min(len(output), len(guess)) // 2 * 2
    one, other = (np.array(column[:size]) for column in (output, guess))
    return abs(agreement(one, other)), abs(agreement(one[1::2] - one[::2], other[1::2] - other[::2]))


def chance_agreement(independent, tests):
    """What the correlation of so many independent pairs exceeds in one of the tests with FALSE_ALARM."""
    return norm.isf(FALSE_ALARM / (2 * tests)) / np.sqrt(independent - 1)


def test_port_s_rows_are_predicted_by_its_public_generator():
    found = [predictions(port_output(0), port_output(trial)) for trial in range(1, 6)]
    # What is beyond chance in all of a hundred tables would be told from a single one.
    assert min(each[0] for each in found) > chance_agreement(380, 200)
    assert min(each[1] for each in found) > chance_agreement(190, 200)


def test_our_rows_are_not_predicted_without_the_salt():
    found = [predictions(our_output(0), our_output(trial)) for trial in range(1, 101)]
    assert max(each[0] for each in found) < chance_agreement(380, 200)
    assert max(each[1] for each in found) < chance_agreement(190, 200)


def test_our_rows_are_in_no_order():
    found = [abs(agreement(output, range(len(output)))) for output in map(our_output, range(100))]
    assert max(found) < chance_agreement(380, 100)
    column = port_output(0)
    assert agreement(column, range(len(column))) > chance_agreement(380, 100)


def mixed(generator, rows=60):
    """Reals of many decimals, large integers and texts, all but a few of them held by several rows."""
    pools = [
        np.round(generator.uniform(0, 100, 12), 9).tolist(),
        generator.integers(0, 10**12, 12).tolist(),
        ["", "a", "ab", "abc", "abcd", "b", "e\u0301", "\u00e9", "\u00e9x", "zz", "z" * 300, "\U0001f600"],
    ]
    weights = np.array([12, 9, 7, 5, 4, 3, 2, 2, 1, 1, 1, 1.0])
    columns = {}
    for place, pool in enumerate(pools):
        chances = generator.permutation(weights) / weights.sum()
        picked = [pool[i] for i in generator.choice(len(pool), rows, p=chances)]
        is_null = generator.random(rows) < 0.1
        columns[f"c{place}"] = [None if null else v for v, null in zip(picked, is_null, strict=True)]
    return pa.table(columns | {"id": generator.integers(-10, rows // 2, rows).tolist()})


def holders(table, name, ids):
    """How many entities hold each value of a column."""
    who = table["id"].to_pylist() if ids else range(table.num_rows)
    return Counter(value for value, _ in set(zip(table[name].to_pylist(), who, strict=True)))


@pytest.mark.slow
def test_no_value_of_too_few_entities_is_in_any_output_of_random_tables():
    generator = np.random.default_rng(5)
    outputs = 0
    for trial in range(300):
        table, ids = mixed(generator), ["id"] if trial % 2 else []
        kept = table if ids else table.drop(["id"])
        made = synthesizer(kept, trial, ids)
        sets = [*((c,) for c in range(3)), *combinations(range(3), 2), (0, 1, 2)]
        counts = {name: holders(table, name, ids) for name in ("c0", "c1", "c2")}
        for output in tables_per_question(made, sets):
            outputs += 1
            for name in output.column_names:
                shown = set(output[name].to_pylist()) & set(counts[name])
                assert all(counts[name][value] >= THRESHOLD for value in shown)
    assert outputs == 2100


def test_no_text_begins_with_what_too_few_entities_share():
    generator = np.random.default_rng(6)
    for trial in range(40):
        table = mixed(generator)
        known = [text for text in table["c2"].to_pylist() if text is not None]
        for cell in synthesizer(table.drop(["id"]), trial).sample()["c2"].to_pylist():
            if cell is not None:
                assert sum(text.startswith(cell.split("*")[0]) for text in known) >= THRESHOLD


def counts_of_nodes(made, combination):
    """Noisy count by a node's depth and bounds, of several columns sorted by header."""
    tree = made.forest.tree(combination)
    order = np.argsort([made.columns[column].name for column in combination])
    depth = tree.nodes.table[:, DEPTH].tolist()
    keys = zip(depth, map(tuple, tree.nodes.lower[:, order].tolist()), strict=True)
    return dict(zip(keys, tree.noisy.tolist(), strict=True))


def plain(generator, rows=300):
    columns = {"x": np.round(generator.uniform(0, 100, rows), 2), "y": generator.integers(0, 40, rows)}
    return pa.table(columns | {"z": [f"t{i % 7}" for i in range(rows)]})


@pytest.mark.parametrize("trials", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_counts_are_the_same_in_any_order_of_rows_and_columns_and_in_each_run(trials):
    generator = np.random.default_rng(7)
    for trial in range(trials):
        table = plain(generator)
        first = synthesizer(table, trial)
        shuffled = synthesizer(table.take(generator.permutation(300)), trial)
        permuted = synthesizer(table.select(["z", "y", "x"]), trial)
        assert first.sample().equals(shuffled.sample()) and first.sample().equals(first.sample())
        for combination in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
            mirrored = tuple(sorted(2 - column for column in combination))
            assert counts_of_nodes(first, combination) == counts_of_nodes(permuted, mirrored)


def holds_row(made, combination, key, row):
    """Whether a node, as a key of `counts_of_nodes`, holds a row of values by header."""
    depth, lower = key
    sizes = made.forest.tree(combination).grid.size / 2**depth
    size_of = {made.columns[column].name: size for column, size in zip(combination, sizes, strict=True)}
    pairs = zip(sorted(size_of), lower, strict=True)
    return all(0 <= row[name] - low < size_of[name] for name, low in pairs)


def test_a_row_that_is_added_changes_only_the_counts_of_nodes_that_hold_it():
    generator = np.random.default_rng(8)
    for trial in range(20):
        table = plain(generator)
        added = pa.table({"x": [37.77], "y": [11], "z": ["t3"]}, table.schema)
        before, after = (synthesizer(each, trial) for each in (table, pa.concat_tables([table, added])))
        for combination in ((0,), (0, 1)):
            first, second = (counts_of_nodes(made, combination) for made in (before, after))
            others = [
                key
                for key in first.keys() & second.keys()
                if not holds_row(before, combination, key, {"x": 37.77, "y": 11})
            ]
            assert len(others) > 20 and all(first[key] == second[key] for key in others)


NAMES = ("zip", "age", "rooms", "cars", "rent", "day")
FEW_TYPES, RARE = 4, 40_404
SALTS_TYPES = 2


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """People of whom four have a zip of their own, in a file; all that differs is a number."""
    generator = np.random.default_rng(12)
    rows = 160
    zips = generator.choice([40_401, 40_402, 40_406, 40_407], rows)
    zips[:FEW_TYPES] = RARE
    columns = [zips, *(generator.integers(1, most, rows) for most in (90, 7, 4, 900, 29))]
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pv.write_csv(pa.table(dict(zip(NAMES, columns, strict=True))), path)
    return path


def shows_the_few(path, letters):
    """Whether their zip comes out of its own table, or of one with another column, by salt."""
    read = read_table(path, [ChosenColumn(*each) for each in zip(NAMES, letters, strict=True)])
    for trial in range(SALTS_TYPES):
        parameters = SynDiffixParameters(salted(trial), clustering=SingleClustering())
        made = Synthesizer(read.columns, parameters, contents=read.contents)
        tables = tables_per_question(made, [(0,), (0, 1), (0, 4)])
        yield any(str(RARE) in table["zip"].cast(pa.string()).to_pylist() for table in tables)


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_a_suppressed_value_appears_under_none_of_32_combinations_of_types(step, people):
    """All of them, or four, of which two have the zip as a text."""
    chosen = list(product("is", repeat=5))[::step]
    found = [tuple(shows_the_few(people, (*letters, "i"))) for letters in chosen]
    # Suppressed with a probability of 84 %, where it is under the first types; then under all.
    assert len(set(found)) == 1
    assert not all(found[0])


def test_rows_are_the_same_whatever_types_are_declared_and_in_a_copy_of_another_format(people, tmp_path):
    table = pv.read_csv(people)
    texts = pa.table([column.cast(pa.string()) for column in table.columns], table.column_names)
    copies = [people, tmp_path / "numbers.parquet", tmp_path / "texts.parquet", tmp_path / "people.tsv"]
    pq.write_table(table, copies[1])
    pq.write_table(texts, copies[2])
    copies[3].write_text(people.read_text().replace(",", "\t"))
    contents = [
        read_table(path, [ChosenColumn("age"), ChosenColumn("rent", letter)]).contents[:, 0]
        for path in copies
        for letter in (None, "i", "r", "s")
    ]
    assert all((content == contents[0]).all() for content in contents)


def test_names_that_a_configuration_gives_are_not_what_tells_rows_apart(people, tmp_path):

    bare = tmp_path / "bare.csv"
    bare.write_text(people.read_text().partition("\n")[2])
    one, other = (
        read_table(InputFile(bare, "csv", header=tuple(names))) for names in (NAMES, map(str.upper, NAMES))
    )
    assert (one.contents == other.contents).all()
    assert one.columns.column_names != other.columns.column_names
