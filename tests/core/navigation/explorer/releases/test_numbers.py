"""The numbers on the screen are those in the release's own files, counted by pandas."""

import random

import pytest

from tests.core.navigation.explorer.releases.conftest import files_of
from tests.core.navigation.explorer.releases.making import QUICK
from tests.core.navigation.explorer.releases.steps import agrees, charts, choose, on_kinds, pages_of, show

pytestmark = [pytest.mark.needs_chromium, pytest.mark.server]

#: Selections of each length after which all numbers of all charts are compared.
SELECTIONS = 3


@pytest.mark.parametrize("kind", on_kinds(*QUICK))
def test_numbers_are_those_of_the_files(kind, release, opened):
    made = release(kind)
    files, draw = files_of(made), random.Random(kind)
    explorer = opened(made.page)
    pages = pages_of(explorer)
    published = 0
    for page in pages:
        show(explorer, page)
        published += agrees(explorer, files, {})
    longest = files.reporting_length or 2
    for length in range(1, longest + 1):
        for _ in range(SELECTIONS):
            show(explorer, draw.choice(pages))
            columns = [name for name in charts(explorer) if name in files.columns]
            columns = draw.sample(columns, min(length, len(columns)))
            chosen = {column: [choose(explorer, draw, column)] for column in columns}
            for page in pages:
                show(explorer, page)
                published += agrees(explorer, files, chosen)
            explorer.press("Clear")
    assert files.protection == "syndiffix" or published > 100
