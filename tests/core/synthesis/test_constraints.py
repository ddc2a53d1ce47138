"""W22: what a contract's constraints say holds in every record, raw before counting and synthetic."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import ContractColumn, FunctionalDependency, StructuralZero, ValueOrdering
from tasks.core.dp.digest import configuration_digest
from tasks.core.dp.workload.cells import coding_of_cells, domain_of
from tasks.core.dp.workload.exact import filled
from tasks.core.dp.workload.measurement import read_workload_measurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.dp.workload.parameters import LongerSets, Shares, WorkloadParameters
from tasks.core.errors import ParameterError
from tasks.core.fitting.fit import fit
from tasks.core.fitting.noisy_tables import table_counts
from tasks.core.records import rulebook
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.records.dropped import BROKE_A_CONSTRAINT
from tasks.core.records.rulebook import Rulebook, repair_records
from tasks.core.synthesis.fitted import draw_fitted, empty_others, repair_impossible
from tests.oracles import constraints as oracle
from tests.oracles.constraints import BINS
from tests.oracles.constraints import plain_contract as _contract
from tests.oracles.partitions import parted
from tests.oracles.workloads import declared_records, default_shares, draw

F = Fraction
SHARES = Shares(F(1, 100), F(20, 100), F(60, 100), F(3, 100), F(15, 100))


def constrained_schema(contract):
    try:
        return with_constraints(oracle.SCHEMA, contract)
    except ParameterError:
        event("refused")
        assume(False)


def raw_records(schema, number, seed):
    """Records of the measured columns that break whatever there is, each cell empty now and then."""
    generator = np.random.default_rng(seed)
    slots, slot_columns, values = [], [], []
    for place, column in enumerate(schema.measured.columns):
        known = column.domain or oracle.TOWNS
        codes = generator.integers(0, len(known) + 1, (column.max_items, number))
        if column.max_items == 2:
            codes = np.sort(codes, axis=0)
            codes[0][codes[0] == codes[1]] = 0
            codes = np.where(codes[0] == 0, codes[::-1], codes)
        slots.extend(codes.astype(np.uint8))
        slot_columns.extend([place] * column.max_items)
        values.append(known)
    return CodedRecords(schema.measured, tuple(slots), tuple(slot_columns), tuple(values), number)


def texts_of(records):
    """Coded records as `oracle.broken` takes them."""
    found = [
        {column.name: set() for column in records.schema.columns} for _ in range(records.number_of_records)
    ]
    for codes, column in zip(records.slots, records.slot_columns, strict=True):
        name = records.schema.columns[column].name
        for record, code in zip(found, codes, strict=True):
            if code:
                record[name].add(records.values[column][code - 1])
    return found


def written(made, schema):
    """Synthetic records as `oracle.broken` takes them."""
    found = []
    for row in range(made.number_of_records):
        record = {column.name: set() for column in schema.columns}
        for at in made.attribute_ids[made.offsets[row] : made.offsets[row + 1]]:
            attribute = made.attributes[at]
            text = attribute.value if attribute.item is None else attribute.item
            record[schema.columns[attribute.column].name].add(text)
        found.append(record)
    return found


def drawn(schema, number=120, epsilon=3.0, seed=1, **options):
    raw = repair_records(raw_records(schema, number, seed), schema, filled=options.get("filled", ()))
    options.setdefault("longer", LongerSets(lengths=(3,), most=1))
    parameters = WorkloadParameters(epsilon, 1e-4, SHARES, **options)
    return draw(raw, parameters, seed)


#: No empty home is allowed in some contracts, and what is outside is "none".
HOME = 1


def _with_home_required(contract):
    columns = (
        column.model_copy(update={"max_empty_percent": 0.0}) if column.name == "home" else column
        for column in contract.columns
    )
    return contract.model_copy(update={"columns": tuple(columns)})


def _as_filled(contract, fills):
    """W1 fills an empty home after the repair: one that took it for empty would be undone, or break one."""
    return (_with_home_required(contract), (HOME,)) if fills else (contract, ())


@given(contract=oracle.contracts(), seed=st.integers(0, 1000), fills=st.booleans())
@settings(max_examples=100, deadline=None)
def test_w22_repair_makes_every_raw_record_hold_all_constraints(contract, seed, fills):
    contract, places = _as_filled(contract, fills)
    schema = constrained_schema(contract)
    told = []
    after = filled(repair_records(raw_records(schema, 40, seed), schema, told.append, filled=places), places)
    for record in texts_of(after):
        record.setdefault("area", set())
        assert oracle.broken(contract, record) == []
        assert not fills or len(record["home"]) == 1
    assert {each.reason for each in told} <= {BROKE_A_CONSTRAINT}
    for codes, column in zip(after.slots, after.slot_columns, strict=True):
        assert codes.max(initial=0) <= len(after.values[column])


@given(
    contract=oracle.contracts(),
    seed=st.integers(0, 1000),
    epsilon=st.sampled_from([0.2, 3.0]),
    fills=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_w22_every_synthetic_record_holds_all_constraints(contract, seed, epsilon, fills):
    contract, places = _as_filled(contract, fills)
    schema = constrained_schema(contract)
    measurement = drawn(schema, seed=seed, epsilon=epsilon, filled=places)
    for record in written(draw_fitted(measurement, seed).records, schema):
        assert oracle.broken(contract, record) == []
        assert not fills or len(record["home"]) == 1


@given(contract=oracle.contracts(), seed=st.integers(0, 1000), at=st.integers(0, 39))
@settings(max_examples=25, deadline=None)
def test_w22_a_record_is_repaired_alone(contract, seed, at):
    """What becomes of one record is the same whoever else is in the table; a record that holds all stays."""
    schema = constrained_schema(contract)
    whole = raw_records(schema, 40, seed)
    one = CodedRecords(
        whole.schema, tuple(codes[at : at + 1] for codes in whole.slots), whole.slot_columns, whole.values, 1
    )
    together, alone = texts_of(repair_records(whole, schema))[at], texts_of(repair_records(one, schema))[0]
    assert together == alone
    before = texts_of(one)[0]
    if schema.derivations:
        before["area"] = alone["area"]
    if not oracle.broken(contract, before):
        assert alone == before


def _zero(excluded=(), **values):
    return StructuralZero(values=values, excluded=excluded)


THREE = _contract(
    structural_zeros=(
        _zero(work=("retired",), started=("<0", "[0,10)")),
        _zero(work=("student",), home=("house",), tongue=("basque",)),
    ),
    orderings=(ValueOrdering(columns=("started", "ended")),),
)


@pytest.mark.parametrize("tables", [None, ((0, 1),)])
def test_w22_the_search_itself_leaves_no_record_in_an_impossible_cell(tables):
    """Also where the columns of a constraint are in no measured table together."""
    schema = with_constraints(oracle.SCHEMA, THREE)
    measurement = drawn(schema, 800, tables=tables)
    domain = domain_of(measurement.cells, schema)
    book = Rulebook(schema, coding_of_cells(measurement.cells, measurement.schema))
    free = domain_of(measurement.cells)
    tables_drawn = noisy_tables(measurement)
    assert book.broken(fit(free, tables_drawn, 800, 3)[0]).any()
    assert not book.broken(fit(domain, tables_drawn, 800, 3)[0]).any()


def test_w22_impossible_cells_are_measured_with_noise_like_all_others():
    schema = with_constraints(oracle.SCHEMA, THREE)
    measurement = drawn(schema, 300)
    table = next(table for table in measurement.tables if table.columns == (0, 2))
    impossible = table.counts[1, :2]
    assert (impossible != 0).any()
    assert np.std([t.counts[1, :2] for t in (drawn(schema, 300, seed=s).tables[1] for s in range(1, 20))]) > 0


def test_w22_a_repaired_table_is_measured_and_kept_whole(tmp_path):
    schema = with_constraints(oracle.SCHEMA, THREE)
    measurement = drawn(schema)
    measurement.write(tmp_path)
    read = read_workload_measurement(tmp_path)
    assert read.schema == schema == Schema.from_json(schema.to_json())
    assert draw_fitted(read, 5).records.attribute_ids.tolist() == (
        draw_fitted(measurement, 5).records.attribute_ids.tolist()
    )


def test_w22_a_column_that_another_one_decides_is_not_measured():
    """No table has it, and length 1 costs one value less a record."""
    follows = FunctionalDependency(determinants=("town",), dependent="area", values={"Ely": "north"})
    decided = with_constraints(oracle.SCHEMA, _contract(functional_dependencies=(follows,)))
    measured, whole = drawn(decided), drawn(oracle.SCHEMA)
    assert decided.columns[-1].name == "area"
    assert {table.sensitivity for table in whole.values} == {8}
    assert {table.sensitivity for table in measured.values} == {7}
    place = len(decided.columns) - 1
    assert not any(place in table.columns for table in (*measured.values, *measured.tables))
    assert measured.values[0].scale < whole.values[0].scale


def test_w22_partitions_measure_no_column_that_another_one_decides_either(tmp_path):
    follows = FunctionalDependency(determinants=("town",), dependent="area", values={"Ely": "north"})
    schema = with_constraints(oracle.SCHEMA, _contract(functional_dependencies=(follows,)))
    raw = repair_records(raw_records(schema, 120, 1), schema)
    asked = WorkloadParameters(3.0, 1e-4, SHARES, longer=LongerSets(lengths=(3,), most=1))
    one, other = (draw(records, asked) for records in (raw, parted(raw, tmp_path, 3)))
    assert [table.columns for table in one.tables] == [table.columns for table in other.tables]
    for whole, part in zip((*one.values, *one.tables), (*other.values, *other.tables), strict=True):
        assert (whole.counts == part.counts).all()


def test_w20_constraints_are_in_a_releases_name_and_nothing_else_is_changed_by_them():
    parameters = {"epsilon": 1}
    names = {configuration_digest(oracle.SCHEMA, parameters)}
    entries = [
        {"structural_zeros": (_zero(work=("retired",), home=("flat",)),)},
        {"structural_zeros": (_zero(excluded=("home",), work=("retired",), home=("flat",)),)},
        {"orderings": (ValueOrdering(columns=("started", "ended")),)},
        {"orderings": (ValueOrdering(columns=("started", "ended"), strict=True),)},
        *(
            {
                "functional_dependencies": (
                    FunctionalDependency(
                        determinants=("town",), dependent="area", values={"Ely": value}, otherwise=other
                    ),
                )
            }
            for value, other in (("north", None), ("south", None), ("north", "south"))
        ),
    ]
    for entry in entries:
        names.add(configuration_digest(with_constraints(oracle.SCHEMA, _contract(**entry)), parameters))
    assert len(names) == len(entries) + 1
    assert "constraints" not in oracle.SCHEMA.to_json()
    without = with_constraints(oracle.SCHEMA, _contract())
    assert configuration_digest(without, parameters) == configuration_digest(oracle.SCHEMA, parameters)


def test_w22_what_is_written_for_other_breaks_nothing():
    """Values of an open column that did not pass are written as nothing, where the record allows it."""
    zero = _zero(town=("Ely",), work=("retired",))
    schema = with_constraints(oracle.SCHEMA, _contract(structural_zeros=(zero,)))
    raw = raw_records(schema, 3000, 1)
    towns = raw.slots[4].copy()
    rare = np.arange(3000) % 3 == 0
    towns[rare] = np.arange(rare.sum()) % 200 + 4
    values = (*raw.values[:4], (*oracle.TOWNS, *(f"t{i:03}" for i in range(200))), *raw.values[5:])
    raw = CodedRecords(raw.schema, (*raw.slots[:4], towns, *raw.slots[5:]), raw.slot_columns, values, 3000)
    asked = WorkloadParameters(3.0, 1e-6, SHARES, longer=LongerSets(lengths=(3,), most=1))
    measurement = draw(repair_records(raw, schema), asked)
    made = draw_fitted(measurement, 3)
    records = written(made.records, schema)
    others = made.cells[:, 4] == measurement.cells[4].other
    assert others.sum() > 300
    assert not any(oracle.broken(_contract(structural_zeros=(zero,)), record) for record in records)
    assert sum(not record["town"] for record in records) >= others.sum()


def test_w22_the_last_repair_holds_what_the_search_could_not():
    """Records that lie in impossible cells, `other` among them, are written as records that may be."""
    no_house = _zero(town=("Deal", "Ely", "Rye", ""), home=("house",))
    contract = _contract(structural_zeros=(*THREE.structural_zeros, no_house))
    schema = with_constraints(oracle.SCHEMA, contract)
    measurement = drawn(schema, 500)
    domain = domain_of(measurement.cells)
    generator = np.random.default_rng(1)
    sizes = [domain.sizes[column] for column in schema.slot_columns]
    anything = np.stack([generator.integers(0, size, 300) for size in sizes], axis=1).astype(np.int32)
    anything[:, 6] = domain.empty(5)  # of two items the second is left out
    anything[:, 4] = measurement.cells[4].other
    book = Rulebook(schema, coding_of_cells(measurement.cells, measurement.schema))
    assert book.broken(anything).sum() > 50
    assert not book.broken(repair_impossible(measurement, anything)).any()
    assert not book.broken(empty_others(measurement, anything)).any()


def test_w22_constraints_of_more_columns_than_the_search_takes_hold_too(monkeypatch):
    monkeypatch.setattr(rulebook, "MOST_COLUMNS_OF_A_MASK", 4)
    zero = _zero(
        work=("employed", "retired"),
        home=("flat", "house"),
        started=BINS[:4],
        ended=BINS[2:],
        area=("north",),
    )
    contract = _contract(structural_zeros=(zero,))
    schema = with_constraints(oracle.SCHEMA, contract)
    assert not domain_of(drawn(schema).cells, schema).impossible
    records = written(draw_fitted(drawn(schema, 400), 1).records, schema)
    assert not any(oracle.broken(contract, record) for record in records)
    free = written(draw_fitted(drawn(oracle.SCHEMA, 400), 1).records, oracle.SCHEMA)
    assert any(oracle.broken(contract, record) for record in free)


def _ordered_people(number, seed):
    """Two columns in order, two that exclude each other's halves, one that half follows the first."""
    generator = np.random.default_rng(seed)
    frequencies = 1 / np.arange(1, 13)
    frequencies /= frequencies.sum()
    first, third = (generator.choice(12, number, p=frequencies) for _ in range(2))
    second = (generator.random(number) * (first + 1)).astype(int)
    fourth = np.where(third < 6, generator.integers(0, 6, number), generator.integers(0, 12, number))
    fifth = np.where(generator.random(number) < 0.5, first, generator.integers(0, 12, number))
    return np.stack([first, second, third, fourth, fifth], axis=1)


