"""What the documents say of the project is there: keys, files and links."""

import json
import re
from pathlib import Path

import pytest

from tasks.configuration.flat_file import PLACES, PRIVACY_PLACES, SECTIONS, from_flat
from tasks.configuration.protections import SECTION_KEYS
from tasks.core.syndiffix.settings import SETTINGS
from tests.documents.keys import DOCUMENT, tables, with_tables

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "deployments" / "README.md"})


def _anchors(document):
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
        if "://" in target:
            continue
        file = document.parent / target if target else document
        assert file.exists(), target
        assert not anchor or anchor in _anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_places_that_are_named_are_there(document):
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"`((?:tasks|tests|flows|marginalia|sql|docs)/[\w/.-]*)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_key_of_a_configuration_is_explained():
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| (`.*?) \||^\* (`[^:]*`):", text, re.M)
    explained = {key for cells in named for key in re.findall(r"`(\w+)`", " ".join(cells))}
    known = {*PLACES, *PRIVACY_PLACES, *SECTIONS, "synthesis_mode"}
    assert known - explained == set()
    assert explained - known == set()


def test_tables_of_keys_are_those_of_the_model():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- keys: (\w+) -->", text)) == set(tables())
    assert with_tables(text) == text, "run python -m tests.documents.keys"


def test_every_key_of_the_syndiffix_section_is_explained():
    text = (ROOT / "docs" / "syndiffix.md").read_text(encoding="utf-8")
    assert {key for key in SECTION_KEYS if f"`{key}`" not in text} == set()


@pytest.mark.parametrize("document", ["README.md", "docs/syndiffix.md"])
def test_configurations_in_the_documents_are_accepted(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    found = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.S)]
    assert found
    for flat in found:
        from_flat(flat)


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_every_default_of_the_syndiffix_section_is_told():
    text = (ROOT / "docs" / "syndiffix.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", text, re.M)
    for cell, meaning in rows:
        for setting in (SETTINGS[key] for key in re.findall(r"`(\w+)`", cell) if key in SETTINGS):
            if setting.kind in ("whole", "number"):
                assert f"({setting.default:,g})" in meaning, setting.name
            elif setting.kind == "interval":
                assert f"(`{list(setting.default)}`)" in meaning, setting.name
