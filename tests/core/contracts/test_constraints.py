"""Constraints of a contract: how they are written, what they name, and what public facts alone refuse."""

import pytest

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import Contract, ValueOrdering
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.odcs import read_contract
from tasks.core.contracts.public_schema import build_schema
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Column, Schema
from tasks.core.records.constraints import Condition, Derivation, ImpossibleCombination, Ordering
from tests.oracles.constraints import contract_of_dates

COLUMNS = """\
    properties:
      - {name: person}
      - name: work
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [employed, retired]}}]
        customProperties: [{property: repair, value: employed}]
      - {name: age, logicalType: integer, customProperties: [{property: bins, value: [18, 30, 65]}]}
      - {name: rooms, logicalType: integer,
         quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: ["1", "2", "3", more]}}]}
      - {name: town}
      - {name: region}
      - {name: tongue, logicalType: array, logicalTypeOptions: {maxItems: 2},
         customProperties: [{property: delimiter, value: "|"}]}
      - {name: came, logicalType: date}
      - {name: went, logicalType: timestamp}
      - {name: hour, logicalType: time}
"""
HEADERS = ["person", "work", "age", "rooms", "town", "region", "tongue", "came", "went", "hour"]


def text_of(zeros="[]", dependencies="[]", orderings="[]", columns=COLUMNS):
    return f"""\
apiVersion: v3.1.0
kind: DataContract
id: c
version: 1.0.0
status: active
schema:
  - name: t
    customProperties:
      - {{property: subjectId, value: person}}
      - {{property: structuralZeros, value: {zeros}}}
      - {{property: functionalDependencies, value: {dependencies}}}
      - {{property: orderings, value: {orderings}}}
{columns}"""


def schema_of(contract: Contract, used=(), **declared):
    given = Declarations(use_columns=used, **declared)
    return build_schema(HEADERS, given, contract, cap_required=True, constrained=True)


def constraints_of(**written):
    return schema_of(read_contract(text_of(**written))).constraints


def faults(**written):
    with pytest.raises(ParameterError) as caught:
        constraints_of(**written)
    return caught.value.problems


def test_an_impossible_combination_names_values_bins_ranges_and_empty_cells():
    (found,) = constraints_of(
        zeros="[{age: ['<30', '>65'], work: [retired], town: {not: []}, rooms: ['<=2']}]"
    )
    assert found == ImpossibleCombination(
        (
            Condition(0, ("retired",)),
            Condition(1, ("<18", "[18,30)", ">65")),
            Condition(2, ("1", "2")),
            Condition(3, (), excluded=True),
        )
    )


def test_the_repair_value_is_of_the_column_that_the_contract_describes_last():
    (found,) = constraints_of(zeros="[{tongue: [''], work: [retired]}]")
    assert (found.conditions[-1].column, found.repair) == (5, None)
    columns = COLUMNS.replace("      - {name: person}\n", "").replace(
        "properties:", "properties:\n      - {name: person}\n      - {name: town}", 1
    )
    columns = columns.replace("      - {name: town}\n      - {name: region}", "      - {name: region}")
    (found,) = schema_of(
        read_contract(text_of("[{work: [retired], town: [Ely]}]", columns=columns))
    ).constraints
    assert (found.conditions[-1].values, found.repair) == (("retired",), "employed")


def test_a_decided_column_stands_last_and_its_values_are_those_that_can_follow():
    written = text_of(
        dependencies="[{from: town, to: region, values: {Ely: north, Deal: south, '': nowhere},"
        " otherwise: far}, {from: region, to: rooms, values: {north: '1', far: more}}]"
    )
    schema = schema_of(read_contract(written))
    assert [column.name for column in schema.columns[-2:]] == ["region", "rooms"]
    assert schema.columns[-2].domain == ("north", "south", "nowhere", "far")
    region, rooms = schema.derivations
    assert [region.text(town) for town in ("Ely", "Deal", "", "Rye")] == ["north", "south", "nowhere", "far"]
    assert [rooms.text(value) for value in ("north", "south", "")] == ["1", "", ""]
    assert len(schema.measured.columns) == 7 and schema.measured.constraints == ()


