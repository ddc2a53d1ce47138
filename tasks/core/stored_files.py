"""Files that this project wrote: their hashes, and the tables of those that are Parquet."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow, and most that hash a file read no table
    import pyarrow as pa


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_sha256(folder: Path, without: str = "") -> str:
    """SHA-256 over the relative names and bytes of every file below a folder, but one of that name in it."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / without):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{file_sha256(path)}\n".encode())
    return digest.hexdigest()


def read_parquet(path: Path) -> "pa.Table":
    """A whole file; `pq.read_table` would first load what reads folders of files, for a tenth of a second."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read()
