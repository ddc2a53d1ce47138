"""The table from S3 and releases to it, by a server of our own: what is read, when, and what refusals say."""

import os
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from flows.command import main as command
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import InputError, ParameterError, StorageError
from tasks.core.tables.header import InputFile
from tasks.core.tables.places import Storage, remote_url
from tasks.core.tables.source import RemoteFile
from tests.flows import pipeline
from tests.flows.processes import configured, phases
from tests.public.test_errata import released

BUCKET, SECRET = "closed", "zqxsecretkey77"


@pytest.fixture(scope="module")
def address():
    """A server that speaks S3's protocol."""
    served = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    served.start()
    yield "http://{}:{}".format(*served.get_host_and_port())
    served.stop()


@pytest.fixture
def s3(address, monkeypatch):
    """A client of it; credentials are in the environment, as a deployment has them."""
    for name, value in (
        ("AWS_ENDPOINT_URL", address),
        ("AWS_ACCESS_KEY_ID", "zqxkeyid77"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=address)
    client.create_bucket(Bucket=BUCKET)
    return client


def _put(s3: Any, name: str, rows: list[list[str]], folder: Path) -> None:
    path = pipeline.write(folder / "to-upload.csv", rows)
    s3.put_object(Bucket=BUCKET, Key=name, Body=path.read_bytes())
    path.unlink()


def test_a_header_is_read_without_fetching_the_table_and_a_run_reads_one_table(s3, tmp_path):
    _put(s3, "people.csv", pipeline.rows(2000), tmp_path)
    source = InputFile(Path(f"s3://{BUCKET}/people.csv"))
    assert source.headers.names == pipeline.HEADER
    opened = source.opened
    assert isinstance(opened, RemoteFile) and opened._descriptor == -1
    opened.fetch(tmp_path)
    digest = opened.sha256()
    _put(s3, "people.csv", pipeline.rows(10), tmp_path)
    assert (opened.sha256(), list(tmp_path.iterdir())) == (digest, [])


def test_a_table_that_is_replaced_before_it_is_fetched_is_refused(s3, tmp_path):
    _put(s3, "people.csv", pipeline.rows(100), tmp_path)
    source = InputFile(Path(f"s3://{BUCKET}/people.csv"))
    assert source.headers
    _put(s3, "people.csv", pipeline.rows(100, seed=2), tmp_path)
    with pytest.raises(InputError, match="must not change while a run reads it"):
        source.opened.sha256()


def test_refusals_say_a_code_and_no_credential(s3, address, monkeypatch):
    with pytest.raises(InputError, match=f"s3://{BUCKET}/none.csv does not exist"):
        _ = InputFile(Path(f"s3://{BUCKET}/none.csv")).opened
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(StorageError) as raised:
        _ = InputFile(Path(f"s3://{BUCKET}/people.csv")).opened
    said = str(raised.value)
    assert "could not be looked at (" in said and raised.value.__cause__ is None
    assert raised.value.__context__ is None
    for hidden in ("zqx", address, "127.0.0.1"):
        assert hidden not in said


def test_only_the_code_of_what_storage_says_is_told():
    from botocore.exceptions import ClientError

    def refused() -> None:
        answer: Any = {"Error": {"Code": "InvalidAccessKeyId", "Message": "The key zqxkeyid77 is not known"}}
        raise PermissionError("zqxkeyid77") from ClientError(answer, "HeadObject")

    with pytest.raises(StorageError, match=r"\(InvalidAccessKeyId\)") as raised:
        Storage("memory://closed/people.csv").attempt("be read", refused)
    assert "zqx" not in str(raised.value)


def test_what_can_not_be_used_is_refused_by_its_key(tmp_path):
    def refused(**keys: object) -> str:
        with pytest.raises(ParameterError) as raised:
            from_flat(pipeline.flat(tmp_path, **keys))
        return str(raised.value)

    assert "must be a folder on a disk" in refused(output_dir="s3://open/out")
    assert "publish_to" in refused(publish_to="releases")
    said = refused(publish_to="s3://zqxkey:zqxsecret@open/out")
    assert "must hold no credentials" in said and "zqx" not in said
    for same in ("file:///data/people.csv", "file:/data/people.csv", "local:///data/people.csv"):
        assert "give its path alone" in refused(sensitive_microdata_path=same)
    for same in ("http://h/a.csv", "simplecache://b/a.csv", "sftp://h/a.csv"):
        assert "names an object in one way (az://, gs://, s3://)" in refused(sensitive_microdata_path=same)
    assert "no . or .. between slashes" in refused(sensitive_microdata_path="s3://b/x/../a.csv")
    with pytest.raises(ParameterError, match="needs a package that is not installed"):
        Storage("nosuchprotocol://a/b")
    assert remote_url(Path("/data/s3/people.csv")) is None and remote_url("people.csv") is None


@pytest.mark.server
def test_a_run_reads_its_vintage_from_s3_and_copies_the_whole_release_there(s3, tmp_path, capfd):
    s3.create_bucket(Bucket="open")
    asked = {
        "sensitive_microdata_path": f"s3://{BUCKET}/people-{{vintage}}.csv",
        "publish_to": "s3://open/all",
    }
    path = str(configured(tmp_path, **asked))
    assert command.main(["run", "--agg", path]) == 5
    assert f"must be at s3://{BUCKET}/people-2026-11.csv" in capfd.readouterr().err
    _put(s3, "people-2026-11.csv", pipeline.rows(300), tmp_path)
    assert command.main(["run", "--agg", path]) == 0
    release = tmp_path / "out" / "release" / "people" / "2026-11-1"

    def there() -> dict[str, bytes]:
        names = [entry["Key"] for entry in s3.list_objects_v2(Bucket="open").get("Contents", [])]
        return {name: s3.get_object(Bucket="open", Key=name)["Body"].read() for name in names}

    wanted = {f"all/people/2026-11-1/{name}": content for name, content in pipeline.tree(release).items()}
    assert pipeline.json_of(release.parent / ".copies.json") == {"2026-11-1": ["s3://open/all/people"]}
    wanted["all/people/INDEX.json"] = (release.parent / "INDEX.json").read_bytes()
    assert there() == wanted | {"all/people/latest": b"2026-11-1\n"}
    assert not any(b"publish_to" in content or b"s3://" in content for content in wanted.values())
    # A bucket that is gone: the release stays, the message says so, and nothing is charged again.
    for name in there():
        s3.delete_object(Bucket="open", Key=name)
    s3.delete_bucket(Bucket="open")
    capfd.readouterr()
    assert command.main(["run", "--agg", path]) == 1
    said = capfd.readouterr().err
    assert "The release itself is finished" in said and "zqx" not in said
    s3.create_bucket(Bucket="open")
    # A run died while it copied: without a manifest it is no release yet, and the next run completes it.
    s3.put_object(Bucket="open", Key="all/people/2026-11-1/privacy.json", Body=b"{")
    assert command.main(["run", "--agg", path]) == 0
    assert there() == wanted | {"all/people/latest": b"2026-11-1\n"}
    assert phases() == ["commit"]
    s3.put_object(Bucket="open", Key="all/people/2026-11-1/MANIFEST.json", Body=b"{}")
    assert command.main(["run", "--agg", path]) == 1
    assert "holds another one" in capfd.readouterr().err
    for zone in ("sensitive", "release", "measurement", "intermediate"):
        for each in (tmp_path / "out" / zone).rglob("*"):
            assert not each.is_file() or SECRET.encode() not in each.read_bytes()
    assert "AWS_ENDPOINT_URL" in os.environ


def test_errata_reach_the_copies_of_a_release_and_latest_there_leaves_it(s3, tmp_path, capfd, monkeypatch):
    from tasks.public import releases

    home, bucket = released(tmp_path / "release" / "people", "2026-10-1", "2026-11-1", "2026-12-1"), "errata"
    s3.create_bucket(Bucket=bucket)

    def there(name: str) -> str | None:
        found = [entry["Key"] for entry in s3.list_objects_v2(Bucket=bucket)["Contents"]]
        if f"all/people/{name}" not in found:
            return None
        return str(s3.get_object(Bucket=bucket, Key=f"all/people/{name}")["Body"].read().decode())

    # The one in the middle was never copied: ``latest`` there must not lead to it.
    for name in ("2026-10-1", "2026-12-1"):
        releases.record_copy(home / name, f"s3://{bucket}/all/people")
        releases.copy_files(home / name, f"s3://{bucket}/all/people")
    assert there("latest") == "2026-12-1\n"
    withdraw = ["errata", str(home / "2026-12-1"), "--withdraw", "It is of a test table."]
    with monkeypatch.context() as patch:
        patch.setenv("AWS_SECRET_ACCESS_KEY", "")
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        assert command.main(withdraw) == 1
    said = capfd.readouterr().err
    assert "a copy of the release has not got them. Run the same command again" in said
    assert command.main(withdraw) == 0
    assert there("2026-12-1/ERRATA.md") == (home / "2026-12-1" / "ERRATA.md").read_text()
    assert there("INDEX.json") == (home / "INDEX.json").read_text()
    assert there("latest") == "2026-10-1\n"
    assert command.main(["errata", str(home / "2026-10-1"), "--withdraw", "It is, too."]) == 0
    assert "It is, too." in str(there("2026-10-1/ERRATA.md")) and there("latest") is None


def test_check_judges_the_last_file_that_is_in_storage(tmp_path):
    import fsspec

    from tasks.plan.input_file import choose_vintage_to_check

    for vintage in ("2026-11", "2026-12", "2026-10"):
        fsspec.filesystem("memory").pipe_file(f"/closed/{vintage}/people-{vintage}.csv", b"a\n1\n")
    fsspec.filesystem("memory").pipe_file("/closed/2026-13/people-2026-14.csv", b"a\n1\n")
    path = "memory://closed/{vintage}/people-{vintage}.csv"
    asked = from_flat(pipeline.anonymous(tmp_path, sensitive_microdata_path=path, vintage=None))
    assert choose_vintage_to_check(asked).vintage == "2026-12"


def test_readers_see_the_manifest_last_and_latest_after_it(tmp_path, monkeypatch):
    import fsspec

    from tasks.public import releases

    folder = tmp_path / "release" / "people" / "2026-11-1"
    folder.mkdir(parents=True)
    for name in ("MANIFEST.json", "a.tsv", "privacy.json", "z.json"):
        (folder / name).write_text(name)
    (folder.parent / "latest").symlink_to(folder.name)
    system, written = fsspec.filesystem("memory"), []
    write = type(system).pipe_file
    monkeypatch.setattr(
        type(system), "pipe_file", lambda self, key, *rest: (written.append(key), write(self, key, *rest))[1]
    )
    releases.copy_files(folder, "memory://order/people")
    assert [key.rpartition("/")[2] for key in written] == [
        "a.tsv",
        "privacy.json",
        "z.json",
        "MANIFEST.json",
        "latest",
    ]
    releases.copy_files(folder, "memory://order/people")
    assert len(written) == 5
