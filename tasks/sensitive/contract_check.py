"""Contract step: the raw table judged, where the contract is strict; the run stops if it is broken.

Under differential privacy that the release exists shows that the table kept its contract, and the statement
says so (R2). The verdicts are made here, once, before the draw, and kept with what is drawn.
"""

from pathlib import Path

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.expectations import validation_result
from tasks.core.contracts.validation import judge_table
from tasks.core.errors import ContractViolation
from tasks.core.ledger.dataset_notes import BROKEN
from tasks.core.ledger.tables import PublicTable
from tasks.core.records.columns import Schema
from tasks.core.statement.contract_verdicts import passed_json
from tasks.messages import say
from tasks.sensitive.ledger import open_user_ledger
from tasks.sensitive.read import SensitiveTable, require_unchanged
from tasks.step import step
from tasks.storage import SENSITIVE, RunWorkspace, StoredTable, write_json

#: In a judged table: the verdicts as they may be published, where all rules are kept.
VERDICTS = "verdicts.json"
_TOLD_OF_A_STOP = (
    ", or set contract_mode to repair. The ledger keeps that this run was stopped, and every later release "
    "says so."
)


@step(SENSITIVE, cached=True)
def judge_contract(
    run: RunWorkspace,
    table: SensitiveTable,
    contract: Contract,
    schema: Schema,
    drawn_as: tuple[str, PublicTable] | None,
) -> StoredTable:
    """Judge the raw table; counts of what was found go to ``sensitive/``.

    Args:
        drawn_as: the vintage that is to be drawn, and what is public of its table; None where nothing is
            drawn, and no statement has to tell of a run that is stopped.

    Raises:
        ContractViolation: naming a file that says which rules are broken.
    """
    with run.resources.connect() as connection:
        judged = judge_table(connection, table.source, schema, contract)
    require_unchanged(table)
    broken = [rule.violation for rule in judged.broken]
    if broken and drawn_as is not None:
        # First of all: what is in the ledger is told, whenever this process ends.
        vintage, public = drawn_as
        open_user_ledger().note_stop(run.dataset, vintage, BROKEN, contract.meaning, public)

    def write(folder: Path) -> None:
        result, page = validation_result(judged, contract, schema)
        (folder / "validation_result.json").write_text(result, encoding="utf-8")
        (folder / "data_docs.html").write_text(page, encoding="utf-8")
        if not broken:
            write_json(folder / VERDICTS, passed_json(contract, schema))

    stored = run.store(run.folder(SENSITIVE) / "contract", "judged contract", write)
    if broken:
        # Which rules is sensitive: it is told at the terminal; the error that Prefect keeps has none of it.
        for sentence in broken:
            say(f"contract: {sentence}")
        what_else = "." if drawn_as is None else _TOLD_OF_A_STOP
        raise ContractViolation(
            "The table must keep its data contract, which is strict, but breaks it. "
            f"{run.root / stored.key}/data_docs.html says which rules, for you alone. Correct the table or "
            f"the contract{what_else}"
        )
    return stored
