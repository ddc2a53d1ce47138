"""What ``marginalia syndiffix`` tells: nothing of the data unless asked, and then with a warning."""

import json
import stat

import pytest

from tasks.core.ledger.salts import salt_of
from tests.flows.syndiffix_people import run

pytestmark = pytest.mark.usefixtures("own_ledger")


class TestLog:
    def test_verbose_warns_first_and_then_tells_dependence_entropy_clusters_time_and_memory(
        self, table, output, capfd
    ):
        assert run(table, "--aidcolumns", "pid", "--verbose", "-o", output) == 0
        lines = capfd.readouterr().err.splitlines()
        assert lines[0].startswith("SENSITIVE") and "not share" in lines[0]
        at = lines.index("Dependence:")
        matrix = [line.split() for line in lines[at + 1 : at + 8]]
        assert matrix[0] == ["0", "1", "2", "3", "4", "total"]
        for number, row in enumerate(matrix[1:6]):
            assert row[1 + number] == "1.00"
            assert float(row[-1]) == pytest.approx(sum(map(float, row[1:-1])), abs=0.03)
        assert matrix[6][0] == "total"
        assert sum("entropy" in line for line in lines) == 5
        (clusters,) = [line for line in lines if line.startswith("Clusters: ")]
        assert "InitialCluster" in json.loads(clusters.removeprefix("Clusters: "))
        assert any(line.startswith("Elapsed: ") and " ms; memory: " in line for line in lines)

    def test_without_verbose_nothing_that_was_read_off_the_data_is_told(self, table, output, capfd):
        assert run(table, "--aidcolumns", "pid", "-o", output) == 0
        said = capfd.readouterr().err.splitlines()
        what, types, made = (line for line in said if "salt" not in line and "syndiffix:" not in line)
        assert what.startswith("SynDiffix is not differentially private")
        assert types.startswith("Types that were inferred: ")  # the output has them too
        rows = len(output.read_text().splitlines()) - 1
        assert made == f"Wrote {rows} synthetic rows of 5 columns to {output}."

    def test_debug_writes_all_but_the_salt_to_a_closed_file(self, table, tmp_path, own_ledger, capfd):
        path = tmp_path / "debug.json"
        asked = ("--columns", "age:i", "city:s", "--aidcolumns", "pid")
        assert run(table, *asked, "--debug", "-o", path) == 0
        assert "SENSITIVE" in capfd.readouterr().err
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        told = json.loads(path.read_text())
        assert told["columns"] == ["age", "city"]
        assert told["null_mappings"] == [120.0, 4.0]
        assert told["bucketization"]["range_low_threshold"] == 15
        assert [tree["combination"] for tree in told["trees"]] == [[0], [1], [0, 1]]
        assert [buckets["combination"] for buckets in told["buckets"]] == [[0], [1], [0, 1]]
        for tree in told["trees"]:
            held = [row for node in tree["nodes"] for row in node.get("rows", [])]
            assert sorted(held) == list(range(400))
        assert len(told["original_rows"]) == 400
        assert told["synthetic_columns"] == ["age", "city"]
        assert told["elapsed_seconds"] > 0
        salt = salt_of(own_ledger, "command")
        content = path.read_text()
        assert salt.hex() not in content and repr(salt) not in content and str(salt) not in content
        assert '"salt"' not in content

    def test_debug_follows_no_link_to_a_stream(self, table, tmp_path, capfd):
        link = tmp_path / "debug.json"
        link.symlink_to("/dev/stdout")
        assert run(table, "--columns", "age", "--debug", "-o", link) == 2
        assert capfd.readouterr().out == ""

    @pytest.mark.parametrize("place", [None, "out.csv", "release/debug.json", "no/folder.json"])
    def test_debug_needs_a_file_of_its_own(self, table, tmp_path, place, capfd):
        (tmp_path / "release").mkdir()
        given = [] if place is None else ["-o", tmp_path / place]
        assert run(table, "--columns", "age", "--debug", *given) == 2
        printed, said = capfd.readouterr()
        assert printed == "" and said.startswith("marginalia: ")
        assert list(tmp_path.rglob("*.json")) == []
