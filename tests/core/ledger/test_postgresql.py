"""A ledger in a database: what somebody with the database in hand may do to it, and sessions that die."""

import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import (
    LedgerError,
    MarginaliaError,
    MeasurementLost,
    ParameterError,
    StoredTableMismatch,
)
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import LOST, RESCUED, REUSED, draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger, open_store
from tasks.core.ledger.place import Database, ledger_place
from tasks.core.ledger.postgresql import PostgresqlStore
from tasks.core.ledger.salts import salt_of
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import (
    DATASET,
    charged,
    edit,
    gdp_charge,
    is_refused,
    ledger_for,
    release,
    stored_measurement,
    told_of_draw,
)

pytestmark = pytest.mark.needs_postgresql
Leave = Callable[[], None]
SECRET = "s3cret-canary"


@pytest.fixture
def place(postgresql, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Database(postgresql.of_test(tmp_path, "ledger"))


@pytest.fixture
def ledger(place):
    """One with a release, and an entry that no release knows of."""
    ledger = ledger_for(place, releases=3, epsilon=3.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    ledger.raise_caps(DATASET, 4.0, 4e-6, reason="approved")
    return ledger


WORDS = "Restore the database from a backup"


@contextmanager
def another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """One that never saw the ledger."""
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
        yield


HEAD_TO = "update head set (seq, sha256) = (select seq, sha256 from entries order by seq desc limit 1)"


@pytest.mark.parametrize(
    "statements",
    [
        ("delete from entries where seq = 6",),
        ("delete from entries where seq = 6", HEAD_TO),
        ("delete from entries where seq > 2", "delete from measurements", HEAD_TO),
        ("delete from entries where seq > 1", "delete from measurements", HEAD_TO),
        ("update entries set seq = seq + 100 where seq in (3, 4)", "update entries set seq = 107 - seq "
         "where seq > 100"),
        ("update head set seq = 5",),
        ("delete from head",),
        ("drop table head",),
        ("drop table measurements",),
        ("alter table entries set unlogged",),
        ("drop table entries, head, measurements, salts",),
    ],
    ids=lambda statements: "; ".join(statements)[:60],
)  # fmt: skip
def test_p6_whatever_is_done_to_the_tables_is_refused(place, ledger, statements):
    edit(place, *statements)
    is_refused(place, ledger, WORDS)


def test_a_chain_rewritten_whole_with_its_head_is_refused_by_a_machine_that_knew_it(place, ledger):
    before, statements = "", []
    for entry in ledger.store.entries():
        body = dict(entry.body) | ({"prev": before} if before else {})
        body |= {"mu2": "0.001"} if entry.phase == "reserve" else {}
        before = sha256_of(canonical(body))
        text = canonical(body).replace("'", "''")
        statements.append(f"update entries set body = '{text}', sha256 = '{before}' where seq = {entry.seq}")
    edit(place, *statements, HEAD_TO)
    is_refused(place, ledger, "another ledger")


def test_a_database_of_before_is_refused_by_each_machine_that_saw_more_and_by_each_release(
    place, ledger, monkeypatch, tmp_path
):
    drawn = draw_once(ledger, release("2026-02"), gdp_charge(), write_measurement)
    edit(
        place,
        "delete from entries where seq > 6",
        "delete from measurements where name not in (select name from measurements limit 1)",
        HEAD_TO,
    )
    is_refused(place, ledger, "older copy")
    with another_machine(monkeypatch, tmp_path):
        assert charged(open_ledger(place)) == 1, "nobody there knew more"
        with pytest.raises(LedgerError, match="cut short, or is another ledger"):
            open_ledger(place).verify(drawn.head)


def test_a_new_ledger_at_a_known_address_is_refused(place, ledger):
    edit(place, "drop table entries, head, measurements, salts", "drop function refuse_change")
    with pytest.raises(LedgerError, match="it is empty, though this machine has used it"):
        open_ledger(place)


def test_the_tables_themselves_refuse_changes(place, ledger):
    salt_of(place, "people")
    with psycopg.connect(place.address, autocommit=True) as connection:
        for statement in (
            *(f"delete from {table}" for table in ("entries", "measurements", "salts", "head")),
            *(f"truncate {table}" for table in ("entries", "measurements", "salts", "head")),
            "update entries set body = ''",
            "update measurements set content = ''",
            "update salts set salt = ''",
        ):
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                connection.execute(statement)  # type: ignore[arg-type]


def test_a_salt_that_is_gone_or_another_one_is_refused(place):
    salt_of(place, "people")
    edit(place, "update salts set salt = decode(repeat('00', 32), 'hex')")
    with pytest.raises(LedgerError, match="not the one that was made for this dataset"):
        salt_of(place, "people")
    edit(place, "delete from salts")
    with pytest.raises(LedgerError, match="Restore the whole ledger database"):
        salt_of(place, "people")


def test_a_changed_measurement_is_an_error_and_a_changed_copy_is_fetched_anew(place, ledger):
    folder = stored_measurement(ledger, release("2026-01"))
    assert folder is not None
    (folder / "counts_1.parquet").write_text("other counts")
    assert draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw).folder == folder
    assert (folder / "counts_1.parquet").read_text() == "counts"
    (folder / "counts_1.parquet").write_text("other counts")
    edit(place, "update measurements set content = 'x' where path = 'counts_1.parquet'")
    with pytest.raises(StoredTableMismatch, match="it was changed"):
        ledger.check_admission(release("2026-01"), gdp_charge())
    edit(place, "delete from measurements")
    with pytest.raises(StoredTableMismatch, match="it is gone"):
        draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw)


