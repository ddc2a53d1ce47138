"""``marginalia syndiffix --blob``: a blob is built once, then asked without table and salt."""

import json
import shutil
import zipfile

import pytest

from tasks.core.ledger.place import ledger_place
from tests.flows.syndiffix_people import people, read, run, write


@pytest.fixture
def blob(table, tmp_path):
    path = tmp_path / "people.sdxblob.zip"
    assert run(table, "--aidcolumns", "pid", "--blob", path) == 0
    return path


def test_a_blob_is_asked_for_some_columns_without_the_table_and_without_the_salt(table, blob, tmp_path):
    table.unlink()
    shutil.rmtree(ledger_place())
    output = tmp_path / "out.csv"
    assert run(blob, "--columns", "member", "age", "--output", output) == 0
    header, *rows = read(output)
    assert header == ["member", "age"]
    assert 300 < len(rows) < 500
    assert {row[1] for row in rows} <= {row[1] for row in people()}
    assert (
        run(blob, "--columns", "city", "age", "member", "income", "--ml-target", "member", "-o", output) == 0
    )
    assert read(output)[0] == ["city", "age", "member", "income"]
    assert run(blob, "-o", output) == 0
    assert read(output)[0] == ["age", "income", "city", "joined", "member"]


def test_a_blob_of_too_many_tables_is_refused_with_what_helps_before_a_salt_is_made(tmp_path, capfd):
    header = [f"c{number}" for number in range(50)]
    table = write(tmp_path / "wide.csv", [[row % 3] * 50 for row in range(20)], header)
    path = tmp_path / "wide.sdxblob.zip"
    assert run(table, "--blob", path) == 2
    assert "--blob-largest 2" in capfd.readouterr().err
    assert run(table, "--blob", path, "--blob-largest", "1") == 2
    assert not (ledger_place() / "salts").exists() and not path.exists()


def test_what_does_not_go_with_a_blob_is_refused(table, blob, tmp_path, capfd):
    another = tmp_path / "another.sdxblob.zip"
    assert run(table, "--blob", another, "--output", tmp_path / "out.csv") == 2
    assert run(table, "--blob", another, "--ml-target", "age") == 2
    for without_effect in (
        ["--clustering-samplesize", "5"],
        ["--clustering-maxweight", "1"],
        ["--no-clustering", "--blob-largest", "4"],
    ):
        assert run(table, "--blob", another, *without_effect) == 2, without_effect
        assert without_effect[0] in capfd.readouterr().err
    assert run(table, "--blob", tmp_path / "people.zip") == 2
    assert run(table, "--blob", ledger_place() / "people.sdxblob.zip") == 2
    assert run(blob, "--columns", "age", "--aidcolumns", "pid") == 2
    assert run(blob, "--columns", "age:r", "city") == 2
    assert "leave them out, --columns age city." in capfd.readouterr().err
    assert run(blob, "--columns", "agee") == 2
    assert "did you mean 'age'" in capfd.readouterr().err
    assert not another.exists()


def test_a_blob_and_its_answers_say_whom_they_protect(table, blob, tmp_path, capfd):
    for path, ids in ((blob, ["pid"]), (tmp_path / "rows.sdxblob.zip", [])):
        if not ids:
            assert run(table, "--blob", path, "--blob-largest", "2", "--columns", "age", "city") == 0
        parameters = json.loads(zipfile.ZipFile(path).read("blob.json"))["parameters"]
        assert (parameters["ids"], parameters["unit"]) == (ids, "subject" if ids else "row")
        capfd.readouterr()
        assert run(path, "--columns", "age", "-o", tmp_path / "out.csv") == 0
        assert ("all rows of one pid together" if ids else "People with several rows are not") in (
            capfd.readouterr().err
        )
