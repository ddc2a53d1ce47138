"""What code cites is in docs/design, and what the design says of the code is there."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.survey.citations import DESIGN, cited, cited_elsewhere, comments, design_items, docstrings
from tests.survey.survey import PRODUCT, python_files

ROOT = Path(__file__).parents[1]
#: Whose examples cite nothing.
ABOUT_CITATIONS = ("tests/survey", "tests/test_citations.py")
DOCUMENTS = sorted((ROOT / DESIGN).glob("*.md"))


@pytest.fixture(scope="module")
def citing():
    """Every docstring and comment of product and tests that may cite something, with its place."""
    found = []
    for file in python_files(ROOT, (*PRODUCT, "tests")):
        source = file.read_text(encoding="utf-8")
        place = str(file.relative_to(ROOT))
        if not (cited(source) or cited_elsewhere(source)) or place.startswith(ABOUT_CITATIONS):
            continue
        found += [(f"{place}:{text.lineno}", text.value.value) for text in docstrings(ast.parse(source))]
        found += [(f"{place}:{token.start[0]}", token.string) for token in comments(source)]
    return found


def test_every_item_that_is_cited_is_in_the_design(citing):
    items = set(design_items(ROOT))
    assert {(place, item) for place, text in citing for item in cited(text) if item not in items} == set()


def test_nothing_is_cited_that_readers_of_the_repository_have_not(citing):
    assert {(place, note) for place, text in citing for note in cited_elsewhere(text)} == set()


def test_no_item_has_two_places():
    assert [item for item, times in Counter(design_items(ROOT)).items() if times > 1] == []


@pytest.fixture(scope="module")
def product():
    return "\n".join(file.read_text(encoding="utf-8") for file in python_files(ROOT, PRODUCT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_items_that_the_design_cites_and_what_it_names_are_there(document, product):
    text = document.read_text(encoding="utf-8")
    prose = re.sub(r"`[^`]*`|<a [^>]*>|\]\([^)]*\)", " ", text)
    assert set(cited(prose)) - set(design_items(ROOT)) == set()
    for name in re.findall(r"`([A-Z]\w+[a-z]\w*|[a-z]+_[a-z_]+)`", text):
        assert name in product, name