def test_another_machine_gets_the_same_measurement_byte_for_byte(place, ledger, monkeypatch, tmp_path):
    def large(folder: Path, leave: Leave) -> None:
        leave()
        (folder / "counts.parquet").write_bytes(bytes(range(256)) * 80_000)
        (folder / "empty.parquet").touch()

    drawn = draw_once(ledger, release("2026-02"), gdp_charge(), large)
    with another_machine(monkeypatch, tmp_path):
        again = draw_once(open_ledger(place), release("2026-02"), gdp_charge(), must_not_draw)
        assert (again.sha256, again.head, again.reused) == (drawn.sha256, drawn.head, True)
        assert again.folder != drawn.folder
        assert (again.folder / "counts.parquet").stat().st_size == 256 * 80_000
        assert (again.folder / "empty.parquet").read_bytes() == b""


def test_a_measurement_that_names_a_file_elsewhere_is_refused(place, ledger):
    edit(place, "update measurements set path = '../../../elsewhere' where path = 'measurement.json'")
    # The copy on this machine is still whole, and needs no fetching.
    assert stored_measurement(ledger, release("2026-01")) is not None
    with pytest.raises(LedgerError, match="no name of its own"):
        ledger.store.measurements.folder(ledger.account(DATASET).reservations[0].measurement_name)


# --- sessions


def kill_sessions(place: Database) -> None:
    """What a restarted server, or an administrator, does to them."""
    with psycopg.connect(place.address, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
            "where application_name = 'marginalia-ledger'"
        )


def phases(ledger: Ledger) -> list[str]:
    return [each.phase for each in ledger.account(DATASET).reservations]


def test_a_session_that_dies_before_the_noise_stops_the_draw_and_charges_nothing_twice(place):
    ledger = ledger_for(place)

    def draw(folder: Path, leave: Leave) -> None:
        kill_sessions(place)
        leave()
        raise AssertionError("noise would be drawn without a lock")

    with pytest.raises(LedgerError, match="nothing is charged twice"):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert phases(ledger) == ["reserve"]
    assert told_of_draw(ledger, release("2026-01"), gdp_charge(), write_measurement) == [REUSED]
    assert charged(ledger) == 1


def test_a_session_that_dies_in_the_noise_loses_the_measurement_like_a_crash(place):
    ledger = ledger_for(place, releases=2, epsilon=2.0)

    def draw(folder: Path, leave: Leave) -> None:
        write_measurement(folder, leave)
        kill_sessions(place)

    with pytest.raises(MeasurementLost, match="went out of reach"):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert phases(ledger) == ["drawing"]
    assert told_of_draw(ledger, release("2026-01"), gdp_charge(), write_measurement) == [LOST]
    assert phases(ledger) == ["lost", "commit"]
    assert charged(ledger) == 2


def test_a_run_that_lost_its_lock_can_not_commit_beside_the_one_that_took_over(place):
    """Of two draws of one release, the one whose session died is never kept, though its process lives."""
    ledger, taken = ledger_for(place, releases=2, epsilon=2.0), []

    def draw(folder: Path, leave: Leave) -> None:
        write_measurement(folder, leave)
        kill_sessions(place)
        told = []
        other = draw_once(
            open_ledger(place), release("2026-01"), gdp_charge(), write_measurement, told.append
        )
        taken.append((told, other.reused))

    with pytest.raises(MeasurementLost):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert taken == [([LOST], False)]
    assert phases(ledger) == ["lost", "commit"]
    assert len(ledger.store.measurements.names()) == 1
    assert charged(ledger) == 2


