"""Noise tables of the tests are kept apart from the user's."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def noise_table_cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noise-table-cache")
    before = os.environ.get("MARGINALIA_CACHE")
    os.environ["MARGINALIA_CACHE"] = str(folder)
    yield folder
    if before is None:
        os.environ.pop("MARGINALIA_CACHE", None)
    else:
        os.environ["MARGINALIA_CACHE"] = before