def test_a_column_can_follow_from_ranges():
    (found,) = constraints_of(dependencies="[{from: age, to: region, values: {'<30': young, '>=30': old}}]")
    assert isinstance(found, Derivation)
    pairs = (("<18", "young"), ("[18,30)", "young"), ("[30,65]", "old"), (">65", "old"))
    assert found.values == pairs


def test_an_ordering_of_three_columns_holds_for_every_two_of_them():
    columns = COLUMNS.replace("{name: hour, logicalType: time}", "{name: hour, logicalType: date}")
    contract = read_contract(
        text_of(orderings="[{columns: [hour, came, went], strict: true}]", columns=columns)
    )
    found = schema_of(contract).constraints
    assert [entry.columns for entry in found] == [(8, 6), (8, 7), (6, 7)]
    assert all(isinstance(entry, Ordering) and entry.strict and entry.scale == "moment" for entry in found)
    assert [entry.later for entry in found] == [8, 8, 7]


def test_a_constraint_on_a_column_that_is_not_used_is_left_out():
    contract = read_contract(
        text_of(
            "[{work: [retired], age: ['<18']}, {work: [retired], town: [Ely]}]",
            "[{from: town, to: region, values: {Ely: north}}]",
            "[{columns: [came, went]}]",
        )
    )
    schema = schema_of(contract, used=("work", "town", "came"))
    assert len(schema.constraints) == 1
    assert schema_of(contract, used=("work", "region")).constraints == ()
    plain = build_schema(HEADERS, Declarations(), contract, cap_required=True)
    assert plain.constraints == () and [column.name for column in plain.columns] == HEADERS[1:]


ZEROS, FOLLOWS, ORDERED = "zeros", "dependencies", "orderings"


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        (ZEROS, "[{work: [retired]}]", "needs two columns or more"),
        (ZEROS, "[{work: [retired], aeg: ['<18']}]", "no column 'aeg'; did you mean 'age'?"),
        (ZEROS, "[{work: [retird], age: ['<18']}]", "value 'retird'; did you mean 'retired'?"),
        (ZEROS, "[{work: [retired], age: ['<20']}]", "must begin and end at edges of its bins: 18, 30, 65"),
        (ZEROS, "[{work: [retired], rooms: ['>5']}]", "holds none of its values"),
        (ZEROS, "[{work: {nt: [retired]}, town: [Ely]}]", "or {not: [retired]} for all values but these"),
        (ZEROS, "[{work: retired, town: [Ely]}]", "work: must be a list of values, such as [retired], or"),
        (ZEROS, "[{work: [], town: [Ely]}]", "work: must list a value"),
        (ZEROS, "{work: [retired], town: [Ely]}", "must be a list, such as [one, another]."),
        (ZEROS, "[{work: [retired], age: ['18-30']}]", "'[18,30)', "),
        (ZEROS, "[{work: [retired], age: ['18-30']}]", "and ranges between its edges"),
        (
            ZEROS,
            "[{person: [a], age: ['<18']}]",
            "'person' is the id; constraints are about the other columns",
        ),
        (FOLLOWS, "[{from: town, to: region}]", "must be written out in values"),
        (FOLLOWS, "[{from: [town, age], to: region, values: {a: b}}]", "follows from one other column"),
        (FOLLOWS, "[{from: town, to: town, values: {a: b}}]", "can't decide itself"),
        (FOLLOWS, "[{from: town, to: tongue, values: {a: b}}]", "is an array"),
        (FOLLOWS, "[{from: town, to: work, values: {Ely: idle}}]", "does not have the value 'idle'; it has"),
        (FOLLOWS, "[{from: town, to: age, values: {Ely: '>=18'}}]", "must be one value each"),
        (FOLLOWS, "[{from: town, to: region, values: {Ely: ''}}]", "nothing but absence"),
        (
            FOLLOWS,
            "[{from: age, to: region, values: {'<30': a, '[18,65]': b}}]",
            "two values follow for 'region' from '[18,30)'",
        ),
        (
            FOLLOWS,
            "[{from: town, to: region, values: {a: b}}, {from: region, to: town, values: {b: a}}]",
            "in a circle",
        ),
        (
            FOLLOWS,
            "[{from: town, to: region, values: {a: b}}, {from: hour, to: region, values: {a: b}}]",
            "it follows twice. Keep one",
        ),
        (ORDERED, "[{columns: [came]}]", "columns: must have 2 entries or more."),
        (
            ORDERED,
            "[{columns: [came, went]}, {columns: [went, came], strict: true}]",
            "each of 'came', 'went' would be below itself",
        ),
        (ORDERED, "[{columns: [came, came]}]", "can't stand twice"),
        (ORDERED, "[{columns: [came, age]}]", "must all be numbers"),
        (ORDERED, "[{columns: [town, age]}]", "must all be numbers"),
    ],
)
def test_what_cannot_be_meant_is_refused(key, text, sentence):
    found = faults(**{key: text})
    assert any(sentence in fault for fault in found), found