def test_a_measurement_that_was_kept_before_the_session_died_is_used(place, monkeypatch):
    ledger = ledger_for(place)
    keep = ledger.store.measurements.keep

    def dying(name: str) -> None:
        keep(name)
        kill_sessions(place)

    monkeypatch.setattr(ledger.store.measurements, "keep", dying)
    with pytest.raises(LedgerError, match="does not draw again"):
        draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    monkeypatch.undo()
    assert told_of_draw(ledger, release("2026-01"), gdp_charge(), must_not_draw) == [RESCUED]
    assert charged(ledger) == 1


def test_a_role_without_durable_commits_gets_them_in_our_sessions(place):
    lazy = Database(f"{place.address}?options=-csynchronous_commit%3Doff")
    store = PostgresqlStore(lazy)
    with store.current() as connection:
        row = connection.execute("show synchronous_commit").fetchone()
    assert row == {"synchronous_commit": "on"}


def test_no_password_is_shown(monkeypatch, place, postgresql):
    for address in (
        f"postgresql://me:{SECRET}@127.0.0.1/x",
        f"postgresql://me@h/x?password={SECRET}",
        f"postgresql://me@h/x?oauth_client_secret={SECRET}",
        f"postgresql://me@h1,me:{SECRET}@h2/x",
        f"postgresql://me@h1,{SECRET}@h2/x",
        f"postgresql://me@h1/me:{SECRET}@h2/x",
        f"postgresql://me%3A{SECRET}@h/x",
    ):
        monkeypatch.setenv("MARGINALIA_LEDGER", address)
        with pytest.raises(ParameterError, match="must hold no password") as caught:
            ledger_place()
        assert SECRET not in "".join(traceback.format_exception(caught.value))
    for address in (
        f"postgresql://me:{SECRET}@h:port/x",
        f"mysql://me:{SECRET}@h/x",
        f"postgres://[{SECRET}",
    ):
        monkeypatch.setenv("MARGINALIA_LEDGER", address)
        with pytest.raises(ParameterError) as caught:
            ledger_place()
        assert SECRET not in "".join(traceback.format_exception(caught.value))
        with pytest.raises(MarginaliaError) as raised:
            open_ledger(Database(address))
        assert SECRET not in "".join(traceback.format_exception(raised.value))
    for address in ("postgresql://me@h1:5432,h2:5433/x", "postgresql://me%40tenant@[::1]/x"):
        monkeypatch.setenv("MARGINALIA_LEDGER", address)
        assert ledger_place() == Database(address)
    closed = Database("postgresql://me@127.0.0.1:1/x", SECRET)
    assert SECRET not in repr(closed)
    with pytest.raises(LedgerError, match="must be readable and writable") as refused:
        open_ledger(closed)
    assert SECRET not in "".join(traceback.format_exception(refused.value))
    with psycopg.connect(place.address, autocommit=True) as connection:
        connection.execute("drop role if exists nobody_much")
        connection.execute("create role nobody_much login")
    stranger = Database(place.address.replace("postgres@", "nobody_much@"), SECRET)
    with pytest.raises(LedgerError, match=r"no schema that this role may use|permission denied") as refused:
        open_ledger(stranger)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


def test_an_address_that_leads_to_another_schema_begins_no_second_ledger(place):
    """A role, a database or an address may name a schema; an empty one there would know of nothing spent."""
    PostgresqlStore(place)
    with psycopg.connect(place.address, autocommit=True) as connection:
        connection.execute("create schema other")
    elsewhere = Database(f"{place.address}?options=-csearch_path%3Dother")
    with pytest.raises(LedgerError, match=r"must keep one ledger alone.* in the schema public"):
        PostgresqlStore(elsewhere)


# --- tables that one role owns and another one works with


_GRANTS = Path(__file__).resolve().parents[3] / "sql" / "ledger" / "postgresql" / "workers.sql"
_TABLES = ("entries", "head", "measurements", "salts")


@dataclass(frozen=True)
class Roles:
    """A database's address for its administrator, the owner of the ledger and a worker."""

    administrator: str
    owner: str
    worker: str


