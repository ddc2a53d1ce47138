"""Measurements and salts in a ledger's own folder on this machine."""

import contextlib
import os
import shutil
import stat
import uuid
from pathlib import Path

from tasks.core.dp.digest import sha256_of
from tasks.core.errors import LedgerError
from tasks.core.ledger import place
from tasks.core.ledger.new_salt import SALT_BYTES, new_salt
from tasks.core.ledger.refusals import lost_salt


class FolderMeasurements:
    """One folder a measurement, which has its name from the moment it is complete and durable."""

    def __init__(self, folder: Path) -> None:
        """Args: folder: of all of them, made where it is missing."""
        self.root = place.private_folder(folder)

    def names(self) -> set[str]:
        """See `Measurements`."""
        return {folder.name.removesuffix(".part") for folder in self.root.iterdir()}

    def has(self, name: str) -> bool:
        """See `Measurements`."""
        return (self.root / name).is_dir()

    def begin(self, name: str) -> Path:
        """See `Measurements`."""
        return begin_folder(self._part(name))

    def give_up(self, name: str) -> None:
        """See `Measurements`."""
        shutil.rmtree(self._part(name), ignore_errors=True)

    def keep(self, name: str) -> None:
        """See `Measurements`: the files are durable before the folder has its name."""
        part = self._part(name)
        for path in sorted(part.rglob("*")):
            place.sync(path)
        place.sync(part)
        part.rename(self.root / name)
        place.sync(self.root)

    def make_durable(self, name: str) -> None:
        """See `Measurements`."""
        place.sync(self.root)

    def folder(self, name: str, sha256: str | None = None) -> Path:
        """See `Measurements`."""
        return self.root / name

    def where(self, name: str) -> str:
        """See `Measurements`."""
        return str(self.root / name)

    def _part(self, name: str) -> Path:
        return self.root / f"{name}.part"


def begin_folder(part: Path) -> Path:
    """An empty folder for a draw.

    Raises:
        LedgerError: it can't be made.
    """
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(mode=0o700)
    except OSError as error:
        raise LedgerError(
            f"The measurement needs a folder in {part.parent}, and it can't be made "
            f"({os.strerror(error.errno or 0)}). Correct that and run again: nothing is charged twice."
        ) from None
    return part


class FolderSalts:
    """One file a salt.

    <folder>/<key>.salt      0600, by the dataset's name
    """

    def __init__(self, folder: Path) -> None:
        """Args: folder: of all of them; made with the first."""
        self.root = folder

    def path(self, dataset: str) -> Path:
        """Where a dataset's salt is kept."""
        return self.root / f"{sha256_of(dataset)[:32]}.salt"

    def where(self, dataset: str) -> str:
        """See `Salts`."""
        return str(self.path(dataset))

    def make(self, dataset: str) -> None:
        """See `Salts`: its maker may have died before the chain knew of it."""
        path = self.path(dataset)
        if os.path.lexists(path):
            return
        place.private_folder(path.parent)
        draft = path.with_name(f".{uuid.uuid4().hex}.part")
        problem = ""
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(new_salt())
                file.flush()
                os.fsync(descriptor)
            draft.rename(path)
            place.sync(path.parent)
            place.sync(path.parent.parent)
        except OSError as error:
            problem = (
                f"The command must write the salt {path} first, and can't ({os.strerror(error.errno or 0)}): "
                "correct that and run again."
            )
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        if problem:
            raise LedgerError(problem)

    def read(self, dataset: str) -> bytes:
        """See `Salts`: a plain file of 32 bytes in a folder of its own, both closed to others."""
        path = self.path(dataset)
        try:
            if stat.S_ISLNK(path.parent.lstat().st_mode):
                raise lost_salt(str(path), "its folder is a link")
            place.check_private(path.parent)
            if not stat.S_ISREG(path.lstat().st_mode):
                raise lost_salt(str(path), "it is a link or no file")
            place.check_private(path)
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                salt = file.read(SALT_BYTES + 1)
        except OSError as error:
            raise lost_salt(str(path), f"it can't be read ({os.strerror(error.errno or 0)})") from None
        if len(salt) != SALT_BYTES:
            raise lost_salt(str(path), f"it does not have {SALT_BYTES} bytes")
        return salt
