"""What the design says of the code is there."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.survey.citations import DESIGN, cited, design_items
from tests.survey.survey import PRODUCT, python_files

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted((ROOT / DESIGN).glob("*.md"))


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
