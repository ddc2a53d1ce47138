"""A table that is what it was: what is released of it, what is charged, and what the statement tells."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.measure import measure
from flows.showcase import showcase
from flows.syndiffix import syndiffix
from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tasks.core.ledger.ledger import open_ledger
from tasks.plan.describe import describe
from tasks.sensitive.protect import release_name
from tests.flows import pipeline
from tests.flows.processes import phases, releases

pytestmark = pytest.mark.server

ROWS = pipeline.rows(300)


def _asked(folder: Path, vintage: str, **changes: Any) -> RunConfiguration:
    plain = {"privacy": {"releases": 6}, "vintage": vintage, "use_columns": ["sex", "age", "town"]}
    plain |= {"multi_value_columns": {}, "max_items": {}}
    return from_flat(pipeline.flat(folder, **plain | changes))


def _run(configuration: RunConfiguration) -> dict[str, str]:
    return showcase(configuration, "aggregate")


def _privacy(folder: Path, name: str) -> Any:
    return pipeline.json_of(folder / "out" / "release" / "people" / name / "privacy.json")


def _write(folder: Path, rows: list[list[str]]) -> None:
    pipeline.write(folder / "people.csv", rows)


@pytest.mark.slow
def test_without_the_key_an_unchanged_table_is_drawn_and_charged_as_ever(tmp_path):
    _write(tmp_path, ROWS)
    for vintage in ("1", "2"):
        assert "unchanged" not in _run(_asked(tmp_path, vintage))
    assert phases() == ["commit", "commit"]
    assert releases(tmp_path) == ["1-1", "2-1", "latest"]
    body = pipeline.json_of(tmp_path / "out" / "release" / "people" / "2-1" / "configuration.json")
    assert "on_unchanged" not in body and "on_unchanged" not in _privacy(tmp_path, "2-1")
    assert not (tmp_path / "out" / "sensitive" / "people" / "unchanged.json").exists()
    assert all(entry.phase != "unchanged" for entry in open_ledger().store.entries())
    # Said outright, the default is the same release, under the same name.
    again = _asked(tmp_path, "2", on_unchanged="draw")
    assert again.model_dump(mode="json") == _asked(tmp_path, "2").model_dump(mode="json")
    skipping = _asked(tmp_path, "2", on_unchanged="skip")
    assert len({release_name(each, describe(each)) for each in (again, skipping)}) == 1


def test_skip_draws_a_changed_table_alone_and_every_statement_tells_so(tmp_path, capfd):
    _write(tmp_path, ROWS)
    first = _run(_asked(tmp_path, "1", on_unchanged="skip"))
    _write(tmp_path, ROWS[::-1])  # the order of rows is not counted
    second = _run(_asked(tmp_path, "2", on_unchanged="skip"))
    assert second == {"release": first["release"], "unchanged": "1"}
    assert "Nothing new: vintage '2' would be made of the same as vintage '1'" in capfd.readouterr().err
    _write(tmp_path, [[*row[:4], "pool", row[5]] for row in ROWS])  # nor is a column that is not used
    assert _run(_asked(tmp_path, "3", on_unchanged="skip"))["unchanged"] == "1"
    assert (phases(), releases(tmp_path)) == (["commit"], ["1-1", "latest"])
    _write(tmp_path, ROWS[:-1])  # one person less
    assert "unchanged" not in _run(_asked(tmp_path, "4", on_unchanged="skip"))
    _write(tmp_path, ROWS)  # as it was once, and not at the last release
    assert "unchanged" not in _run(_asked(tmp_path, "5", on_unchanged="skip"))
    assert (phases(), releases(tmp_path)) == (3 * ["commit"], ["1-1", "4-1", "5-1", "latest"])
    for name in ("1-1", "4-1", "5-1"):
        stated = _privacy(tmp_path, name)
        assert stated["on_unchanged"]["policy"] == "skip"
        assert "no budget\ncovers it".replace("\n", " ") in stated["on_unchanged"]["sentence"]
        assert "follows from the table, too" in stated["public_side_channels"]
        body = pipeline.json_of(tmp_path / "out" / "release" / "people" / name / "configuration.json")
        assert body["on_unchanged"] == "skip"
    # A vintage that was committed is returned, whatever the table is now.
    assert _run(_asked(tmp_path, "4", on_unchanged="skip"))["release"].endswith("/4-1")
    assert phases() == 3 * ["commit"]


@pytest.mark.slow
def test_a_change_of_policy_is_told_by_later_releases(tmp_path):
    _write(tmp_path, ROWS)
    assert "unchanged" not in _run(_asked(tmp_path, "2", on_unchanged="skip"))
    assert "unchanged" in _run(_asked(tmp_path, "3", on_unchanged="skip"))
    assert "unchanged" not in _run(_asked(tmp_path, "4"))
    assert "unchanged" not in _run(_asked(tmp_path, "5", noise_epsilon=5.0))
    # And back, as what was drawn meanwhile says that others are, or were, skipped. It recorded nothing.
    assert "unchanged" not in _run(_asked(tmp_path, "6", on_unchanged="skip"))
    changes = [{"policy": "skip", "vintage": "2"}, {"policy": "draw", "vintage": "4"}]
    assert _privacy(tmp_path, "2-1")["on_unchanged"]["changes"] == changes[:1]
    for name in ("4-1", "5-1"):
        told = _privacy(tmp_path, name)["on_unchanged"]
        assert (told["policy"], told["changes"]) == ("draw", changes)
        assert told["sentence"].startswith("Other releases of this dataset are, or were")
    assert phases() == 4 * ["commit"]


def test_a_dataset_that_has_releases_drawn_whatever_the_table_is_never_skips(tmp_path):
    from tasks.core.errors import ParameterError
    from tests.sensitive.test_protect import measured

    _write(tmp_path, ROWS)
    measured(_asked(tmp_path, "1"))
    ledger = open_ledger()
    head = ledger.head()
    for skipping in (
        _asked(tmp_path, "2", on_unchanged="skip"),
        _asked(tmp_path, "2", on_unchanged="skip", noise_epsilon=5.0),
    ):
        with pytest.raises(ParameterError, match="the privacy statements of its releases say that the dates"):
            measured(skipping)
        with pytest.raises(ParameterError, match="on_unchanged must stay draw"):
            ledger.note_policy(release_name(skipping, describe(skipping)), "skip")
    assert ledger.head() == head
    measured(_asked(tmp_path, "1", on_unchanged="skip"))  # is committed, and returned


@pytest.mark.slow
def test_a_lost_draw_of_a_changed_table_is_made_up_for_by_the_next_run(tmp_path, monkeypatch):
    from tasks.core.dp import release
    from tasks.core.errors import MeasurementLost

    def dies(*given: Any, before_first_word: Callable[[], None], **more: Any) -> None:
        before_first_word()
        raise OSError(5, "gone")

    _write(tmp_path, ROWS)
    _run(_asked(tmp_path, "1", on_unchanged="skip"))
    _write(tmp_path, ROWS[:-1])
    with monkeypatch.context() as patch:
        patch.setattr(release, "draw_measurement", dies)
        with pytest.raises(MeasurementLost):
            _run(_asked(tmp_path, "2", on_unchanged="skip"))
    assert "unchanged" not in _run(_asked(tmp_path, "2", on_unchanged="skip"))
    assert phases() == ["commit", "lost", "commit"]


@pytest.mark.slow
def test_a_budget_that_is_spent_refuses_whatever_the_table_is(tmp_path):
    from tasks.core.errors import BudgetExhausted

    _write(tmp_path, ROWS)
    one = {"privacy": {"releases": 1}, "on_unchanged": "skip"}
    _run(_asked(tmp_path, "1", **one))
    for rows in (ROWS, ROWS[:-1]):
        _write(tmp_path, rows)
        with pytest.raises(BudgetExhausted):
            _run(_asked(tmp_path, "2", **one))


def _anonymous(folder: Path, vintage: str, **changes: Any) -> RunConfiguration:
    return from_flat(pipeline.anonymous(folder, vintage=vintage, **changes))


@pytest.mark.slow
def test_k_anonymity_releases_nothing_new_of_an_unchanged_table(tmp_path):
    from prefect.client.orchestration import get_client

    _write(tmp_path, ROWS)
    key = f"unchanged-{tmp_path.name.lower().replace('_', '-')}"[:60]
    dataset = {"dataset": key.removeprefix("unchanged-")}

    def run(vintage: str, last: str = "generate", **changes: Any) -> dict[str, str]:
        return showcase(_anonymous(tmp_path, vintage, **dataset | changes), last)

    first = run("1")
    assert run("2") == {"release": first["release"], "unchanged": "1"}
    assert releases(tmp_path, dataset["dataset"]) == ["1-1", "latest"]
    with get_client(sync_client=True) as client:
        found = client.request(
            "POST", "/artifacts/latest/filter", json={"artifacts": {"key": {"any_": [key]}}}
        )
    assert "Nothing new" in found.json()[0]["data"]
    # Another stage, other settings, another table, a withdrawn release, or the wish for one: all make one.
    assert "unchanged" not in run("3", "aggregate")
    assert "unchanged" not in run("4", reporting_resolution=11)
    assert "unchanged" not in run("5", on_unchanged="draw")
    assert "unchanged" in run("6")
    (tmp_path / "out" / first["release"]).rename(tmp_path / "withdrawn")
    assert "unchanged" not in run("7")
    _write(tmp_path, ROWS[:200])
    assert "unchanged" not in run("8")
    assert run("8")["release"].endswith("/8-1")


@pytest.mark.slow
def test_measuring_alone_hands_over_nothing_new_and_publishing_finds_the_release(tmp_path):
    from flows.publish import publish

    _write(tmp_path, ROWS)
    first = measure(_anonymous(tmp_path, "1"))
    assert measure(_anonymous(tmp_path, "2")) == first
    unnamed = _anonymous(tmp_path, "1").model_copy(update={"vintage": None})
    assert publish(unnamed) == publish(unnamed) == "release/people/1-1"


@pytest.mark.slow
def test_syndiffix_releases_nothing_new_of_an_unchanged_table(tmp_path):
    _write(tmp_path, ROWS)
    flat = pipeline.anonymous(tmp_path)
    flat = {key: flat[key] for key in ("sensitive_microdata_path", "subject_id", "output_dir", "prefix")}
    flat |= {"synthesis_mode": "syndiffix", "dataset": "people", "use_columns": ["town", "sex"]}

    def run(vintage: str) -> dict[str, str]:
        return syndiffix(from_flat(flat | {"vintage": vintage}), "aggregate")

    first = run("1")
    assert run("2") == {"release": first["release"], "unchanged": "1"}
    _write(tmp_path, ROWS[:200])
    assert "unchanged" not in run("3")
    assert releases(tmp_path) == ["1-1", "3-1", "latest"]


@pytest.mark.slow
def test_what_is_compared_with_is_told_nowhere_outside_the_closed_zone(tmp_path, own_ledger):
    _write(tmp_path, ROWS)
    _run(_asked(tmp_path, "1", on_unchanged="skip"))
    kept = json.loads((tmp_path / "out" / "sensitive" / "people" / "unchanged.json").read_text())
    hashes = [entry["counted"] for entry in kept.values() if "counted" in entry]
    assert len(hashes) == 1
    places = [own_ledger, *(tmp_path / "out" / zone for zone in ("release", "measurement", "intermediate"))]
    for path in (path for place in places for path in place.rglob("*") if path.is_file()):
        assert hashes[0].encode() not in path.read_bytes()
