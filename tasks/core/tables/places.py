"""Where a table is: the URLs of storage such as S3, what is done there, and which folders are closed.

Storage says why it refuses in words that may hold a key or a path of its own, so only its code reaches a
message. Credentials come from the environment alone.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tasks.core.errors import ParameterError, StorageError

R = TypeVar("R")
_URL = re.compile(r"^([a-z][a-z0-9+]+):/+([^/].*)$")
#: Storage whose URLs name an object by its key, as it is, and its other names. A URL of another kind may have
#: many spellings (a port, an escaped letter, a cache in front), which nobody can compare.
_KINDS = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "az": "az",
    "abfs": "az",
    "memory": "memory",
}
_DISKS = ("file", "local")
_CODE = re.compile(r"[A-Za-z0-9]{1,60}")
#: Slow or refusing storage is tried again, and not for ever.
_S3 = {
    "config_kwargs": {
        "connect_timeout": 10,
        "read_timeout": 60,
        "retries": {"max_attempts": 4, "mode": "standard"},
    }
}


def remote_url(path: Path | str) -> str | None:
    """The URL that a path stands for, in its one spelling; None of a path on a disk.

    A `Path` has lost one of its slashes.

    >>> remote_url(Path("s3a://bucket//people.csv")), remote_url("/data/people.csv")
    ('s3://bucket/people.csv', None)
    """
    found = _URL.match(str(path))
    if found is None:
        return None
    return f"{_KINDS.get(found[1], found[1])}://{re.sub('/+', '/', found[2])}"


def normal_place(path: Path) -> str:
    """The one spelling of where a file is: of all that lead to it by links, ``..`` or slashes too many.

    Not known are two names of one file on the disk (hard links, two mounts), or of one bucket.
    """
    return remote_url(path) or re.sub("^//", "/", str(path.resolve()))


def refused_url(url: str) -> str:
    """Why a URL can't be used, in words that do not repeat it; empty where it can."""
    kind, _, key = url.partition(":")
    if "@" in urlsplit(url).netloc or "?" in url:
        return "must hold no credentials: give them in the environment, or by a block of Prefect that sets it"
    if kind in _DISKS:
        return "is of a file on a disk: give its path alone, without what stands before it"
    if kind not in _KINDS:
        known = ", ".join(f"{each}://" for each in sorted(set(_KINDS.values()) - {"memory"}))
        return (
            f"must be of a storage that names an object in one way ({known}): mount others, and give a path"
        )
    if {".", ".."} & set(key.split("/")):
        return "must hold no . or .. between slashes: name the object itself"
    return ""


class Storage:
    def __init__(self, url: str) -> None:
        """Raises: ParameterError: nothing that is installed reads it."""
        import fsspec

        self.url, protocol = url, url.partition("://")[0]
        options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
        try:
            kind = fsspec.get_filesystem_class(protocol)
        except (ImportError, ValueError):
            kind = None
        if kind is None:
            raise ParameterError(
                f"Storage of the kind {protocol}:// needs a package that is not installed: for s3 that is "
                "s3fs (the extra s3 of this project), for others see the documents of fsspec."
            )
        if protocol == "memory":
            options = {}
        self.system = self.attempt("be opened", lambda: kind(**options | (_S3 if protocol == "s3" else {})))

    def key(self, url: str) -> str:
        return str(self.system._strip_protocol(url))

    def attempt(self, what: str, work: Callable[[], R], missing: Exception | None = None) -> R:
        """What some work on the storage returns.

        Args: missing: raised where there is no such object; None: a FileNotFoundError.

        Raises: StorageError: it failed; in our words.
        """
        failure: Exception
        try:
            return work()
        except FileNotFoundError:
            failure = missing or FileNotFoundError(self.url)
        except Exception as error:
            failure = StorageError(
                f"The storage at {self.url} must answer, but it could not {what} ({_error_code(error)}). See "
                "whether it can be reached from here, and whether the credentials in the environment may do "
                "that. Then run again."
            )
        raise failure  # outside the handlers: what the storage says may hold a key


def _error_code(error: BaseException) -> str:
    """The storage's own code for an error, or what kind of error it is: never its text."""
    each: BaseException | None = error
    while each is not None:
        response = getattr(each, "response", None)
        code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
        if isinstance(code, str) and _CODE.fullmatch(code):
            return code
        each = each.__cause__ or each.__context__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return type(error).__name__


def closed_folder_of(path: Path) -> str:
    """In words, the closed folder of this project that a file is in; empty where it is in none.

    A table that a run made of the raw one is about the same people. Read as an input it would have a path and
    columns that no ledger knows, and so a budget of its own. A folder is known by what every run leaves in
    it.
    """
    try:
        parents = path.resolve().parents
    except (OSError, RuntimeError, ValueError):  # whoever opens it says what is wrong
        return ""
    for folder in parents:
        is_named = folder.name == "sensitive" or (folder / ".secret").exists()
        if is_named and (folder / ".results").is_dir():
            return "the sensitive/ folder of a workspace"
        is_copied = (folder / "head.json").is_file() and (folder / "measurements").is_dir()
        if (folder / "ledger.sqlite").exists() or is_copied:
            return "a ledger's folder"
    return ""
