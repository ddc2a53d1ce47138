"""``marginalia notify``: a webhook's address goes in, automations of the Prefect server that notify come out.

Whatever stops a run is told once, by the automation of failed runs or by that of crashed ones: the subject
names the cause. Who runs it again updates them: each is found by its name, and one that is switched off stays
off. The address is a secret of a block, which nobody is shown; nothing here prints it.
"""

import argparse
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flows.command.run import on_server, page_of
from tasks.core.errors import BudgetExhausted, ContractViolation, LateInput, ParameterError
from tasks.storage import Workspace

if TYPE_CHECKING:
    from uuid import UUID

    from prefect.client.orchestration import SyncPrefectClient
    from prefect.events.schemas.automations import AutomationCore

#: The block that holds the address, and how automations begin that are this command's.
BLOCK, PREFIX = "marginalia-notify", "marginalia: "
#: Flows that deployments run.
_FLOWS = ["release", "showcase", "measure", "publish", "syndiffix", "batch"]
#: What stopped a run, in the words of a subject, by the error that the message of its state names.
_CAUSES = {
    BudgetExhausted: "the privacy budget is exhausted",
    ContractViolation: "the table breaks its contract",
    LateInput: "the table is late",
}
_STATE_MESSAGE = "(flow_run.state.message or '')"
_CAUSE = "".join(
    f"{{% {'el' if number else ''}if '{error.__name__}: ' in {_STATE_MESSAGE} %}}{told}"
    for number, (error, told) in enumerate(_CAUSES.items())
)
#: What is said of a run that failed or crashed: templates that the server fills in. Its address follows.
SUBJECT = (
    f"{{{{ flow.name }}}} of {{{{ deployment.name }}}}: {_CAUSE}{{% else %}}{{{{ flow_run.state.name }}}}"
    "{% endif %}"
)
BODY = (
    f"{{{{ {_STATE_MESSAGE} | replace('Flow run encountered an exception: ', '') }}}}"
    f"{{% if 'BudgetExhausted: ' in {_STATE_MESSAGE} %}}\nIf a schedule started the run, the "
    "schedule is paused: turn it on again when the cap is raised.{% endif %}"
)
_LOW_SUBJECT = "The privacy budget of {{ event.payload.dataset }} is low"
_LOW_BODY = (
    "Releases left at this setting: {{ event.payload.runs_left }}. Spent: epsilon "
    "{{ event.payload.epsilon_spent }} of {{ event.payload.epsilon_cap }}. The run's log has the "
    "command that raises the cap."
)


def notify(options: argparse.Namespace) -> int:
    target = _read_webhook(options)
    with on_server(Workspace(Path.cwd()), verbose=False) as url:
        from prefect.client.orchestration import get_client

        with get_client(sync_client=True) as client:
            block = _save_webhook(target) if target is not None else _find_block(client, options.block)
            page = page_of("runs/flow-run", "{{ flow_run.id }}")
            made = [put_automation(client, automation) for automation in automations(block, page)]
            if options.try_it:
                _send_trial(client, block)
                made.append("Sent a trial message.")
    for sentence in made:
        print(sentence)
    print(f"Switch them on and off on the page Automations of {url.removesuffix('/api')}.")
    return 0


def _read_webhook(options: argparse.Namespace) -> str | None:
    """The webhook's address; None where a block is named. It is repeated in no message."""
    if options.webhook is None:
        return None
    address = sys.stdin.readline().strip() if options.webhook == "-" else str(options.webhook)
    parts = None
    with suppress(ValueError):
        parts = urlsplit(address)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ParameterError(
            "--webhook must be an address that begins with https:// or http://, and it is not. Give it "
            "again, or write - and type it, so that no list of commands keeps it."
        )
    return address


def _save_webhook(address: str) -> "UUID":
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.types import SecretDict

    block = CustomWebhookNotificationBlock(
        name=BLOCK,
        url="{{target}}",  # the server's pages show a block's address, and hide its secrets
        json_data={"text": "{{subject}}\n{{body}}"},
        secrets=SecretDict({"target": address}),
    )
    identifier: UUID = block.save(BLOCK, overwrite=True, _sync=True)  # type: ignore[call-arg, assignment]
    return identifier


