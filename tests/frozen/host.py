"""A process that has imported the whole project: each command line that it is told runs in a fork of it.

In, a line each: JSON with folder, arguments and environment. Out, a line each: JSON with the exit code and
the CPU seconds. The fork's words go to files in the folder.
"""

import hashlib
import importlib
import json
import os
import pkgutil
import runpy
import secrets
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
#: The project's own packages.
PACKAGES = ("flows", "tasks")


def main() -> None:
    """Answer until the input ends."""
    freeze_entropy()
    _import_everything()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(Path(asked["folder"]), asked["arguments"], asked["environment"])
        _, status, used = os.wait4(child, 0)
        seconds = used.ru_utime + used.ru_stime
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "seconds": seconds}), flush=True)


def freeze_entropy() -> None:
    """Let the project, and nobody else, be given constants in place of the system's entropy."""
    _replace(os, "urandom", _constant)
    _replace(secrets, "token_bytes", _constant)
    _replace(secrets, "randbits", lambda bits: int.from_bytes(_constant(8), "big") >> (64 - bits))
    _replace(uuid, "uuid4", lambda: uuid.UUID(bytes=_constant(16)))


def _constant(size: int) -> bytes:
    return hashlib.shake_256(b"marginalia, frozen").digest(size)


def _replace(module: Any, name: str, constant: Callable[..., Any]) -> None:
    original = getattr(module, name)
    folders = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)

    def chosen(*arguments: Any) -> Any:
        asker = sys._getframe(1).f_code.co_filename
        return (constant if asker.startswith(folders) else original)(*arguments)

    setattr(module, name, chosen)


def _import_everything() -> None:
    for package in PACKAGES:
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def _run(folder: Path, arguments: list[str], environment: dict[str, str]) -> NoReturn:
    """Be the command, in a folder."""
    os.chdir(folder)
    os.environ.update(environment)
    for number, name in ((1, "printed"), (2, "said")):
        os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["marginalia", *arguments]
    code = 70
    try:
        runpy.run_module("flows", run_name="__main__", alter_sys=False)
    except SystemExit as ended:  # as argparse does
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
