"""How the table became what is counted, and what shows by that it did: public facts in, sentences out."""

from tasks.core.anonymity.statement_claims import Promise
from tasks.core.records.columns import Schema

Json = dict[str, object]


def prepared(schema: Schema, contract_mode: str) -> str:
    """What of a table is counted at all: every other sentence is about records prepared in this way."""
    columns = schema.columns
    rules = ["cells are trimmed, and empty ones hold no value"]
    if not all(column.zero_is_value for column in columns):
        rules.append("a 0 is no value in a column that is not marked as keeping it")
    if any(column.bins for column in columns):
        rules.append("a number of a column with bins stands for its bin, and what is no number for no value")
    if any(column.domain is not None and not column.bins for column in columns):
        rules.append("a value that is not among those declared of its column is no value")
    if any(column.is_multi_valued and column.max_items for column in columns):
        rules.append("of a column with several items no more than its cap are kept, others are dropped")
    if contract_mode == "repair":
        rules.append("a cell that broke the data contract was blanked or replaced by a declared value")
    return (
        f"Counted are the records as they were prepared: {'; '.join(rules)}. To hold a value or a "
        "combination, here and below, is to hold it after that; the table itself may have more of it."
    )


def contract(mode: str) -> Json:
    """What a data contract did: ``none`` was given, it was ``strict``, or cells were put to ``repair``."""
    sentence = {
        "none": "No data contract was given, so no rule on the table's values was checked.",
        "strict": "That this release exists shows that the raw table satisfied its data contract.",
        "repair": (
            "Cells that broke a rule of the data contract were blanked or replaced by a declared value "
            "before anything was counted; no rule could stop this release."
        ),
    }[mode]
    return {"strict": mode == "strict", "sentence": sentence}


def side_channels(promise: Promise) -> str:
    """What shows without being released."""
    joined = ""
    if promise.unit == "subject":
        joined = (
            ", that every row has a subject's id, that no subject's rows contradict each other in a column "
            "that holds one value"
        )
    return (
        "That this release exists shows that the file holds rows and could be read with the delimiter "
        f"and the header that it was said to have{joined}, and that no item of a column with several is "
        "called so that it would be taken for another column's. When it was released is public."
    )
