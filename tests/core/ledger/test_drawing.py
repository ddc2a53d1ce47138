"""R1 and R4: a release is drawn once, charged before anything is read, its failures accounted for."""

import errno
import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tasks.core.dp.budget import Charge
from tasks.core.errors import (
    BudgetExhausted,
    InternalError,
    LedgerError,
    MeasurementLost,
    ParameterError,
    StoredTableMismatch,
)
from tasks.core.ledger.drawing import LOST, RESCUED, REUSED, draw_once
from tasks.core.ledger.ledger import Admission, Ledger
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import (
    DATASET,
    charged,
    gdp_charge,
    ledger_for,
    release,
    stored_measurement,
    told_of_draw,
)

CANARY = "canary-7f3a"
Leave = Callable[[], None]


@pytest.fixture
def ledger(place):
    return ledger_for(place, releases=3, epsilon=3.0)


@pytest.fixture
def in_folder(tmp_path):
    """One whose files a test may touch; see `test_postgresql` for the same in a database."""
    return ledger_for(tmp_path / "ledger", releases=3, epsilon=3.0)


def phases(ledger: Ledger) -> list[str]:
    return [entry.phase for entry in ledger.store.entries()][2:]


def test_p6_a_retry_returns_the_stored_measurement_and_does_not_redraw(ledger):
    first = draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    again = draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw)
    assert (first.reused, again.reused) == (False, True)
    assert (again.folder, again.sha256, again.head) == (first.folder, first.sha256, first.head)
    assert again.account == first.account
    assert stored_measurement(ledger, release("2026-01")) == first.folder
    assert charged(ledger) == 1


def test_a_new_vintage_is_charged_and_a_rebuilt_release_states_the_account_of_its_commit(ledger):
    """Though nothing else changed."""
    first = draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    assert not draw_once(ledger, release("2026-02"), gdp_charge(), write_measurement).reused
    assert charged(ledger) == 2
    again = draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw)
    assert again.account.charged_releases == 1
    assert again.account.spent == first.account.spent
    assert again.remaining_runs == first.remaining_runs == 2


def test_rules_4_and_9_the_order_of_the_entries_and_the_whole_charge_before_anything_is_read(ledger):
    seen: list[list[str]] = []

    def draw(folder: Path, leave: Leave) -> None:
        assert charged(ledger) == 1
        seen.append(phases(ledger))
        leave()
        seen.append(phases(ledger))
        leave()
        (folder / "counts_1.parquet").write_text("1")
        assert folder.name.endswith(".part")

    measured = draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert seen == [["reserve"], ["reserve", "drawing"]]
    assert phases(ledger) == ["reserve", "drawing", "commit"]
    assert [path.name for path in measured.folder.iterdir()] == ["counts_1.parquet"]
    entry = ledger.store.entries()[2].body
    assert entry["eps_delta_requested"] == ["1.0", "1e-06"]
    assert entry["delta_t"] == "1E-7"
    assert entry["engine"] == "rounded-gaussian/AES-256-CTR"


def test_rule_4_the_files_are_durable_before_the_folder_has_its_name(in_folder, synced):
    kept = draw_once(in_folder, release("2026-01"), gdp_charge(), write_measurement).folder
    part = kept.with_name(f"{kept.name}.part")
    files = [part / "counts_1.parquet", part / "measurement.json"]
    assert [path for path in synced if "measurements" in path.parts] == [*files, part, kept.parent]


def test_a_failure_after_the_folder_has_its_name_loses_nothing(in_folder, monkeypatch, fails_to_sync):
    fails_to_sync("measurements", errno.EIO)
    with pytest.raises(LedgerError, match="does not draw again"):
        draw_once(in_folder, release("2026-01"), gdp_charge(), write_measurement)
    monkeypatch.undo()
    assert told_of_draw(in_folder, release("2026-01"), gdp_charge(), must_not_draw) == [RESCUED]
    assert charged(in_folder) == 1


def test_p6_an_exhausted_budget_refuses_before_anything_is_read(place):
    ledger = ledger_for(place, releases=2, epsilon=1.5)
    for vintage in ("2026-01", "2026-02"):
        draw_once(ledger, release(vintage), gdp_charge(), write_measurement)
    for refused in (
        lambda: draw_once(ledger, release("2026-03"), gdp_charge(), must_not_draw),
        lambda: ledger.check_admission(release("2026-03"), gdp_charge()),
    ):
        with pytest.raises(BudgetExhausted) as caught:
            refused()
        assert caught.value.exit_code == 3
        assert DATASET in str(caught.value)
        assert "epsilon 1 at delta 1e-06" in str(caught.value)
        assert "--reason" in str(caught.value)
    assert phases(ledger).count("reserve") == 2
    assert draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw).reused


def test_the_refusal_names_a_release_that_would_fit(place):
    ledger = ledger_for(place, releases=2, epsilon=1.2)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    with pytest.raises(
        BudgetExhausted, match=r"enough for epsilon 0\.\d+ at delta 1e-06, which is less"
    ) as caught:
        ledger.check_admission(release("2026-02"), gdp_charge())
    epsilon = float(str(caught.value).split("enough for epsilon ")[1].split()[0])
    assert ledger.check_admission(release("2026-02"), gdp_charge(epsilon)) is Admission.ADMISSIBLE
    with pytest.raises(BudgetExhausted):
        ledger.check_admission(release("2026-02"), gdp_charge(epsilon * 1.02))


