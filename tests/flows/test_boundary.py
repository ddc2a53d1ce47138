"""The privacy boundary: tests P3, P7 and P8 of the specification, on runs of their own.

(P1, P2 and P5 are asked of whole runs in `test_whole_runs`; P4 is an import contract of `make check` and a
test of the core; P6 is the ledger's own tests.)
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tasks.core.errors import InputError, ParameterError
from tests.flows import pipeline
from tests.flows.whole_runs import assert_no_trace, public_places


@pytest.mark.parametrize("exists", [False, True])
def test_publishing_from_a_mistyped_output_dir_says_that_no_measurement_is_there_and_makes_nothing(
    exists, tmp_path
):
    from flows.publish import publish

    mistyped = tmp_path / "aut"
    if exists:
        mistyped.mkdir()
    configuration = pipeline.from_flat(pipeline.flat(tmp_path, output_dir=str(mistyped)))
    with pytest.raises(ParameterError, match="needs a measurement"):
        publish.fn(configuration)
    assert list(mistyped.glob("*")) == [] and mistyped.exists() == exists


@pytest.mark.server
def test_p3_another_table_under_the_same_name_gives_the_same_release(tmp_path):
    configuration = pipeline.prepared(tmp_path)
    first = pipeline.run(configuration)
    before = pipeline.tree(first)
    pipeline.write(tmp_path / "people.csv", pipeline.rows(50, seed=9))
    second = pipeline.run(configuration)
    assert second == first
    assert pipeline.tree(second) == before


@pytest.mark.server
@pytest.mark.parametrize("bad", ['zqxa77,"zqxb77', "zqxa77,zqxb77"])
def test_p7_a_malformed_row_shows_no_cell(bad, tmp_path, own_ledger, capfd):
    configuration = pipeline.prepared(tmp_path)
    with (tmp_path / "people.csv").open("a") as file:
        file.write(bad + "\n")
    with pytest.raises(InputError) as raised:
        pipeline.run(configuration)
    out = capfd.readouterr()
    assert raised.value.exit_code == 2
    assert "zqx" not in str(raised.value) + raised.value.operator_detail
    assert_no_trace(("zqxa77", "zqxb77"), public_places(tmp_path, own_ledger), out.out + out.err)


@pytest.mark.server
@pytest.mark.needs_root
def test_p8_a_user_who_cannot_open_sensitive_can_publish():
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
