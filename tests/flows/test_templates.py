"""SDS's own configurations run as they are, only paths edited; and its example, the German credit data."""

import json

import pytest

from flows.command import main as command
from tests.flows import pipeline

pytestmark = pytest.mark.server

CONFIGURATIONS = pipeline.ROOT / "deployments" / "configurations"
TEMPLATES = sorted(path.stem for path in (CONFIGURATIONS / "templates").glob("*.json"))


def prepared_template(name, folder):
    """A template with only its paths edited."""
    table = [
        [town, sex, work, *services.split(";")[:1]] for _, town, _, sex, services, work in pipeline.rows()
    ]
    pipeline.write(folder / "table.csv", table, ["town", "sex", "work", "service"])
    body = json.loads((CONFIGURATIONS / "templates" / f"{name}.json").read_text())
    paths = {"sensitive_microdata_path": folder / "table.csv", "output_dir": folder / "out"}
    assert set(paths) <= set(body)
    path = folder / "configuration.json"
    path.write_text(json.dumps(body | {key: str(value) for key, value in paths.items()}))
    return path


@pytest.mark.parametrize("name", TEMPLATES)
def test_each_template_can_be_run_with_only_its_paths_edited(name, tmp_path, capsys):
    assert command.main(["check", str(prepared_template(name, tmp_path))]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("The configuration can be run")


def test_german_credit_runs_with_one_command_and_no_download(tmp_path, monkeypatch):
    configuration = CONFIGURATIONS / "german_credit.json"
    body = json.loads(configuration.read_text())
    for folder in ("data", "data_contracts", "deployments"):
        (tmp_path / folder).symlink_to(pipeline.ROOT / folder)
    monkeypatch.chdir(tmp_path)
    assert command.main(["run", str(configuration)]) == 0
    home = tmp_path / body["output_dir"] / "release" / body.get("dataset", body["prefix"])
    release = (home / "latest").resolve()
    assert (release / f"{body['prefix']}_data_showcase.html").is_file()
    statement = pipeline.json_of(release / "privacy.json")
    assert statement["guarantee"]["resolution"] == body["reporting_resolution"] == 2
