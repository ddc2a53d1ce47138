"""Folders in ``sensitive/`` that are of no single dataset, and so names that no dataset may have."""

from typing import Final

LOGS: Final = "logs"
#: How the names of the folders of batches begin.
BATCHES: Final = "batch-"


def is_shared(name: str) -> bool:
    """Whether a folder of that name would be one of them, on a disk that keeps case or not.

    >>> is_shared("Logs"), is_shared("batch-2"), is_shared("batches")
    (True, True, False)
    """
    return name.casefold() == LOGS or name.casefold().startswith(BATCHES)
