"""The automation on runs whose process is gone: what a person set stays, what was awaited before goes."""

import pytest
from prefect.client.orchestration import get_client
from prefect.events.schemas.automations import AutomationCore, EventTrigger

from flows.command.dead_runs import NAME, mark_dead_runs


@pytest.mark.server
def test_what_an_earlier_version_awaited_is_renewed_and_nothing_else(prefect_server: str) -> None:
    with get_client(sync_client=True) as client:
        for known in client.read_automations_by_name(NAME):
            client.delete_automation(known.id)
        assert mark_dead_runs(client) is True
        (made,) = client.read_automations_by_name(NAME)
        assert isinstance(made.trigger, EventTrigger)
        ends = ("heartbeat", "Completed", "Failed", "Cancelled", "Crashed")
        earlier = made.trigger.model_copy(update={"expect": {f"prefect.flow-run.{end}" for end in ends}})
        for trigger, awaited in (
            (earlier, made.trigger.expect),
            (
                made.trigger.model_copy(update={"expect": {"prefect.flow-run.Failed"}}),
                {"prefect.flow-run.Failed"},
            ),
        ):
            body = AutomationCore(name=NAME, enabled=False, trigger=trigger, actions=made.actions)
            client.update_automation(made.id, body)
            assert mark_dead_runs(client) is False
            (now,) = client.read_automations_by_name(NAME)
            assert isinstance(now.trigger, EventTrigger)
            assert now.trigger.expect == awaited
            assert (now.enabled, now.actions, now.trigger.within) == (
                False,
                made.actions,
                made.trigger.within,
            )
