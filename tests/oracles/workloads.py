"""Fitted draws for tests: people, parameters, and what a draw cost, counted again in fractions."""

import itertools
import math
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.workload import cells as workload_cells
from tasks.core.dp.workload.draw import WorkloadDraw, draw_workload
from tasks.core.dp.workload.exact import ExactCounts
from tasks.core.dp.workload.parameters import LongerSets, Shares, WorkloadParameters, budget_of, default_steps
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles.partitions import as_table

F = Fraction
SEXES, HOMES = ("female", "male"), ("flat", "house", "ship")
TONGUES = ("arabic", "basque", "czech", "dutch")
SCHEMA = Schema((Column("sex", domain=SEXES), Column("home"), Column("tongue", delimiter=";", max_items=2)))


def people(number, seed, schema=SCHEMA, tags=False):
    """Records of the schema with dependence: ships are few, men live in flats."""
    generator = np.random.default_rng(seed)
    sex = generator.integers(0, 3, number)
    home = np.where(sex == 2, 1, generator.choice([0, 1, 2, 3], number, p=[0.1, 0.3, 0.5, 0.1]))
    tongues = np.sort(generator.integers(0, 5, (number, 2)), axis=1)[:, ::-1]
    tongues[tongues[:, 0] == tongues[:, 1], 1] = 0
    slots = [sex, home, tongues[:, 1], tongues[:, 0]]
    filled = np.where(slots[2] == 0, slots[3], slots[2]), np.where(slots[2] == 0, 0, slots[3])
    arrays = (sex, home, *filled)
    return CodedRecords(
        schema,
        tuple(array.astype(np.uint8) for array in arrays),
        (0, 1, 2, 2),
        (SEXES, HOMES, TONGUES),
        number,
        generator.integers(0, 2**64, number, np.uint64) if tags else None,
    )


def bits(number, columns, seed=1, flips=None):
    """Declared columns of yes and no; with ``flips`` the third is the exclusive or of the first two."""
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 2, (number, columns))
    if flips is not None:
        table[:, 2] = table[:, 0] ^ table[:, 1] ^ (generator.random(number) < flips)
    return coded_bits(table)


def coded_bits(table):
    """Records of declared columns of no and yes, from rows of 0 and 1."""
    schema = Schema(tuple(Column(f"c{column}", domain=("no", "yes")) for column in range(table.shape[1])))
    return declared_records(schema, table.T + 1)


def declared_records(schema, codes):
    """Records of declared columns that hold one value each, from the codes of each column; 0 is absence."""
    slots = tuple(np.asarray(column, np.uint8) for column in codes)
    values = tuple(column.domain for column in schema.columns)
    return CodedRecords(schema, slots, schema.slot_columns, values, len(slots[0]))


def parameters(epsilon=1.0, **options):
    """All stages, of `SCHEMA` unless other tables are named."""
    options.setdefault("shares", Shares(F(1, 100), F(20, 100), F(61, 100), F(3, 100), F(15, 100)))
    options.setdefault("longer", LongerSets(lengths=(3,), most=2))
    options.setdefault("tables", ((0, 1), (0, 2), (1, 2), (2, 2)))
    return WorkloadParameters(epsilon, 1e-6, **options)


def draw(records, asked, seed=1):
    """A draw from the seeded test stream."""
    return draw_workload(as_table(records), asked, SeededStream(seed), before_first_word=lambda: None)


def refused(records, asked, error, match=""):
    """A draw is refused before a word is drawn."""
    with pytest.raises(error, match=match):
        draw_workload(
            as_table(records),
            asked,
            SeededStream(1),
            before_first_word=lambda: pytest.fail("must not be reached"),
        )


def drawing(records, asked, seed=1, kind=WorkloadDraw):
    """A draw that has not begun, to be taken apart or replaced in part."""
    return kind(ExactCounts(as_table(records)), asked, SeededStream(seed), lambda step, share: None)


class Placed(WorkloadDraw):
    """A draw in which as many candidates stand out as the test says."""

    chosen = 0

    def _places(self, choice, noisy):
        return list(range(min(self.chosen, choice.most, len(choice.candidates))))


def placed(chosen, records, asked, kind=Placed):
    """What is drawn where so many candidates stand out."""
    made = drawing(records, asked, chosen, kind)
    made.chosen = chosen
    return made.run()


@contextmanager
def other_with_multiplicity():
    """Wrong: `other` once for each item that was not released."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workload_cells, "_keep_one", lambda slots, other, empty: None)
        yield


def once(cells, columns):
    """Delta_T: by the caps and released values, column by column."""
    found = 1
    for column in set(columns):
        about = cells[column]
        held = 1 if about.cap == 1 else max(1, min(about.cap, len(about.values) + about.has_other))
        found *= math.comb(held, columns.count(column))
    return max(1, found)


def cost(drawn):
    """The sum of q / s^2 over all that was drawn (Theorem W), from what the measurement says."""
    whole = 1 / F(drawn.count_scale) ** 2
    if drawn.values:  # length 1 is one query
        whole += F(sum(column.max_items for column in drawn.schema.columns)) / F(drawn.values[0].scale) ** 2
    for table in drawn.tables:
        whole += F(once(drawn.cells, table.columns)) / F(table.scale) ** 2
    for scores in (drawn.scores, drawn.pair_scores):
        if scores is not None:
            square = sum(once(drawn.cells, columns) ** 2 for columns in scores.candidates)
            whole += F(square) / F(scores.scale) ** 2
    return whole


def released_cells(record, values, has_other, has_absent):
    """Phi: the cells of one column that one record is in, from the set of its texts."""
    known = {text for text in record if text in values}
    found = [("value", text) for text in sorted(known)]
    if has_other and len(known) < len(record):
        found.append(("other", ""))
    if not found and has_absent:
        found.append(("absent", ""))
    return found


def marginal(cells_of_columns, columns):
    """The cells of a table that one record is in: one choice of k different cells of each column."""
    choices = [
        itertools.combinations(cells_of_columns[column], columns.count(column))
        for column in sorted(set(columns))
    ]
    return [tuple(itertools.chain.from_iterable(choice)) for choice in itertools.product(*choices)]


def default_shares(epsilon, *, all_declared=True, columns=0):
    """The shares and candidates that apply to 30,000 records."""
    first, *others = default_steps(all_declared=all_declared, columns=columns)
    asked = WorkloadParameters(epsilon, 1e-6, first.shares, longer=first.longer, steps=tuple(others))
    mu_squared, _ = budget_of(asked, all_declared=True)
    found = asked.at(asked.signal(30_000, float(mu_squared)))
    return found.shares, found.longer
