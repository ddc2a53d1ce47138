"""The automation on runs whose process is gone: what a person set stays."""

import pytest
from prefect.client.orchestration import get_client
from prefect.events.schemas.automations import AutomationCore, EventTrigger

from flows.command.deploy import NAME, mark_dead_runs


@pytest.mark.server
def test_an_automation_that_somebody_changed_and_switched_off_stays():
    with get_client(sync_client=True) as client:
        for known in client.read_automations_by_name(NAME):
            client.delete_automation(known.id)
        assert mark_dead_runs(client) is True
        (made,) = client.read_automations_by_name(NAME)
        assert isinstance(made.trigger, EventTrigger)
        trigger = made.trigger.model_copy(update={"expect": {"prefect.flow-run.Failed"}})
        changed = AutomationCore(name=NAME, enabled=False, trigger=trigger, actions=made.actions)
        client.update_automation(made.id, changed)
        assert mark_dead_runs(client) is False
        (now,) = client.read_automations_by_name(NAME)
        assert isinstance(now.trigger, EventTrigger)
        assert (now.enabled, now.trigger.expect) == (False, {"prefect.flow-run.Failed"})
