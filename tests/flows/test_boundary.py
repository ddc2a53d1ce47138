"""The privacy boundary: tests P1 to P3, P5, P7 and P8 of the specification, on the whole pipeline.

(P4 is an import contract of `make check` and a test of the core; P6 is the ledger's own tests.)
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from flows.command import server
from tasks.core.errors import InputError, ParameterError
from tasks.core.statement.released_json import check_released_json
from tests.flows import pipeline

CANARIES = ("zqxid77", "zqxtown77", "zqxwork77", "zqxitem77", "zqxmore77", "zqxeven77")


def canary_row() -> list[str]:
    """One record full of tokens that nobody else has."""
    return ["zqxid77", "zqxtown77", "33", "zqxsex77", "zqxitem77;zqxmore77;zqxeven77", "zqxwork77"]


def assert_no_trace(tokens: tuple[str, ...], places: list[Path], said: str) -> None:
    for token in tokens:
        assert token not in said, f"{token} on the terminal"
        for place in places:
            for path in (place,) if place.is_file() else place.rglob("*"):
                if path.is_file():
                    assert token.encode() not in path.read_bytes(), f"{token} in {path}"


def public_places(folder: Path) -> list[Path]:
    """Everywhere but ``sensitive/`` and the table itself."""
    ledger = Path(os.environ["MARGINALIA_LEDGER"])
    zones = [folder / "out" / zone for zone in ("release", "measurement", "intermediate")]
    return [*zones, ledger, server.state_folder()]


@pytest.mark.server
def test_p1_canaries_of_one_record_appear_nowhere(
    tmp_path: Path, own_ledger: Path, prefect_server: str, capfd: pytest.CaptureFixture[str]
) -> None:
    configuration = pipeline.prepared(tmp_path, [*pipeline.rows(), canary_row()])
    release = pipeline.run(configuration)
    out = capfd.readouterr()
    assert (release / "people_data_showcase.html").exists()
    assert_no_trace((*CANARIES, "zqxsex77"), public_places(tmp_path), out.out + out.err)


@pytest.mark.server
def test_p1_undeclared_header_of_an_unused_column_appears_nowhere(
    tmp_path: Path, own_ledger: Path, prefect_server: str, capfd: pytest.CaptureFixture[str]
) -> None:
    table = [[*row, "x"] for row in pipeline.rows()]
    pipeline.write(tmp_path / "people.csv", table, [*pipeline.HEADER, "zqxheader77"])
    flat = pipeline.flat(tmp_path, use_columns=["town", "age", "sex", "services", "work"])
    pipeline.run(pipeline.from_flat(flat))
    out = capfd.readouterr()
    assert_no_trace(("zqxheader77",), public_places(tmp_path), out.out + out.err)


@pytest.mark.server
def test_p2_a_release_is_rebuilt_without_the_table_byte_for_byte(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    from flows.publish import publish

    configuration = pipeline.prepared(tmp_path)
    before = pipeline.tree(pipeline.run(configuration))
    shutil.rmtree(tmp_path / "out" / "sensitive")
    for zone in ("intermediate", "release"):
        shutil.rmtree(tmp_path / "out" / zone)
    (tmp_path / "people.csv").unlink()
    own_ledger.rename(tmp_path / "gone")
    publish(configuration)
    assert pipeline.tree(pipeline.latest(configuration)) == before


@pytest.mark.parametrize("exists", [False, True])
def test_publishing_from_a_mistyped_output_dir_says_that_no_measurement_is_there_and_makes_nothing(
    exists: bool, tmp_path: Path
) -> None:
    from flows.publish import publish

    mistyped = tmp_path / "aut"
    if exists:
        mistyped.mkdir()
    configuration = pipeline.from_flat(pipeline.flat(tmp_path, output_dir=str(mistyped)))
    with pytest.raises(ParameterError, match="needs a measurement"):
        publish.fn(configuration)
    assert list(mistyped.glob("*")) == [] and mistyped.exists() == exists


@pytest.mark.server
def test_p3_another_table_under_the_same_name_gives_the_same_release(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    configuration = pipeline.prepared(tmp_path)
    first = pipeline.run(configuration)
    before = pipeline.tree(first)
    pipeline.write(tmp_path / "people.csv", pipeline.rows(50, seed=9))
    second = pipeline.run(configuration)
    assert second == first
    assert pipeline.tree(second) == before


@pytest.mark.server
def test_p5_released_json_holds_allowed_keys_only(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    release = pipeline.run(pipeline.prepared(tmp_path))
    check_released_json(pipeline.json_of(release / "privacy.json"))
    for path in release.glob("*.json"):
        text = path.read_text().lower()
        for forbidden in ("true_count", "max_sensitivity", "expansion_ratio", str(tmp_path).lower()):
            assert forbidden not in text, f"{forbidden} in {path.name}"


@pytest.mark.server
@pytest.mark.parametrize("bad", ['zqxa77,"zqxb77', "zqxa77,zqxb77"])
def test_p7_a_malformed_row_shows_no_cell(
    bad: str, tmp_path: Path, own_ledger: Path, prefect_server: str, capfd: pytest.CaptureFixture[str]
) -> None:
    configuration = pipeline.prepared(tmp_path)
    with (tmp_path / "people.csv").open("a") as file:
        file.write(bad + "\n")
    with pytest.raises(InputError) as raised:
        pipeline.run(configuration)
    out = capfd.readouterr()
    assert raised.value.exit_code == 2
    assert "zqx" not in str(raised.value) + raised.value.operator_detail
    assert_no_trace(("zqxa77", "zqxb77"), public_places(tmp_path), out.out + out.err)


@pytest.mark.server
@pytest.mark.needs_root
def test_p8_a_user_who_cannot_open_sensitive_can_publish(own_ledger: Path, prefect_server: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to drop to another user")
    # Not below pytest's own folder, which every session closes to other users.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        configuration = pipeline.prepared(folder)
        before = pipeline.tree(pipeline.run(configuration))
        for zone in ("intermediate", "release"):
            shutil.rmtree(folder / "out" / zone)
            (folder / "out" / zone).mkdir()
            shutil.chown(folder / "out" / zone, user=65534)
        assert _publish_as_nobody(folder) == 0
        assert pipeline.tree(pipeline.latest(configuration)) == before


#: The interpreter's own files may be closed to the other user, so everything is imported by a first
#: publication, of a copy, before the process gives up its rights.
_AS_NOBODY = """
import os, sys
from flows.command.main import main
copy, real, sensitive = sys.argv[1:]
assert main(["publish", copy]) == 0
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    os.listdir(sensitive)
    sys.exit(9)
except PermissionError:
    pass
code = main(["publish", real])
sys.stdout.flush()
os._exit(code)
"""


def _publish_as_nobody(folder: Path) -> int:
    """Run the publishing command as a user who can't open ``sensitive/``; return its exit code."""
    (folder / "copy").mkdir()
    shutil.copytree(folder / "out" / "measurement", folder / "copy" / "measurement")
    paths = []
    for name, workspace in (("copy.json", "copy"), ("real.json", "out")):
        paths.append(folder / name)
        paths[-1].write_text(json.dumps(pipeline.flat(folder, output_dir=str(folder / workspace))))
        paths[-1].chmod(0o644)
    home = folder / "home"
    home.mkdir()
    shutil.chown(home, user=65534)
    environment = {**os.environ, "HOME": str(home), "PREFECT_HOME": str(home)}
    command = [sys.executable, "-c", _AS_NOBODY, *map(str, paths), str(folder / "out" / "sensitive")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=pipeline.ROOT
    )
    sys.stderr.write(done.stderr[-3000:])
    return done.returncode
