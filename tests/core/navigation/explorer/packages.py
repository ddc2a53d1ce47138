"""The packages that the page's program is built with, as its lock file names them."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

EXPLORER = Path(__file__).resolve().parents[4] / "tasks" / "core" / "navigation" / "explorer"
INSTALLED = ".installed"


def installed() -> Path:
    """Their folder; skips where Node is missing, installs them once where they are."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs Node and npm (Debian: apt-get install nodejs npm)")
    folder = EXPLORER / "node_modules"
    with (EXPLORER / "package-lock.json").open(encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / INSTALLED).is_file():
            subprocess.run([npm, "ci", "--silent", "--no-audit", "--no-fund"], cwd=EXPLORER, check=True)
            (folder / INSTALLED).touch()
    return folder