def _find_block(client: "SyncPrefectClient", name: str) -> "UUID":
    """A block that somebody made: NAME, or TYPE/NAME. Raises ParameterError."""
    from prefect.blocks import notifications
    from prefect.blocks.abstract import NotificationBlock
    from prefect.exceptions import ObjectNotFound

    types = [
        each.get_block_type_slug()
        for each in vars(notifications).values()
        if isinstance(each, type) and issubclass(each, NotificationBlock)
    ]
    kind, slash, own = name.rpartition("/")
    for slug in (kind,) if slash else types:
        with suppress(ObjectNotFound):
            return client.read_block_document_by_name(own, slug, include_secrets=False).id
    raise ParameterError(
        f"--block must name a notification block of the server, such as slack-webhook/ops, and there is no "
        f"{name!r}. Make it on the page Blocks, or give --webhook."
    )


def _send_trial(client: "SyncPrefectClient", block: "UUID") -> None:
    """Send one message by a block, from here. Raises ParameterError without a word of the address."""
    from prefect.blocks.core import Block

    document = client.read_block_document(block, include_secrets=False)
    kind = document.block_type.slug if document.block_type is not None else "custom-webhook"
    try:
        told: Any = Block.load(f"{kind}/{document.name}", _sync=True)  # type: ignore[call-arg]
        told.notify("Notifications of Marginalia arrive here.", "Marginalia: a trial message", _sync=True)
    except Exception as error:  # its text may hold the address
        raise ParameterError(
            "The automations are made, but the trial message could not be sent "
            f"({type(error).__name__}). See that the address is right and can be reached from this machine, "
            "and run the command again."
        ) from None


def automations(block: "UUID", page: str) -> "list[AutomationCore]":
    from prefect.events.actions import SendNotification
    from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture

    def automation(name: str, subject: str, body: str, **trigger: Any) -> AutomationCore:
        action = SendNotification(block_document_id=block, subject=subject, body=f"{body}\n{page}")
        when = EventTrigger(threshold=1, **trigger)
        return AutomationCore(name=PREFIX + name, trigger=when, actions=[action])

    # A flow that another one called fails with it, and has no deployment: it is told once.
    deployed: list[Mapping[str, Any]] = [
        {"prefect.resource.role": "deployment"},
        {"prefect.resource.role": "flow", "prefect.resource.name": _FLOWS},
    ]
    runs = {"match": {"prefect.resource.id": "prefect.flow-run.*"}, "match_related": deployed}
    failed = {"prefect.flow-run.Failed", "prefect.flow-run.TimedOut"}
    # Told a minute later: Prefect may call a run Crashed for some seconds before it calls it Cancelled, and
    # whoever cancels a run needs no call for that.
    crashed = {
        "posture": Posture.Proactive,
        "after": {"prefect.flow-run.Crashed"},
        "expect": {"prefect.flow-run.Cancelled"},
        "within": timedelta(seconds=60),
        "for_each": {"prefect.resource.id"},
    }
    low = {"match": {"prefect.resource.id": "marginalia.dataset.*"}, "expect": {"marginalia.budget.low"}}
    return [
        automation("failed run", SUBJECT, BODY, posture=Posture.Reactive, expect=failed, **runs),
        automation("crashed run", SUBJECT, BODY, **crashed, **runs),
        automation("budget low", _LOW_SUBJECT, _LOW_BODY, posture=Posture.Reactive, **low),
    ]


def put_automation(client: "SyncPrefectClient", automation: "AutomationCore") -> str:
    known = client.read_automations_by_name(automation.name)
    if not known:
        client.create_automation(automation)
        return f"Made the automation {automation.name!r}."
    enabled = known[0].enabled
    client.update_automation(known[0].id, automation.model_copy(update={"enabled": enabled}))
    for twin in known[1:]:
        client.delete_automation(twin.id)
    return f"Updated the automation {automation.name!r}{'' if enabled else ', which is switched off'}."
