"""Releases of real tables, each made once for all tests of a session."""

import os

import pytest

from tests.core.navigation.explorer.releases.making import Made, made
from tests.oracles.released_files import ReleasedFiles


@pytest.fixture(scope="session")
def shared_by_workers(tmp_path_factory):
    """A folder that all workers of this session see."""
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "releases"
    home.mkdir(exist_ok=True)
    return home


@pytest.fixture
def release(request, shared_by_workers, prefect_server):
    """Gives the release of a kind."""

    def of(kind: str) -> Made:
        data = shared_by_workers if kind.startswith("survey") else request.getfixturevalue("shared_data")
        return made(kind, shared_by_workers, data)

    return of


def files_of(release: Made) -> ReleasedFiles:
    """What its files say."""
    return ReleasedFiles(release.folder, release.prefix, release.protection)