@pytest.fixture
def roles(postgresql, tmp_path, monkeypatch):
    """As the runbook makes them; nothing is in the database yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    administrator, mark = postgresql.of_test(tmp_path, "ledger"), uuid.uuid4().hex[:12]
    owner, worker = f"owner_{mark}", f"worker_{mark}"
    with psycopg.connect(administrator, autocommit=True) as connection:
        known = connection.execute("select 1 from pg_roles where rolname = 'marginalia_workers'").fetchone()
        if known is None:
            connection.execute("create role marginalia_workers nologin")
        for role in (owner, worker):
            connection.execute(f"create role {role} login")  # type: ignore[arg-type]
        connection.execute(f"grant marginalia_workers to {worker}")  # type: ignore[arg-type]
        database = administrator.rpartition("/")[2]
        connection.execute(f'alter database "{database}" owner to {owner}')  # type: ignore[arg-type]
    return Roles(administrator, *(administrator.replace("postgres@", f"{role}@") for role in (owner, worker)))


def grant(roles: Roles) -> None:
    with psycopg.connect(roles.owner, autocommit=True) as connection:
        connection.execute(_GRANTS.read_text(encoding="utf-8"))  # type: ignore[arg-type]


def refused_to_worker(roles: Roles) -> None:
    """What would take back or forge what was written."""
    asked = [f"delete from {table}" for table in _TABLES]
    asked += [f"truncate {table}" for table in _TABLES]
    asked += [f"drop table {table}" for table in _TABLES]
    asked += [f"alter table {table} disable trigger all" for table in _TABLES]
    asked += [
        "update entries set body = ''",
        "update measurements set content = ''",
        "update salts set salt = ''",
        "insert into head (is_only, seq, sha256) values (true, 1, '')",
        "create or replace function refuse_change() returns trigger language sql as ''",
        "drop function refuse_change() cascade",
        "create table public.others (a integer)",
        "create schema others",
        "set session_replication_role = replica",
    ]
    with psycopg.connect(roles.worker, autocommit=True) as connection:
        for statement in asked:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)  # type: ignore[arg-type]


def test_a_worker_makes_a_whole_draw_and_takes_nothing_back(roles):
    open_ledger(Database(roles.owner))
    grant(roles)
    worker = Database(roles.worker)
    ledger = ledger_for(worker, releases=2, epsilon=2.0)
    drawn = draw_once(ledger, release("1"), gdp_charge(), write_measurement)
    assert draw_once(open_ledger(worker), release("1"), gdp_charge(), must_not_draw).sha256 == drawn.sha256
    assert len(salt_of(worker, "people")) == 32 and salt_of(worker, "people") == salt_of(worker, "people")
    ledger.raise_caps(DATASET, 4.0, 4e-6, reason="approved")
    refused_to_worker(roles)
    assert open_ledger(Database(roles.owner)).head() == ledger.head()
    assert round(charged(ledger)) == 1
    # The one row that it may change: whoever reads next notices.
    with psycopg.connect(roles.worker, autocommit=True) as connection:
        connection.execute("update head set seq = seq - 1")
    with pytest.raises(LedgerError, match="does not end where its table head says"):
        open_ledger(worker).head()


def test_a_worker_makes_no_ledger_where_the_owner_made_none(roles):
    with psycopg.connect(roles.owner, autocommit=True) as connection:
        connection.execute("revoke create on schema public from public")
    with pytest.raises(LedgerError, match="permission denied"):
        open_ledger(Database(roles.worker))


def test_a_ledger_that_its_workers_own_is_given_to_an_owner(roles):
    worker = roles.worker.partition("//")[2].partition("@")[0]
    owner = roles.owner.partition("//")[2].partition("@")[0]
    with psycopg.connect(roles.administrator, autocommit=True) as connection:
        connection.execute(f"grant create on schema public to {worker}")  # type: ignore[arg-type]
        before = Ledger(open_store(Database(roles.worker)))
        before.register(Registration(DATASET, 1.0, 1e-6, 1e-7))
        connection.execute(f"revoke create on schema public from {worker}")  # type: ignore[arg-type]
        connection.execute(f"reassign owned by {worker} to {owner}")  # type: ignore[arg-type]
    grant(roles)
    ledger = open_ledger(Database(roles.worker))
    assert ledger.head() == before.head()
    draw_once(ledger, release("1"), gdp_charge(), write_measurement)
    refused_to_worker(roles)
