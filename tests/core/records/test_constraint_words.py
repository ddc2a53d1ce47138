"""W20: a statement lists the constraints that hold and who declares them, and no number of repairs."""

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import FunctionalDependency, StructuralZero, ValueOrdering
from tasks.core.records.constraint_words import constraints_json
from tasks.core.statement.preparation import preparation_paragraph
from tasks.core.statement.released_json import ANONYMITY_STATEMENT_KEYS, STATEMENT_KEYS, check_released_json
from tests.oracles import constraints as oracle


def test_w20_the_statement_lists_what_is_held_and_by_which_contract():
    contract = oracle.plain_contract(
        structural_zeros=(
            StructuralZero(values={"work": ("retired", ""), "town": ("Ely",)}, excluded=("town",)),
        ),
        functional_dependencies=(
            FunctionalDependency(determinants=("town",), dependent="area", values={"Ely": "north"}),
        ),
        orderings=(ValueOrdering(columns=("started", "ended")),),
    )
    schema = with_constraints(oracle.SCHEMA, contract)
    body = constraints_json(schema, "ab12")
    assert body is not None and body["sha256"] == "ab12"
    assert body["rules"] == [
        "area follows from town; what the table holds in it was not counted.",
        "Never together: work is 'retired' or empty; town has a value other than 'Ely'.",
        "started is at most ended, where a record has both.",
    ]
    for allowed in (STATEMENT_KEYS, ANONYMITY_STATEMENT_KEYS):
        check_released_json({"constraints": body}, allowed)
    assert "'area' is not counted" in preparation_paragraph(
        schema
    ) and "repaired by itself" in preparation_paragraph(schema)
    assert constraints_json(oracle.SCHEMA, "ab12") is None
    assert "constraint" not in preparation_paragraph(oracle.SCHEMA)