def test_an_open_reservation_gives_way_to_a_larger_charge_and_is_not_added_to(ledger):
    ledger.reserve(release("2026-01"), gdp_charge(0.5))
    assert REUSED not in told_of_draw(ledger, release("2026-01"), gdp_charge(), write_measurement)
    assert charged(ledger) == 1
    assert [r.phase for r in ledger.account(DATASET).reservations] == ["replaced", "commit"]


@pytest.mark.parametrize("change", ["append", "remove", "add", "go"])
def test_a_changed_measurement_is_an_error_and_never_made_again(in_folder, change):
    folder = draw_once(in_folder, release("2026-01"), gdp_charge(), write_measurement).folder
    if change == "append":
        (folder / "counts_1.parquet").write_text("other counts")
    elif change == "remove":
        (folder / "counts_1.parquet").unlink()
    elif change == "go":
        folder.rename(folder.parents[1] / "elsewhere")
    else:
        (folder / "counts_2.parquet").write_text("more")
    for refused in (
        lambda: draw_once(in_folder, release("2026-01"), gdp_charge(), must_not_draw),
        lambda: in_folder.check_admission(release("2026-01"), gdp_charge()),
        lambda: stored_measurement(in_folder, release("2026-01")),
    ):
        with pytest.raises(StoredTableMismatch, match="can't be made again") as caught:
            refused()
        assert ("it is gone" in str(caught.value)) == (change == "go")
    assert charged(in_folder) == 1


def test_seeded_noise_is_neither_charged_nor_kept(ledger):
    seeded = Charge(gdp_charge().mu_squared, 1e-7, 1.0, 1e-6, engine="insecure-seeded")
    for refused in (
        lambda: draw_once(ledger, release("2026-01"), seeded, must_not_draw),
        lambda: ledger.check_admission(release("2026-01"), seeded),
        lambda: ledger.reserve(release("2026-01"), seeded),
    ):
        with pytest.raises(ParameterError, match="protects nobody"):
            refused()
    assert phases(ledger) == []


def test_a_measurement_that_says_it_is_not_private_is_not_kept(ledger):
    def draw(folder: Path, leave: Leave) -> None:
        leave()
        (folder / "measurement.json").write_text('{"private": false}')

    with pytest.raises(MeasurementLost, match="must be private"):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert stored_measurement(ledger, release("2026-01")) is None


def _fails(error: BaseException, *, after: bool) -> Callable[[Path, Leave], None]:
    def draw(folder: Path, leave: Leave) -> None:
        if after:
            leave()
        (folder / "counts_1.parquet").write_text("half")
        raise error

    return draw


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "error",
    [ValueError(CANARY), KeyboardInterrupt(), MemoryError(), SystemExit(1), InternalError("ours"), FULL],
)
def test_rule_4_an_error_before_the_noise_is_void_and_free(ledger, error):
    with pytest.raises(type(error)) as caught:
        draw_once(ledger, release("2026-01"), gdp_charge(), _fails(error, after=False))
    assert caught.value is error
    assert phases(ledger) == ["reserve", "void"]
    assert charged(ledger) == 0
    assert ledger.store.measurements.names() == set()
    assert told_of_draw(ledger, release("2026-01"), gdp_charge(), write_measurement) == []
    assert charged(ledger) == 1


@pytest.mark.parametrize(
    "error", [ValueError(CANARY), KeyboardInterrupt(CANARY), MemoryError(), SystemExit(CANARY), FULL]
)
def test_rule_4_an_error_in_the_noise_is_lost_and_charged(ledger, error):
    with pytest.raises(MeasurementLost) as caught:
        draw_once(ledger, release("2026-01"), gdp_charge(), _fails(error, after=True))
    assert phases(ledger) == ["reserve", "drawing", "lost"]
    assert ledger.store.measurements.names() == set()
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert ("No space left" in str(caught.value)) == (error is FULL)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert told_of_draw(ledger, release("2026-01"), gdp_charge(), write_measurement) == [LOST]
    assert charged(ledger) == 2


def test_a_draw_that_asks_for_no_leave_is_lost_and_our_fault(ledger):
    def draw(folder: Path, leave: Leave) -> None:
        (folder / "counts_1.parquet").write_text("1")

    with pytest.raises(MeasurementLost, match="ask for leave"):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert phases(ledger) == ["reserve", "lost"]
    assert charged(ledger) == 1


@pytest.mark.parametrize("then", [None, ValueError(CANARY)])
def test_a_draw_that_goes_on_without_leave_is_lost(ledger, then):
    """The chain refuses to say "drawing" (here: it says so already), and the draw does not care."""

    def draw(folder: Path, leave: Leave) -> None:
        reservation = ledger.account(DATASET).reservations[0]
        ledger.advance(reservation, "drawing")
        with suppress(InternalError):
            leave()
        if then is not None:
            raise then

    with pytest.raises(MeasurementLost):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert phases(ledger) == ["reserve", "drawing", "lost"]
