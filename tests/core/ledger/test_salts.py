"""The salt: one for each dataset, closed to others, and never a new one where there was one."""

import multiprocessing
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tasks.core.errors import LedgerError, ParameterError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.new_salt import SALT_BYTES
from tasks.core.ledger.salts import require_apart, require_one_salt, salt_of
from tasks.core.ledger.sqlite import SqliteStore
from tasks.core.ledger.tables import PublicTable


@pytest.fixture
def in_folder(tmp_path):
    return tmp_path / "ledger"


def salt_path(ledger: Path, dataset: str) -> Path:
    return SqliteStore(ledger).salt_path(dataset)


def test_a_salt_is_made_once_and_is_32_bytes_of_its_dataset_alone(place):
    salt = salt_of(place, "people")
    assert len(salt) == SALT_BYTES
    assert salt_of(place, "people") == salt
    assert salt_of(place, "others") != salt


def test_a_file_name_tells_no_dataset_and_no_dataset_leaves_the_folder(in_folder):
    salt_of(in_folder, "../../people")
    assert [path.parent for path in in_folder.parent.rglob("*.salt")] == [in_folder / "salts"]


def _ask(ledger, barrier, answers):
    barrier.wait()
    answers.put(salt_of(ledger, "people"))


def test_processes_that_come_at_once_get_the_same_salt(place):
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(6), context.Queue()
    processes = [context.Process(target=_ask, args=(place, barrier, answers)) for _ in range(6)]
    for process in processes:
        process.start()
    found = {answers.get(timeout=60) for _ in processes}
    for process in processes:
        process.join()
    assert found == {salt_of(place, "people")}


def test_a_salt_that_its_maker_did_not_live_to_record_is_used(in_folder):
    salt_of(in_folder, "others")
    path = salt_path(in_folder, "people")
    path.write_bytes(bytes(range(SALT_BYTES)))
    path.chmod(0o600)
    assert salt_of(in_folder, "people") == bytes(range(SALT_BYTES))


def link(path):
    path.rename(path.with_name("kept"))
    path.symlink_to("kept")


def make_pipe(path):
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: shutil.rmtree(path.parent),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes() + b"x"),
        lambda path: path.write_bytes(bytes(SALT_BYTES)),
        link,
        lambda path: link(path.parent),
        make_pipe,
    ],
    ids=["gone", "no folder", "short", "long", "another", "a link", "a linked folder", "a pipe"],
)
def test_a_damaged_salt_is_refused_and_never_made_anew(in_folder, damage):
    salt_of(in_folder, "people")
    shutil.copytree(in_folder / "salts", in_folder / "copy", copy_function=shutil.copy2)
    damage(salt_path(in_folder, "people"))
    left = sorted(in_folder.rglob("*"))
    for _ in range(2):
        with pytest.raises(LedgerError, match="Restore the whole ledger folder from a backup"):
            salt_of(in_folder, "people")
        assert sorted(in_folder.rglob("*")) == left


@pytest.mark.parametrize("opened", ["file", "folder"])
def test_a_salt_that_others_may_read_is_refused(in_folder, opened):
    salt_of(in_folder, "people")
    path = salt_path(in_folder, "people")
    (path if opened == "file" else path.parent).chmod(0o750)
    with pytest.raises(LedgerError, match=r"closed to all other users.*chmod"):
        salt_of(in_folder, "people")


def _code_as_another_user(ledger: Path) -> int:
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        try:
            salt_of(ledger, "people")
        except LedgerError:
            os._exit(0)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.needs_root
@pytest.mark.parametrize("owner", ["another's file", "another's ledger"])
def test_another_users_salt_is_refused(owner):
    if os.geteuid() != 0:
        pytest.skip("needs root, to drop to another user")
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        ledger = Path(name) / "ledger"
        salt_of(ledger, "people")
        if owner == "another's ledger":
            assert _code_as_another_user(ledger) == 0
            return
        os.chown(salt_path(ledger, "people"), 65534, -1)
        with pytest.raises(LedgerError, match="another user's"):
            salt_of(ledger, "people")


