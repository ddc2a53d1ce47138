"""Storage that is no folder, such as S3: its URLs, what is done there, and why it failed, in our words.

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
_URL = re.compile(r"^([a-z][a-z0-9+]+):/{1,2}([^/].*)$")
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
    """The URL that a path stands for; None of a path on a disk. A `Path` has lost one of its slashes.

    >>> remote_url(Path("s3://bucket/people.csv")), remote_url("/data/people.csv")
    ('s3://bucket/people.csv', None)
    """
    found = _URL.match(str(path))
    return f"{found[1]}://{found[2]}" if found else None


def refused_url(url: str) -> str:
    """Why a URL can't be used, in words that do not repeat it; empty where it can."""
    if "@" in urlsplit(url).netloc or "?" in url:
        return "must hold no credentials: give them in the environment, or by a block of Prefect that sets it"
    return ""


class Storage:
    """The storage of a URL, with credentials of the environment."""

    def __init__(self, url: str) -> None:
        """Args: url: of an object, or of what begins the URLs of several.

        Raises:
            ParameterError: nothing that is installed reads it.
        """
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
        if protocol == "file":
            options = {"auto_mkdir": True}
        self.system = self.done("be opened", lambda: kind(**options | (_S3 if protocol == "s3" else {})))

    def key(self, url: str) -> str:
        """What the storage calls a URL."""
        return str(self.system._strip_protocol(url))

    def done(self, what: str, work: Callable[[], R]) -> R:
        """What some work on the storage returns.

        Raises:
            StorageError: it failed; in our words.
            FileNotFoundError: there is no such object.
        """
        try:
            return work()
        except FileNotFoundError:
            missing = True
            why = ""
        except Exception as error:
            missing, why = False, _reason(error)
        if missing:
            raise FileNotFoundError(self.url)
        raise StorageError(
            f"The storage at {self.url} must answer, but it could not {what} ({why}). See whether it can be "
            "reached from here, and whether the credentials in the environment may do that. Then run again."
        )


def _reason(error: BaseException) -> str:
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