def test_constraints_bring_the_records_nearer_to_the_table():
    """Over pairs, at epsilon 1 with 5,000 records: a tenth nearer, with the same noise."""
    values = tuple(f"v{code}" for code in range(12))
    columns = tuple(Column(f"c{place}", domain=values) for place in range(5))
    zeros = [_zero(c0=(values[code],), c1=values[code + 1 :]) for code in range(11)]
    zeros.append(_zero(c2=values[:6], c3=values[6:]))
    plain = Schema(columns)
    described = tuple(ContractColumn(name=column.name) for column in columns)
    contract = _contract(structural_zeros=tuple(zeros)).model_copy(update={"columns": described})
    found = []
    for schema in (plain, with_constraints(plain, contract)):
        distances = []
        for seed in (1, 2):
            people = _ordered_people(5000, seed).astype(np.int32)
            asked = WorkloadParameters(1.0, 1e-6, default_shares(0.5)[0])
            measurement = draw(declared_records(schema, people.T + 1), asked, seed)
            cells, domain = draw_fitted(measurement, seed).cells, domain_of(measurement.cells)
            for pair in itertools.combinations(range(5), 2):
                one, other = (table_counts(domain, pair, rows) / len(rows) for rows in (cells, people))
                distances.append(np.abs(one - other).sum() / 2)
        found.append(np.mean(distances))
    assert found[1] < 0.95 * found[0]


def test_w22_constraints_that_only_an_empty_cell_could_hold_are_refused_of_a_filled_column():
    """A town would need an empty home, and that counts as "none"."""
    zero = StructuralZero(values={"home": ("flat", "house", "none"), "town": ()}, excluded=("town",))
    contract = _with_home_required(_contract(structural_zeros=(zero,)))
    assert with_constraints(oracle.SCHEMA, contract, fills=False)
    with pytest.raises(ParameterError, match="they leave none to 'town'"):
        with_constraints(oracle.SCHEMA, contract)
