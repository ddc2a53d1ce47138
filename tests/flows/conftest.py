"""What every test here has, and whole runs that are made once for many tests."""

import functools

import pytest

from tests.flows.syndiffix_people import people, write
from tests.flows.whole_runs import make_whole_run


@pytest.fixture(autouse=True)
def surroundings(request, own_ledger):
    """A ledger of its own for each test, and Prefect's server for those that are marked `server`."""
    if request.node.get_closest_marker("server"):
        request.getfixturevalue("prefect_server")


@pytest.fixture(scope="session")
def whole_run(prefect_server, tmp_path_factory):
    """A whole run of a kind of `whole_runs`, made when a test first asks for it.

    A test may run it again in its place (`run_again`); what it released is not to change.
    """
    return functools.cache(lambda kind: make_whole_run(kind, tmp_path_factory.mktemp(kind)))


@pytest.fixture
def table(tmp_path):
    """400 people in a CSV file."""
    return write(tmp_path / "people.csv", people())


@pytest.fixture
def output(tmp_path):
    """Where nothing is yet."""
    return tmp_path / "out.csv"
