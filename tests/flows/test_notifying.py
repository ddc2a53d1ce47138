"""What a notification of a failed run says, as the server fills in its templates."""

from types import SimpleNamespace

import pytest
from prefect.server.utilities.user_templates import render_user_template_sync, validate_user_template

from flows.command.notify import BODY, SUBJECT
from tasks.core.errors import BudgetExhausted, ContractViolation, InputError, LateInput


def told(template: str, message: str | None, name: str = "Failed") -> str:
    """A template of a run of the deployment `people`."""
    validate_user_template(template)
    run = SimpleNamespace(state=SimpleNamespace(name=name, message=message))
    named = {"flow": SimpleNamespace(name="release"), "deployment": SimpleNamespace(name="people")}
    return render_user_template_sync(template, {"flow_run": run, **named})


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (BudgetExhausted("No."), "the privacy budget is exhausted"),
        (ContractViolation("No."), "the table breaks its contract"),
        (LateInput("No."), "the table is late"),
        (InputError("No."), "Failed"),
    ],
)
def test_the_subject_names_the_cause_and_the_body_says_what_to_do(error, cause):
    message = f"Flow run encountered an exception: {type(error).__name__}: {error}"
    assert told(SUBJECT, message) == f"release of people: {cause}"
    said, *more = told(BODY, message).splitlines()
    assert said == f"{type(error).__name__}: No."
    assert bool(more) is isinstance(error, BudgetExhausted)


def test_a_run_that_died_without_a_word_is_told_of_too():
    assert told(SUBJECT, None, "Crashed") == "release of people: Crashed"
    assert told(BODY, None) == ""
