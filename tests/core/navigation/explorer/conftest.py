"""A browser for the page's tests, and small pages whose counts are known."""

import fcntl
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.chromium import ExplorerPage, launched, program
from tests.oracles.explorer_pages import Record, page_of

EXPLORER = Path(__file__).resolve().parents[4] / "tasks" / "core" / "navigation" / "explorer"
INSTALLED = ".installed"

NAMES = ("sex", "housing", "age", "services")
#: As many records as a person can't count, and a test can.
RECORDS = 400


def people(number: int = RECORDS, seed: int = 3) -> list[Record]:
    """Invented people with gaps, and a column of which they hold several values."""
    generator = np.random.default_rng(seed)
    found: list[Record] = []
    for _ in range(number):
        sex = str(generator.choice(["female", "male"]))
        housing = [None, "owned", "rented", "social"][int(generator.choice(4, p=[0.1, 0.4, 0.4, 0.1]))]
        age = str(generator.choice(["[18,40)", "[40,60)", ">60"], p=[0.5, 0.3, 0.2]))
        services = tuple(name for name in ("library", "pool") if generator.random() < 0.5)
        found.append((sex, housing, age, services))
    return found


@pytest.fixture(scope="module")
def chromium():
    """A browser of this module; skips where it is not installed.

    While its driver runs, this thread has an event loop, in which Prefect's calls return coroutines.
    """
    if program() is None:
        pytest.skip("needs a Chromium (Debian: apt-get install chromium)")
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def packages():
    """The folder of the packages that the program is built with, as its lock file names them.

    It skips where Node is missing, and installs them once where they are.
    """
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


@pytest.fixture(scope="session")
def people_page(tmp_path_factory):
    """The page of `people`, with all counts of up to two values."""
    path = tmp_path_factory.mktemp("page") / "people.html"
    path.write_text(page_of(NAMES, people()), encoding="utf-8")
    return path


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens pages, files or texts; at the end no program has failed, and nothing was asked for elsewhere."""
    pages: list[ExplorerPage] = []

    def open_page(page: Path | str, link: str = "", **options: Any) -> ExplorerPage:
        path = page if isinstance(page, Path) else tmp_path / f"opened_{len(pages)}.html"
        if isinstance(page, str):
            path.write_text(page, encoding="utf-8")
        pages.append(ExplorerPage.opened(chromium, path, link, **options))
        return pages[-1]

    yield open_page
    for explorer in pages:
        explorer.page.context.close()
        assert explorer.errors == []
        assert explorer.asked_elsewhere() == []
