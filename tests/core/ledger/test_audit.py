"""An audit finds every entry that was not allowed, in the ledger and in an export."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import LedgerError, MeasurementLost, ParameterError
from tasks.core.ledger import entries as chain
from tasks.core.ledger.audit import audit_entries, export_at, export_text, read_export, write_export
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.entries import Entry, Whereabouts
from tests.oracles.drawing import write_measurement
from tests.oracles.ledger_runs import DATASET, gdp_charge, ledger_for, release

Bodies = list[dict[str, object]]
HERE = Whereabouts("here", "file")


def _loses(folder: Path, leave: Callable[[], None]) -> None:
    leave()
    raise ValueError


def _fails(folder: Path, leave: Callable[[], None]) -> None:
    raise ValueError


@pytest.fixture
def ledger(place):
    """One with everything in it that an account may go through."""
    ledger = ledger_for(place, releases=4, epsilon=4.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    with pytest.raises(ValueError):
        draw_once(ledger, release("2026-02"), gdp_charge(), _fails)
    with pytest.raises(MeasurementLost):
        draw_once(ledger, release("2026-02"), gdp_charge(), _loses)
    ledger.reserve(release("2026-03"), gdp_charge(0.5))
    draw_once(ledger, release("2026-03"), gdp_charge(), write_measurement)
    ledger.lower(DATASET, 3.9, 4e-6)
    ledger.raise_caps(DATASET, 5.0, 5e-6, reason="approved")
    return ledger


def test_what_a_ledger_wrote_is_all_allowed_and_so_is_its_export(ledger, tmp_path):
    audit = ledger.audit()
    assert audit.in_words == f"all {len(ledger.entries())} entries verified"
    file = tmp_path / "export.jsonl"
    write_export(ledger.entries(), file)
    assert audit_entries(read_export(file), export_at(file)) == audit
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(ParameterError, match="must be a new file"):
        write_export(ledger.entries(), file)


def rewritten(entries: list[Entry], change: Callable[[Bodies], None]) -> list[Entry]:
    """A chain that is whole, of bodies that somebody changed."""
    bodies = [dict(entry.body) for entry in entries]
    change(bodies)
    moved = {body["seq"]: seq for seq, body in enumerate(bodies, start=1)}
    made: list[Entry] = []
    for seq, body in enumerate(bodies, start=1):
        if "reserve" in body:
            body["reserve"] = moved[body["reserve"]]
        body |= {"seq": seq, "prev": made[-1].sha256 if made else chain.BEGINNING}
        made.append(Entry(seq, sha256_of(canonical(body)), body))
    return made


def first(phase: str, /, **changed: object) -> Callable[[Bodies], None]:
    """Change keys of the first entry of a phase; those that are None are taken out."""

    def change(bodies: Bodies) -> None:
        body = next(body for body in bodies if body["phase"] == phase)
        body |= changed
        for key in [key for key, value in changed.items() if value is None]:
            del body[key]

    return change


def commit_without_drawing(bodies: Bodies) -> None:
    committed = next(body for body in bodies if body["phase"] == "commit")["reserve"]
    bodies.remove(next(b for b in bodies if b["phase"] == "drawing" and b["reserve"] == committed))


def drawn_twice(bodies: Bodies) -> None:
    for body in bodies:
        if body.get("vintage") == "2026-03":
            body["vintage"] = "2026-01"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (first("reserve", mu2="0.0001"), "below that of its claim"),
        (first("reserve", delta_t="-1E-7"), "no charge"),
        (first("register", mu2_cap="100"), "above that of its epsilon and delta"),
        (first("reserve", mu2="30", eps_delta_requested=["9.0", "1e-06"]), "above the cap in force"),
        (first("raise", phase="lower"), "rose without a reason"),
        (first("raise", reason=None), "without a reason"),
        (first("register", dataset="other"), "not registered"),
        (first("lost", phase="void"), "from drawing to void"),
        (commit_without_drawing, "from reserve to commit"),
        (drawn_twice, "drawn already"),
        (first("commit", vintage="2027-01"), "another release than its reservation"),
        (first("reserve", mu2=None), "can't be read"),
        (lambda bodies: bodies.append(dict(bodies[0])), "opened once"),
    ],
)
def test_a_whole_chain_of_entries_that_were_not_allowed_is_refused(tmp_path, change, words):
    ledger = ledger_for(tmp_path / "ledger", releases=2, epsilon=2.0)
    with pytest.raises(MeasurementLost):
        draw_once(ledger, release("2026-03"), gdp_charge(), _loses)
    ledger.raise_caps(DATASET, 5.0, 5e-6, reason="approved")
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    draw_once(ledger, release("2026-03"), gdp_charge(), write_measurement)
    forged = rewritten(ledger.entries(), change)
    with pytest.raises(LedgerError, match=words):
        audit_entries(forged, HERE)


@pytest.mark.parametrize(
    "damaged",
    [
        lambda lines: [*lines[:-1], lines[-1][:-20]],
        lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
        lambda lines: [*lines[:2], lines[2].replace('"t":"20', '"t":"19'), *lines[3:]],
        lambda lines: [*lines[:3], *lines[4:]],
        lambda lines: [*lines[:2], "[]", *lines[3:]],
        lambda lines: [],
    ],
    ids=["cut", "swapped", "edited", "dropped", "garbled", "empty"],
)
def test_an_export_that_was_changed_is_refused(ledger, tmp_path, damaged):
    lines = export_text(ledger.entries()).splitlines()
    assert damaged(lines) != lines
    (tmp_path / "export.jsonl").write_text("\n".join(damaged(lines)))
    with pytest.raises(LedgerError, match="must be whole and allowed"):
        read_export(tmp_path / "export.jsonl")


def test_a_clock_that_was_set_back_changes_neither_order_nor_charges(place, monkeypatch):
    """Times are said and never used: who sets the clock back is charged all the same, and it is told."""
    ledger = ledger_for(place, releases=2, epsilon=2.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)

    class Earlier(chain.datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Earlier":
            return cls(2001, 1, 1, tzinfo=chain.UTC)

    monkeypatch.setattr(chain, "datetime", Earlier)
    draw_once(ledger, release("2026-02"), gdp_charge(), write_measurement)
    monkeypatch.undo()
    audit = ledger.audit()
    assert audit.set_back == (6,)
    assert "the clock was set back before entry 6" in audit.in_words
    assert [each.name.vintage for each in audit.accounts[0].reservations] == ["2026-01", "2026-02"]
    assert audit.accounts[0].charged_releases == 2
