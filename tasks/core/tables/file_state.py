"""Whether a file is still the one that was hashed: a path goes in, an error comes out where it is not.

What the system says of a file costs nothing, so it is asked for each block that is read. A hash of the whole
comes at the end; it would not tell of a file that was replaced for a while.
"""

from dataclasses import dataclass
from pathlib import Path

from tasks.core.errors import InputError

_SECOND = 10**9


def changed_meanwhile() -> InputError:
    """What is said of a table that changed while it was read."""
    return InputError(
        "The input must not change while a run reads it, but it was changed meanwhile. Run again when "
        "nothing writes to it."
    )


@dataclass(frozen=True)
class FileState:
    """What the system says of a file.

    Attributes:
        size: in bytes.
        modified: in nanoseconds since 1970.
    """

    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "FileState":
        """Of a file now. Raises InputError: it is gone."""
        try:
            found = path.stat()
        except OSError:
            raise changed_meanwhile() from None
        return cls(found.st_size, found.st_mtime_ns)

    def require(self, path: Path) -> None:
        """Raise InputError where the file is another now.

        Whole seconds are compared, as another machine may know no parts of them of a shared folder.
        """
        now = FileState.of(path)
        if (now.size, now.modified // _SECOND) != (self.size, self.modified // _SECOND):
            raise changed_meanwhile()
