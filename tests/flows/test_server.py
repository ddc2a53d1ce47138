"""The local server: started once, kept, replaced when it is of no use, ended on request."""

import json
import os
import stat
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from flows.command import server
from tests.flows.processes import ROOT

_ENSURE = "from flows.command import server; print(server.ensure(lambda text: print(text, flush=True)))"


@pytest.fixture
def own_place(tmp_path, monkeypatch):
    """A server's folder of one test; nothing runs there afterwards."""
    monkeypatch.setenv("MARGINALIA_SERVER", str(tmp_path / "server"))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    return tmp_path / "server"


def recorded(place: Path) -> dict[str, object]:
    return dict(json.loads((place / "server.json").read_text()))


@pytest.mark.server
def test_the_life_of_a_server(own_place):
    """One server for all claims about it: each start costs ten seconds of CPU."""
    starters = [
        subprocess.Popen([sys.executable, "-c", _ENSURE], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        said = [process.communicate(timeout=400)[0].splitlines() for process in starters]
        # Two starters at once start one: a single one says so, both get the same URL.
        assert sorted(len(lines) for lines in said) == [1, 2]
        assert said[0][-1] == said[1][-1]
        first = recorded(own_place)
        # It outlives its starter, has a session, a folder and a log of its own, none of the caller's streams.
        pid = int(str(first["pid"]))
        assert os.getsid(pid) == pid
        assert Path(f"/proc/{pid}/cwd").resolve() == own_place.resolve()
        streams = [Path(f"/proc/{pid}/fd/{number}").resolve() for number in (0, 1, 2)]
        assert streams == [Path("/dev/null"), *[(own_place / "server.log").resolve()] * 2]
        assert stat.S_IMODE(own_place.stat().st_mode) == 0o700
        # The next run uses it without a word.
        told: list[str] = []
        assert server.ensure(told.append) == said[0][-1] and told == []
        # One of another version is replaced, and ended.
        (own_place / "server.json").write_text(json.dumps(first | {"version": "0.0.1"}))
        url = server.ensure(told.append)
        second = recorded(own_place)
        assert len(told) == 1 and second["pid"] != first["pid"] and second["version"] == first["version"]
        assert not Path(f"/proc/{pid}/cwd").exists() and server._answers(url, 20)
        # `stop` ends it, once.
        assert server.stop() and not server.stop()
        assert not server._answers(url, 2)
        assert not (own_place / "server.json").exists()
    finally:
        server.stop()
        for process in starters:
            process.kill()


def test_stop_without_a_server_says_so(own_place, capsys):
    from flows.command import main as command

    assert command.main(["stop"]) == 0
    assert capsys.readouterr().out == "No server was running.\n"
    assert not own_place.exists()


def test_a_dead_server_is_of_no_use(own_place):
    own_place.mkdir()
    ended = subprocess.Popen(["true"])
    ended.wait()
    record = {"pid": ended.pid, "started": "1", "port": 1, "version": version("prefect")}
    (own_place / "server.json").write_text(json.dumps(record))
    assert not server.is_running() and not server._usable(server.Server(**record))


def test_a_recycled_process_id_is_not_taken_for_ours(own_place):
    """A record that names a live process which is not the server that was started: it is left alone."""
    own_place.mkdir()
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        record = {"pid": other.pid, "started": "1", "port": 1, "version": "0"}
        (own_place / "server.json").write_text(json.dumps(record))
        assert not server.stop()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_configured_api_wins(own_place, monkeypatch, tmp_path):
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_PROFILE", raising=False)
    monkeypatch.delenv("PREFECT_PROFILES_PATH", raising=False)
    assert server.configured_api_url() is None
    (tmp_path / "profiles.toml").write_text(
        'active = "work"\n[profiles.work]\nPREFECT_API_URL = "http://profile/api"\n[profiles.other]\n'
    )
    assert server.configured_api_url() == "http://profile/api"
    monkeypatch.setenv("PREFECT_PROFILE", "other")
    assert server.configured_api_url() is None
    monkeypatch.setenv("PREFECT_API_URL", "http://environment/api")
    assert server.configured_api_url() == "http://environment/api"


@pytest.mark.server
def test_a_configured_api_that_does_not_answer_ends_with_2_and_one_line(
    own_place, tmp_path, monkeypatch, capfd
):
    from flows.command import main as command
    from tests.flows.processes import configuration_file

    path = configuration_file(tmp_path)
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{server._free_port()}/api")
    assert command.main(["run", str(path)]) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("marginalia: ")]
    assert "The Prefect API must answer at http://127.0.0.1:" in line
    assert not own_place.exists()
