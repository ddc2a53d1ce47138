"""Paths that people gave, in messages: which file was meant, and where it was looked for.

>>> missing("The input file", Path("/data/people.csv"))
'The input file /data/people.csv does not exist: correct its path.'
"""

from pathlib import Path


def missing(what: str, path: Path) -> str:
    """The sentence that a file is not there, with the place that a relative path led to.

    Args:
        what: the file is, as the sentence's beginning.
        path: as it was given.
    """
    if path.is_absolute():
        return f"{what} {path} does not exist: correct its path."
    return (
        f"{what} {path} does not exist. It was looked for at {path.absolute()}, as a relative path starts at "
        "the current folder: correct the path, or run this in the folder that the path starts at."
    )


def located(path: Path) -> str:
    """A path as it was given and, where it is relative, the place that it leads to."""
    return str(path) if path.is_absolute() else f"{path} ({path.absolute()})"