def test_a_salt_leaves_the_budget_of_its_dataset_as_it_is(place):
    book = open_ledger(place)
    book.register(Registration("people", 1.0, 1e-6, 1e-7, "", "row"))
    before = book.account("people")
    salt_of(place, "people")
    after = open_ledger(place).account("people")
    assert (after.caps, after.spent, after.reservations) == (before.caps, before.spent, before.reservations)
    assert open_ledger(place).datasets() == ("people",)


@pytest.mark.parametrize("dataset", ["", " ", "\u200b"])
def test_a_dataset_without_a_name_is_refused(place, dataset):
    with pytest.raises(ParameterError, match="must have a name"):
        salt_of(place, dataset)


def test_a_ledger_in_a_folder_of_outputs_or_around_one_is_refused(tmp_path):
    outputs = tmp_path / "out"
    outputs.mkdir()
    (tmp_path / "link").symlink_to(outputs)
    require_apart(tmp_path / "ledger", outputs)
    for ledger in (outputs / "ledger", outputs, tmp_path, tmp_path / "link" / "release" / "ledger"):
        with pytest.raises(ParameterError, match="apart from the outputs"):
            require_apart(ledger, outputs)


HEADER = ("person", "town", "age")


def table(path: str = "a.csv", header=HEADER, columns=()) -> PublicTable:
    return PublicTable(Path(path), header, tuple(columns) or header[1:])


def test_a_second_name_for_a_table_gets_no_salt_until_a_person_writes_down_why(in_folder):
    """What counts as the same table is that of budgets, see `test_tables`."""
    second, words = table("b.csv", ("AGE ", "Person", "t own")), "same columns as a table of dataset 'people'"
    for _ in range(2):
        salt = salt_of(in_folder, "people", table())
    phases = [entry.phase for entry in open_ledger(in_folder).store.entries()]
    assert phases == ["open", "salted table", "salt"]
    # A budget for the same table under another name is a first one.
    assert open_ledger(in_folder).enter(Registration("budget", 1.0, 1e-6, 1e-7), table())
    head = open_ledger(in_folder).head()
    for refused in (
        lambda: salt_of(in_folder, "others", second),
        lambda: require_one_salt(in_folder, ("others", second)),
    ):
        with pytest.raises(ParameterError, match=words) as caught:
            refused()
        told = str(caught.value)
        assert told.startswith("All tables about the same people must share one salt.")
        assert 'set "dataset": "people" (for marginalia syndiffix: --dataset \'people\')' in told
        assert told.endswith("written reason: marginalia ledger 'others' --reason 'other people'.")
    assert open_ledger(in_folder).head() == head and len(list(in_folder.rglob("*.salt"))) == 1
    open_ledger(in_folder).set_apart("others", "other people")
    assert salt_of(in_folder, "others", second) != salt
    assert salt_of(in_folder, "people", table()) == salt


def test_every_table_that_a_salt_was_used_for_is_known_and_noted_once(place):
    for _ in range(2):
        salt_of(place, "people", table())
        salt_of(place, "people", table("next month.csv", (*HEADER, "work")))
    assert [e.phase for e in open_ledger(place).store.entries()] == [
        "open",
        "salted table",
        "salt",
        "salted table",
    ]
    for second in (table("next month.csv", ("x",)), table("c.csv", (*HEADER, "work")), table("c.csv")):
        with pytest.raises(ParameterError, match="of dataset 'people'"):
            salt_of(place, "others", second)
    assert salt_of(place, "others", table("c.csv", ("x", "y")))


def test_a_rehearsed_batch_finds_what_its_own_runs_would_salt(place):
    open_ledger(place)
    with pytest.raises(ParameterError, match="of dataset 'p1'"):
        require_one_salt(place, ("p1", table()), ("p2", table()))
    require_one_salt(place, ("p1", table()), ("p1", table()), ("p2", table("b.csv", ("x", "y"))))


def test_a_restored_backup_brings_the_salt_back(in_folder, tmp_path):
    salt = salt_of(in_folder, "people")
    shutil.copytree(in_folder, tmp_path / "backup")
    shutil.rmtree(in_folder / "salts")
    shutil.copytree(tmp_path / "backup" / "salts", in_folder / "salts")
    assert salt_of(in_folder, "people") == salt
