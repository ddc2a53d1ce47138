"""A blob in a notebook: a file that answers questions about any of its columns, without table and salt."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginalia.errors import ParameterError, guarded
from marginalia.process import NO_TABLE, ask
from marginalia.shown import Shown
from marginalia.tables import as_typed, read_released

if TYPE_CHECKING:
    from marginalia.tables import AnyTable


@dataclass(frozen=True)
class OpenedBlob:
    """Published tables of all few columns of one raw table. It is as public as all of them together.

    Attributes:
        path: of its file.
        columns: their names.
        protects: a sentence on whom it protects.
    """

    path: Path
    columns: tuple[str, ...]
    protects: str

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "OpenedBlob":
        """One of which a process told."""
        return cls(Path(told["path"]), tuple(told["columns"]), told["protects"])

    @guarded
    def read(self, columns: str | Sequence[str] | None = None, *, target: str | None = None) -> "AnyTable":
        """The synthetic table of some columns; the same each time.

        Args:
            columns: in this order; None: all. Fewer are more accurate.
            target: one of them that is to be predicted from the others.

        Raises:
            ParameterError: a column that the blob does not have.
            InputError: the file is gone, or no longer what it was.
        """
        chosen = [columns] if isinstance(columns, str) else list(self.columns if columns is None else columns)
        if not all(isinstance(each, str) for each in (*chosen, target or "")):
            raise ParameterError("columns must be a list of names of columns, and target one: give texts.")
        with Shown() as shown, tempfile.TemporaryDirectory() as folder:
            output = str(Path(folder, "answer.parquet"))
            request = {"do": "read_blob", "path": str(self.path), "columns": chosen, "target": target}
            ask({**request, "output": output}, NO_TABLE, shown)
            return as_typed(read_released(Path(output)))
