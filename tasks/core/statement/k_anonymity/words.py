"""The privacy statement of a k-anonymous release in plain words: statement in, sentences out."""

from tasks.core.arrays import Json
from tasks.core.figures import whole

K_ANONYMOUS_NOT_DP = (
    "This release is k-anonymous. It is not differentially private: what follows is all that holds, and "
    "what does not protect is said below."
)


def sentences(statement: Json) -> list[str]:
    """The statement in plain words, most important first; one sentence or a few in each item."""
    return [sentence for _, said in topics(statement) for sentence in said]


def topics(statement: Json) -> list[tuple[str, list[str]]]:
    """The same sentences under headings."""
    unused = [f"Configuration key {entry['key']}: {entry['why']}." for entry in statement["unused_keys"]]
    return [
        ("The promise", _promise(statement)),
        ("What is reported", _reported(statement)),
        ("The synthetic records", [*statement["synthesis"]["holds"], *_constraints(statement)]),
        ("Conditions", [statement["contract"]["sentence"], statement["public_side_channels"]]),
        *([("Unused settings", unused)] if unused else []),
    ]


def _constraints(statement: Json) -> list[str]:
    """What the data contract rules out in every record."""
    held = statement.get("constraints")
    return [] if held is None else [held["sentence"], *held["rules"]]


def _promise(statement: Json) -> list[str]:
    claim = statement["guarantee"]
    told = [K_ANONYMOUS_NOT_DP, *claim["holds"]]
    if claim["unit"] == "row":
        told.insert(1, ROWS_ARE_COUNTED.format(k=whole(claim["resolution"])))
    return told


#: Said first, because the promise is read as one about people.
ROWS_ARE_COUNTED = (
    "Rows are counted, because no subject_id was given. A person with {k} rows can be a whole group: the "
    "promise is to people only if nobody has more than one row."
)


def _reported(statement: Json) -> list[str]:
    count, unit = statement["count"], _units(statement)
    if count["least"] == count["most"]:
        told = [f"There are {whole(count['value'])} {unit}."]
    else:
        told = [
            f"The number of {unit} is reported as {whole(count['value'])}: there are {whole(count['least'])} "
            f"to {whole(count['most'])}."
        ]
    levels = [level for level in statement["levels"] if level["combinations"]]
    if not levels:
        return [*told, "No combination is reported."]
    each = ", ".join(f"{whole(level['combinations'])} of length {level['length']}" for level in levels)
    return [*told, f"Combinations reported: {each}."]


def _units(statement: Json) -> str:
    return "rows" if statement["guarantee"]["unit"] == "row" else "subjects"
