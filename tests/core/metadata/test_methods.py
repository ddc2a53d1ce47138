"""The methods paragraph is true of each protection and mode, and every figure in it is the statement's."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tasks.core.figures import plain_up
from tasks.core.metadata.croissant import croissant_json
from tasks.core.metadata.methods import citation_bibtex, citation_cff, citation_text, methods_markdown
from tasks.core.metadata.release_facts import DescribedRelease, Publication
from tasks.core.statement.differential_privacy.statement import RunChoices
from tests.oracles.described import PROTECTIONS, SAID, described
from tests.oracles.releases import noisy_inputs

MODES = ("row_seeded", "unseeded", "value_seeded", "aggregate_seeded", "fitted")


def told(protection: str, folder: Path, **changes: Any) -> str:
    release = described(protection, folder, **changes)
    return methods_markdown(release, citation_text(release), citation_bibtex(release))


def numbers(value: Any) -> set[str]:
    """Every figure of a statement, as the paragraph may write it."""
    if isinstance(value, dict):
        return set().union(set(), *map(numbers, value.values()))
    if isinstance(value, list):
        return set().union(set(), *map(numbers, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return set()
    return {plain_up(value), plain_up(value, 3), str(value)}


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_every_figure_is_one_of_the_statement(protection, tmp_path):
    release = described(protection, tmp_path)
    paragraph = told(protection, tmp_path).split("\n\n")[2]
    paragraph = re.sub(r"\([^()]*\d{4}[a-z]?[^()]*\)|Wang \(2018\)|2024-05|abc1234", "", paragraph)
    known = numbers(release.statement)
    # How many tables, how long, how sure a range is, and what SynDiffix's settings come to.
    known |= {"1.41", "5", "95", *map(str, range(1, 5))}
    if release.is_fitted_draw:
        known.add(str(len(release.statement["tables"])))
    found = set(re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?:e-?\d+)?", paragraph))
    assert found and found <= known, found - known


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_a_draw_of_people_says_that_one_row_of_each_counts(protection, tmp_path):
    is_said = protection == "lengths"  # the fitted one here is of rows, and k-anonymity says it among limits
    release, said = described(protection, tmp_path), "not how many have it in any of their rows"
    assert (said in told(protection, tmp_path)) == is_said
    assert (said in croissant_json(release, "")) == (is_said or protection == "k_anonymity")
    asked = {each["topic"]: each["answer"] for each in release.statement.get("questions", [])}
    assert (said in asked.get("bias", "")) == is_said


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_only_a_private_release_is_called_so(protection, tmp_path):
    text = told(protection, tmp_path)
    is_private = protection in ("lengths", "fitted")
    assert ("not differentially private" in text) != is_private
    assert ("-differentially private (Dwork" in text) == is_private
    assert is_private or ("epsilon" not in text and "Differentially private with" not in text)


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_sources_are_those_that_are_named(protection, tmp_path):
    paragraph, sources = (told(protection, tmp_path).split("\n\n")[place] for place in (2, 4))
    for name in (
        "Dwork",
        "Dong",
        "Balle",
        "Korolova",
        "Sweeney",
        "Francis",
        "Synthetic Data Showcase",
        "Bun ",
    ):
        assert (name in paragraph) == (name in sources), name


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_under_k_anonymity_is_told(mode, tmp_path):
    text = told("k_anonymity", tmp_path, synthesis_mode=mode)
    assert "Synthetic records were" in text and ("Showcase" in text) == (mode != "fitted")
    held = told("k_anonymity", tmp_path, synthesis_mode="aggregate_seeded", hold_resolution=True)
    assert "asked of the raw records too" in held
    assert "Synthetic records" not in told("k_anonymity", tmp_path / "b", synthesis_mode=mode, records=False)


def test_a_resolution_of_one_protects_nobody(tmp_path):
    assert "nobody is protected" in told("k_anonymity", tmp_path, resolution=1)


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_the_citation_names_the_publisher_or_says_that_none_is_known(protection, tmp_path):
    body = yaml.safe_load(citation_cff(described(protection, tmp_path)))
    assert body["cff-version"] == "1.2.0" and body["type"] == "dataset"
    assert body["authors"] == [{"name": SAID.publisher}] and body["license"] == "CC-BY-4.0"
    assert body["version"] == "2024-05" and isinstance(body["version"], str)
    bare = described(protection, tmp_path, Publication())
    body = yaml.safe_load(citation_cff(bare))
    assert body["authors"] == [{"name": "Publisher not stated"}] and not {"license", "url"} & set(body)
    assert "Publisher not stated" in citation_bibtex(bare)


@pytest.mark.parametrize(
    ("license", "field"),
    [
        ("MIT", "license"),
        ("cc-by-4.0", "license"),
        ("https://a.example/l", "license-url"),
        ("ask us first", None),
        ("Ours-1.0", None),
        ("MIT OR ISC", None),
        ("", None),
    ],
)
def test_only_an_spdx_name_is_given_as_one(license, field, tmp_path):
    said = SAID.model_copy(update={"license": license})
    body = yaml.safe_load(citation_cff(described("syndiffix", tmp_path, said)))
    assert {key for key in body if key.startswith("license")} == ({field} if field else set())
    # The format's own schema, by its authors under CC-BY-4.0.
    schema = json.loads(Path(__file__).with_name("citation_file_format_1.2.0.json").read_text("utf-8"))
    jsonschema.validate(body, schema, format_checker=jsonschema.FormatChecker())


def test_bibtex_holds_no_mark_of_its_own(tmp_path):
    text = citation_bibtex(described("lengths", tmp_path))
    assert r"{{Office\_of *Numbers* \& Co.}}" in text and text.count("{") == text.count("}")


def test_only_a_mail_address_is_given_as_one(tmp_path):
    for contact, mail in (("ask@numbers.example", "ask@numbers.example"), ("https://numbers.example", None)):
        said = Publication(publisher="Office of Numbers", contact=contact)
        body = yaml.safe_load(citation_cff(described("syndiffix", tmp_path, said)))
        assert body.get("contact") == (mail and [{"name": "Office of Numbers", "email": mail}])


@pytest.mark.parametrize("protection", ["k_anonymity", "syndiffix"])
def test_a_draft_of_the_table_is_told(protection, tmp_path):
    said = "was drafted by looking at the table itself, and nothing protects these declarations"
    assert said in told(protection, tmp_path, drafted_from_table=True).replace("\n", " ")
    assert "drafted" not in told(protection, tmp_path)


def test_what_a_guarantee_leaves_out_is_told(tmp_path):
    def paragraph(choices: RunChoices) -> str:
        release = DescribedRelease(noisy_inputs(choices=choices).statement, SAID, "", "my", tmp_path)
        return methods_markdown(release, "line", "@misc{a}").split("\n\n")[2]

    drafted = paragraph(RunChoices(drafted_from_table=True))
    assert "covers the counts and the records given these declarations, and not the declarations" in drafted
    assert "shows that its table does, which is not protected" in paragraph(RunChoices("ab" * 32))
    assert "tells whether the table had changed" in paragraph(RunChoices(skips_unchanged=True))
    plain = paragraph(RunChoices())
    assert not {"drafted", "satisfy", "changed"} & set(plain.split())
