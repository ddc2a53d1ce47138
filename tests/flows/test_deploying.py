"""What `marginalia deploy` makes of a command line, and of a deployment that somebody has changed."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule, RRuleSchedule

from flows.command import main as command
from flows.command.deploy import (
    SLUG,
    Request,
    deployment_name,
    fires_twice_a_day,
    merge,
    next_time,
    parse_schedule,
    require_deployable,
    schedule_words,
)
from tasks.core.errors import ParameterError
from tests.flows import pipeline
from tests.flows.server_objects import answering

MONTHLY = CronSchedule(cron="0 4 1 * *", timezone="Europe/Vienna")


def asked(**options: Any) -> DeploymentScheduleCreate:
    given = {"cron": None, "every": None, "timezone": None, "paused": False} | options
    schedule = parse_schedule(**given)
    assert schedule is not None
    return schedule


@pytest.mark.parametrize(
    ("options", "words", "twice"),
    [
        ({"cron": "0 4  1 * *", "timezone": "Europe/Vienna"}, "0 4 1 * * Europe/Vienna", False),
        ({"cron": "@monthly", "paused": True}, "@monthly UTC, off", False),
        ({"cron": "*/5 * * * *"}, "*/5 * * * * UTC", True),
        ({"every": "1m"}, "every 1m UTC", True),
        ({"every": "120m"}, "every 2h UTC", True),
        ({"every": "1d", "timezone": "Asia/Tokyo"}, "every 1d Asia/Tokyo", False),
    ],
)
def test_a_schedule_is_what_the_options_say_and_it_is_known_whether_two_runs_share_a_date(
    options, words, twice
):
    schedule = asked(**options)
    assert (schedule_words(schedule), schedule.slug) == (words, SLUG)
    assert fires_twice_a_day(schedule) is twice


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cron": "0 4 1 *"}, "--cron must have five fields"),
        ({"cron": "61 * * * *"}, "--cron must have five fields"),
        ({"cron": "0 0 4 1 * *"}, "--cron must have five fields"),
        ({"every": "0m"}, "--every must be a number of minutes"),
        ({"every": "1w"}, "--every must be a number of minutes"),
        ({"every": "1.5h"}, "--every must be a number of minutes"),
        ({"every": "1d", "timezone": "Europe/Wien"}, "not 'Europe/Wien'"),
        ({"timezone": "UTC"}, "--timezone must have a schedule"),
        ({"paused": True}, "--paused must have a schedule"),
    ],
)
def test_a_schedule_that_cant_be_is_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        asked(**options)


def test_the_same_words_are_the_same_times_whenever_they_are_said():
    first, second = asked(every="2h"), asked(every="2h")
    assert first.schedule == second.schedule
    due = next_time([asked(every="1d", timezone="Asia/Tokyo")])
    assert due is not None and (due.hour, due.minute) == (0, 0) and due.utcoffset() == timedelta(hours=9)


def test_the_next_run_is_of_a_schedule_that_is_on():
    off, on = asked(every="1m", paused=True), asked(cron="0 4 1 * *", timezone="Europe/Vienna")
    due = next_time([off, on])
    assert due is not None and (due.day, due.hour) == (1, 4)
    assert next_time([off]) is None


def test_a_deployment_is_named_after_its_file():
    assert deployment_name(None, Path("a/German Credit_2.json")) == "german-credit-2"
    assert deployment_name("people-at-night", Path("x.json")) == "people-at-night"
    for name in ("", "People", "a b", "-a", "a--b", "a/b"):
        with pytest.raises(ParameterError, match="--name must be"):
            deployment_name(name, Path("x.json"))


# ------------------------------------------------------------------ what stays of what a person has set


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.json"
    path.write_text("{}")
    return path


def working_in(folder: Path) -> dict[str, Any]:
    return {"env": {"LANG": "C.UTF-8", "MARGINALIA_FOLDER": str(folder)}}


def scheduled(kind: Any, slug: str | None = SLUG, *, active: bool = True) -> DeploymentSchedule:
    return DeploymentSchedule(id=uuid4(), schedule=kind, slug=slug, active=active)


def kept(file: Path, *schedules: DeploymentSchedule, **changes: Any) -> DeploymentResponse:
    """A deployment as the command left it, or as somebody changed it then."""
    limit = {"id": uuid4(), "name": "x", "limit": 1, "active": True, "active_slots": 0}
    body: dict[str, Any] = {
        "id": uuid4(),
        "name": "people",
        "flow_id": uuid4(),
        "schedules": list(schedules),
        "parameters": {"configuration": str(file)},
        "tags": [*TAGS, f"file:{file.name}"],
        "work_pool_name": "marginalia",
        "job_variables": working_in(file.parent),
        "global_concurrency_limit": limit | {"slot_decay_per_second": 0},
    }
    return DeploymentResponse.model_validate(body | changes)


def merged_with(before: DeploymentResponse, file: Path, schedule: Any = None, **changes: Any) -> Any:
    """What becomes of it when the command asks for the file."""
    given = {"name": "people", "pool": None, "overwrite": False, "folder": file.parent} | changes
    return merge(before, Request(file=file, schedule=schedule, **given))


def tag(merged: Any, start: str) -> str | None:
    return next((each.removeprefix(start) for each in merged.changes["tags"] if each.startswith(start)), None)


TAGS = ["marginalia", "sha256:000000000000", "schedule:0 4 1 * * Europe/Vienna"]
AGAIN = asked(cron="0 4 1 * *", timezone="Europe/Vienna")
ON, OFF = scheduled(MONTHLY), scheduled(MONTHLY, active=False)
OTHER = scheduled(CronSchedule(cron="0 6 1 * *", timezone="Europe/Vienna"))


@pytest.mark.parametrize("now", [OFF, OTHER, None], ids=["turned off", "another time", "deleted"])
@pytest.mark.parametrize("cron", ["0 4 1 * *", "0 5 1 * *"], ids=["asks the same", "asks another"])
def test_a_schedule_that_a_person_changed_stays(file, now, cron):
    schedule = asked(cron=cron, timezone="Europe/Vienna")
    merged = merged_with(kept(file, *filter(None, [now])), file, schedule)
    assert merged.schedule is None and merged.removed == []
    assert any("set on the server and stays" in line and "you ask for" in line for line in merged.told)
    # The person's change is still told from the command's next time.
    assert tag(merged, "schedule:") == "0 4 1 * * Europe/Vienna"


def test_a_schedule_that_nobody_changed_follows_the_command_line(file):
    schedule = asked(every="1d")
    merged = merged_with(kept(file, ON), file, schedule)
    assert (merged.schedule, merged.removed) == (schedule, [ON])
    assert tag(merged, "schedule:") == "every 1d UTC"
    assert merged.told == ["schedule: every 1d UTC takes the place of 0 4 1 * * Europe/Vienna."]
    for same in (None, AGAIN):
        merged = merged_with(kept(file, ON), file, same)
        assert (merged.schedule, merged.removed, merged.told) == (None, [], [])
        assert tag(merged, "schedule:") == "0 4 1 * * Europe/Vienna"


def test_a_first_schedule_is_added_beside_those_of_a_person(file):
    own = scheduled(RRuleSchedule(rrule="FREQ=YEARLY"), slug="by-hand")
    before = kept(file, own, tags=["marginalia", "file:people.json"])
    merged = merged_with(before, file, asked(every="1d"))
    assert merged.schedule is not None and merged.removed == []


def test_overwriting_leaves_what_the_command_asks_for_alone_and_says_what_it_replaces(file):
    own = scheduled(IntervalSchedule(interval=timedelta(hours=1)), slug=None)
    before = kept(file, OFF, own, paused=True, parameters={"configuration": "other.json", "last": "generate"})
    before.tags.append("nightly")
    merged = merged_with(before, file, asked(every="1d"), pool="big", overwrite=True)
    assert merged.removed == [OFF, own] and merged.schedule is not None
    changes = merged.changes
    assert changes["parameters"] == {"configuration": str(file)}
    assert "nightly" not in changes["tags"] and tag(merged, "schedule:") == "every 1d UTC"
    assert (changes["paused"], changes["work_pool_name"]) == (False, "big")
    assert all("was replaced" in line for line in merged.told) and len(merged.told) == 6
    told = merged_with(kept(file, OTHER), file, AGAIN, overwrite=True).told
    assert "schedule: 0 6 1 * * Europe/Vienna was replaced." in told
    assert merged_with(kept(file, ON), file, AGAIN, overwrite=True).told == []
    merged = merged_with(kept(file, OFF, OTHER), file, overwrite=True)
    assert (merged.removed, merged.schedule) == ([], None), "without a schedule all are kept"


def test_parameters_tags_pool_and_limit_of_a_person_stay(file):
    before = kept(file, parameters={"configuration": str(file), "last": "generate"}, paused=True)
    before.tags.append("nightly")
    assert before.global_concurrency_limit is not None
    before.global_concurrency_limit.limit = 2
    merged = merged_with(before, file, pool="big")
    assert merged.changes["parameters"] == {"configuration": str(file), "last": "generate"}
    assert "nightly" in merged.changes["tags"]
    assert {"paused", "work_pool_name", "concurrency_limit", "schedules"} & set(merged.changes) == set()
    assert [line.partition(":")[0] for line in merged.told] == [
        "parameters", "tags", "runs at once", "paused", "work pool"
    ]  # fmt: skip
    # One whose pool was deleted gets one.
    merged = merged_with(kept(file, work_pool_name=None), file)
    assert merged.changes["work_pool_name"] == "marginalia" and merged.told == []


def test_a_file_that_a_person_chose_stays_and_one_that_moved_is_followed(file):
    chosen = merged_with(kept(file, parameters={"configuration": "deployments/other.json"}), file)
    assert chosen.changes["parameters"] == {"configuration": "deployments/other.json"}
    assert tag(chosen, "sha256:") == "000000000000"
    moved = merged_with(kept(file, parameters={"configuration": "/gone/people.json"}), file)
    assert moved.changes["parameters"] == {"configuration": str(file)}
    assert tag(moved, "sha256:") == "44136fa355b3"
    other = file.parent / "elsewhere" / "people.json"
    other.parent.mkdir()
    other.write_text("{}")
    with pytest.raises(ParameterError, match="Give --name"):
        merged_with(kept(file, parameters={"configuration": str(other)}), file)


def test_a_deployment_works_in_the_folder_in_which_it_was_made_last(file, tmp_path):
    for folder in (tmp_path, tmp_path / "other"):
        merged = merged_with(kept(file), file, folder=folder)
        assert merged.changes["job_variables"]["env"].items() >= working_in(folder)["env"].items()
        said = f"folder: relative paths start at {folder} now, no longer at {tmp_path}."
        assert merged.told == ([] if folder == tmp_path else [said])


def test_a_tag_is_a_hash_of_what_the_file_says_but_for_what_is_secret(file):
    def hash_of(body: dict[str, Any]) -> str | None:
        file.write_text(json.dumps(body))
        return tag(merged_with(kept(file), file), "sha256:")

    plain = {"prefix": "people", "aggregate_seeded_target_number_of_records": 10}
    assert hash_of(plain) != hash_of(plain | {"aggregate_seeded_target_number_of_records": 20})
    assert hash_of(plain) == hash_of(plain | {"random_seed": 4711})
    assert hash_of({"base_config": plain, "runs": {"a": [{"name": "b", "random_seed": 1}]}}) == hash_of(
        {"base_config": plain | {"random_seed": 2}, "runs": {"a": [{"name": "b"}]}}
    )
    table = "s3://{}host/people.csv"
    assert hash_of({"table": table.format("me:word@")}) == hash_of({"table": table.format("")})


# ------------------------------------------------------------------ refused before a server is asked


def test_a_file_with_relative_paths_is_deployed_from_where_they_start(tmp_path, monkeypatch):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(30))
    body = pipeline.anonymous(tmp_path, sensitive_microdata_path="people.csv", output_dir="out")
    pipeline.saved(tmp_path, body, "people.json")
    monkeypatch.chdir(tmp_path)
    (found,) = require_deployable(Path("people.json"))
    assert found.input.path == "people.csv"
    with pytest.raises(ParameterError, match=r"must be named \*\.json"):
        require_deployable((tmp_path / "people.json").rename("people.txt"))


def test_what_check_refuses_is_not_deployed(tmp_path, capsys):
    for body in (pipeline.anonymous(tmp_path), pipeline.anonymous(tmp_path, reporting_lenght=2)):
        assert command.main(["deploy", pipeline.saved(tmp_path, body)]) == 2
    said = capsys.readouterr().err
    assert "people.csv does not exist" in said and "did you mean reporting_length?" in said
    assert command.main(["deploy", str(tmp_path / "nothing.json")]) == 2


def test_a_dataset_whose_budget_has_run_out_can_be_deployed_with_a_warning(tmp_path, capsys):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(30))
    assert command.main(["ledger", "people", "--cap", "0.001", "1e-9"]) == 0
    pipeline.checked(tmp_path, capsys, pipeline.flat(tmp_path), code=3)
    (found,) = require_deployable(tmp_path / "configuration.json")
    assert found.dataset == "people"
    told = capsys.readouterr()
    assert "ATTENTION: Runs of a new vintage will be refused. The budget of 'people' does" in told.err
    assert told.out == ""


def test_a_server_that_refuses_us_is_told_of_in_one_line(tmp_path, monkeypatch, capsys):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(30))
    path = pipeline.saved(tmp_path, pipeline.anonymous(tmp_path))
    with answering(401, {}) as address:
        monkeypatch.setenv("PREFECT_API_URL", f"{address}/api")
        assert command.main(["deploy", path]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("marginalia: ")]
    assert "must know you; it refuses. Set PREFECT_API_AUTH_STRING" in line


def test_a_table_that_is_not_there_yet_can_be_deployed_with_a_warning(tmp_path, capsys):
    coming = pipeline.flat(tmp_path, sensitive_microdata_path=str(tmp_path / "{vintage}.csv"))
    (found,) = require_deployable(Path(pipeline.saved(tmp_path, coming)))
    assert found.dataset == "people"
    assert "ATTENTION: The table could not be checked, as it is not there yet." in capsys.readouterr().err
