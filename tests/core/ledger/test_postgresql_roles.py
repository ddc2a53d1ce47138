"""A ledger whose tables one role owns and another one works with: what the second can do and what not."""

import uuid
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tasks.core.errors import LedgerError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger, open_store
from tasks.core.ledger.place import Database
from tasks.core.ledger.salts import salt_of
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import DATASET, charged, gdp_charge, ledger_for, release

pytestmark = pytest.mark.needs_postgresql
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
