"""What whoever synthesizes a table by SynDiffix is told first, by the flow and by the command alike."""

NOT_PRIVATE = "SynDiffix is not differentially private"


def rows_are_people(key: str) -> str:
    """That there are no ids. Args: key: what gives them."""
    return (
        f"ATTENTION: no {key} is given: each row is taken for a person of its own, and people with several "
        "rows are not protected. Give the id column, or several, unless a row is a person."
    )