def test_w22_an_ordering_of_values_that_stand_in_no_order_is_refused():
    columns = (Column("came", domain=("in spring", "in autumn")), Column("went", domain=("2025-01",)))
    contract = contract_of_dates("came", "went", orderings=(ValueOrdering(columns=("came", "went")),))
    with pytest.raises(ParameterError, match="values of 'came' that can be read as dates; none of those"):
        with_constraints(Schema(columns), contract)


def test_w22_constraints_that_leave_a_column_no_value_are_refused():
    (found,) = faults(zeros="[{work: [retired], age: {not: []}}, {work: [retired], age: ['']}, "
                      "{work: [employed], age: {not: []}}, {work: [employed], age: ['']}]")  # fmt: skip
    assert "they leave none to 'work'" in found


def test_open_columns_may_be_empty_together():
    """Each can hold a value only where the others do, and what that is nobody knows yet."""
    names = ("payer", "class", "ward")
    contract = contract_of_dates(*names, empty_together=(names,))
    assert len(with_constraints(Schema(tuple(map(Column, names))), contract).constraints) == 1


def test_w22_constraints_that_leave_no_record_are_refused():
    (found,) = faults(zeros="[{work: {not: []}, age: {not: []}}, {work: {not: []}, age: ['']}, "
                      "{work: [''], age: {not: []}}, {work: [''], age: ['']}]")  # fmt: skip
    assert "they leave none. With the entries before it this one leaves none" in found
    assert "Never together: work is empty; age is empty." in found and "open" not in found


def test_w22_a_repair_value_that_is_none_is_refused_whichever_column_is_repaired():
    """The contract describes another column of the entry last; a later entry would meet the fault."""
    columns = COLUMNS.replace("{property: repair, value: employed}", "{property: repair, value: unknown}")
    contract = read_contract(text_of("[{work: [retired], age: ['<18']}]", columns=columns))
    with pytest.raises(ParameterError, match="repair value 'unknown' of 'work' must be one of its declared"):
        schema_of(contract)


def test_orderings_that_make_columns_equal_are_no_contradiction():
    contract = read_contract(text_of(orderings="[{columns: [came, went]}, {columns: [went, came]}]"))
    assert len(schema_of(contract).constraints) == 2


def test_w22_an_open_column_must_be_allowed_to_be_empty():
    (found,) = faults(zeros="[{town: [''], work: ['']}, {town: [''], work: {not: []}}]")
    assert "declare the values of the open columns" in found


def test_a_domain_of_the_configuration_counts_as_much_as_the_contracts():
    contract = read_contract(text_of("[{town: [Ely, Rye], work: [retired]}]"))
    with pytest.raises(ParameterError, match="'town' does not have the value 'Rye'"):
        schema_of(contract, domains={"town": ("Ely", "Deal")})


def test_the_meaning_of_a_contract_without_new_keys_is_what_it_was():
    """Strict contracts name releases by it: what was drawn must not be drawn again."""
    contract = read_contract(text_of("[{work: [retired], age: ['<18']}]"))
    assert contract.structural_zeros[0].model_dump(exclude_defaults=True) == {
        "values": {"work": ("retired",), "age": ("<18",)}
    }
    assert "orderings" not in contract.model_dump(exclude_defaults=True)
