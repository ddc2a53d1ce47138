"""What a data contract did to the table, and what shows by that it was counted: sentences."""

from tasks.core.anonymity.statement_claims import Promise

Json = dict[str, object]


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
