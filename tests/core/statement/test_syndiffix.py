"""The statement of a SynDiffix release: what it is not, what protects, which attacks apply."""

import json

import pytest

from tasks.core.statement.syndiffix import LABEL, SynDiffixFacts, SynDiffixWords, syndiffix_statement
from tasks.core.syndiffix.settings import (
    MOST_TOGETHER,
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    FlatteningInterval,
    SuppressionParameters,
)
from tasks.core.syndiffix.solver import known_clusters

SALT = b"zqx secret salt zqx"
COLUMNS = {"age": "integer", "town": "string", "income": "real", "smoker": "boolean", "seen": "timestamp"}


def facts(**changes: object) -> SynDiffixFacts:
    given: dict[str, object] = {
        "dataset": "visits",
        "vintage": "2026-11",
        "ids": ("person",),
        "columns": COLUMNS,
        "anonymization": AnonymizationParameters(SALT),
        "bucketization": BucketizationParameters(),
    }
    return SynDiffixFacts(**(given | changes))  # type: ignore[arg-type]


def stated(**changes: object) -> dict[str, object]:
    return syndiffix_statement(facts(**changes), "abc")


def said(**changes: object) -> str:
    body = stated(**changes)
    return " ".join(SynDiffixWords(body).sentences())


def attacks(**changes: object) -> list[str]:
    found = stated(**changes)["not_covered"]
    assert isinstance(found, list)
    return found


def attack(name: str, **changes: object) -> str:
    (found,) = [each for each in attacks(**changes) if each.startswith(f"{name}: ")]
    return found


def test_it_says_first_and_in_its_label_that_it_is_not_differentially_private():
    body = stated()
    assert (body["private"], body["regime"], body["label"]) == (False, "syndiffix", LABEL)
    assert "not differentially private" in SynDiffixWords(body).topics()[0][1][0]
    assert body["format"] == "marginalia-privacy-statement/1"


def test_what_protects_is_named_with_the_configured_numbers():
    strict = AnonymizationParameters(
        SALT,
        SuppressionParameters(low_threshold=10, layer_sd=2.0, low_mean_gap=3.0),
        FlatteningInterval(3, 6),
        FlatteningInterval(4, 7),
        layer_noise_sd=2.0,
    )
    told = said(anonymization=strict, contract_mode="strict", unused_keys=("cache_max_size",))
    for named in ("Aggregation", "Suppression", "Noise", "Flattening", "One secret salt", "Shuffled"):
        assert f"{named}: " in told
    assert "satisfied its data contract" in told and "cache_max_size: accepted" in told
    assert "fewer than 10 subjects is never shown" in told and "About 16 are needed" in told
    assert "standard deviation 2.83" in told
    assert "the 3 to 6 subjects with the most rows" in told and "next 4 to 7" in told


def test_declarations_that_were_drafted_from_the_table_are_not_protected():
    said = attack("Declared from the table", drafted_from_table=True)
    assert "They do not protect the declarations, which may tell of single people" in said
    assert stated(drafted_from_table=True)["drafted_from_table"] is True
    assert not [each for each in attacks() if each.startswith("Declared from")]
    assert "drafted_from_table" not in stated()


def test_without_an_id_column_people_with_several_rows_are_warned_of_first():
    assert SynDiffixWords(stated()).warnings() == []
    (warning,) = SynDiffixWords(stated(ids=())).warnings()
    assert "People with several rows are not protected" in warning
    assert "Rows, not people" in " ".join(attacks(ids=()))
    assert "Flattening" not in said(ids=())


def test_public_values_tables_and_earlier_releases_are_told():
    public_town: dict[str, object] = {"value_safe_columns": ("town",)}
    assert "Public values (town) are excepted" in said(**public_town) and "excepted" not in said()
    assert attack("Public values", **public_town) and "Public values: " not in " ".join(attacks())
    body = stated(**public_town, tables=3, earlier_releases=2)
    public, earlier = SynDiffixWords(body).warnings()
    assert "declared to be public" in public and "2 releases" in earlier
    assert "3 beside the one" in attack("Many tables", tables=3)
    assert "1 release of this dataset with other content was" in attack("Many tables", earlier_releases=1)
    assert [column["value_safe"] for column in body["columns"]] == [False, True, False, False, False]  # type: ignore[attr-defined]


def test_columns_of_which_all_are_always_together_have_no_choice_of_clusters():
    assert known_clusters(MOST_TOGETHER, DefaultClustering()) is not None
    assert known_clusters(MOST_TOGETHER + 1, DefaultClustering()) is None
    few = " ".join(attacks(columns=dict(list(COLUMNS.items())[:MOST_TOGETHER])))
    assert "The choice of clusters" in " ".join(attacks())
    assert "The choice of clusters" not in few and "four columns" not in few
    single = " ".join(attacks(columns={"age": "integer"}, clustering="one"))
    assert "The choice of clusters: " not in single and "Texts: " not in single


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        *((name, {}, "") for name in ("No formal bound", "Texts", "Shape of the data", "The salt")),
        ("Declarations", {}, ""),
        ("Noise exploitation", {}, "arXiv 1804.06752"),
        ("Suppression shows", {}, "or by more and have been lost"),
        ("The choice of clusters", {}, "with lower thresholds and without noise"),
        ("The choice of clusters", {"clustering": {"target": "smoker"}}, "how well they predict the target"),
        ("One subject, one id", {}, "A row without an id is nobody's: it adds to counts"),
        ("Same noise", {}, "the same columns are named as ids and keep their text"),
        ("Same noise", {"ids": ()}, "rows keep what all of their cells say"),
        ("Many tables", {}, "taking the mean leaves less noise"),
        ("Many tables", {}, "This statement does not count releases that are no longer"),
    ],
)
def test_an_attack_is_told_with_what_it_needs(name, changes, words):
    assert words in attack(name, **changes) and len(attack(name, **changes)) > 60


def test_it_holds_no_trace_of_the_salt():
    text = json.dumps(stated())
    assert "zqx" not in text and SALT.hex() not in text


def test_settings_that_protect_nothing_are_not_told_as_protection():
    bare = AnonymizationParameters(SALT, outlier_count=FlatteningInterval(0, 0), layer_noise_sd=0.0)
    body = stated(anonymization=bare)
    assert "No noise" in said(anonymization=bare) and "No noise" in SynDiffixWords(body).warnings()[0]
    assert "Flattening: " not in said(anonymization=bare) and "standard deviation 0," not in said(
        anonymization=bare
    )
