"""People and an account for statements that are worked out again, and what is asked of each statement.

In: a draw of either kind. Out: the statement as a reader gets it, after the release was charged.
"""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np

from tasks.core.dp.budget import Charge
from tasks.core.dp.workload.measurement import DrawnMeasurement
from tasks.core.ledger.account import Registration
from tasks.core.ledger.ledger import Ledger
from tasks.core.ledger.names import ReleaseName
from tasks.core.ledger.sqlite import SqliteStore
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.sensitive.hand_over import account_facts
from tests.oracles.statement import Statement, differences, numbers

TOWNS, JOBS = ("Aberwick", "Brenmoor", "Caldwell"), ("baker", "nurse", "smith", "teacher")
#: Columns with their declared domain, and how many items a person may hold.
SCHEMAS = {
    "open": (("town", TOWNS, False, 1), ("job", JOBS, False, 1), ("sex", ("f", "m"), False, 1)),
    "public": (("town", TOWNS, True, 1), ("job", JOBS, True, 1), ("sex", ("f", "m"), True, 1)),
    "mixed, several items": (
        ("town", TOWNS, True, 1),
        ("job", JOBS, False, 2),
        ("sex", ("f", "m"), False, 1),
    ),
    "many items": (("town", TOWNS, False, 3), ("job", JOBS, True, 4)),
    "wide": tuple((f"answer {place}", ("no", "yes"), place % 2 == 0, 1) for place in range(8)),
}


def schema_of(name: str, subject: bool) -> Schema:
    columns = tuple(
        Column(
            header,
            domain=values if declared else None,
            delimiter=";" if items > 1 else None,
            max_items=items,
        )
        for header, values, declared, items in SCHEMAS[name]
    )
    return Schema(columns, "person" if subject else None)


def records_of(name: str, subject: bool, people: int = 400) -> CodedRecords:
    """People with dependent answers, some of them missing."""
    schema, random = schema_of(name, subject), np.random.default_rng(5)
    base, slots, values = random.integers(0, 12, people), [], []
    for _, texts, _, items in SCHEMAS[name]:
        order = np.argsort(random.random((people, len(texts))), axis=1)[:, : items + 1] + 1
        held = np.sort(order[:, :items], axis=1)
        if items == 1:
            held = (1 + (base + (random.random(people) < 0.2)) % len(texts))[:, np.newaxis]
        kept = random.integers(0 if items > 1 else 1, items + 1, people)
        slots += [np.where(place < kept, held[:, place], 0).astype(np.uint8) for place in range(items)]
        values.append(texts)
    tags = random.integers(0, 2**64, people, dtype=np.uint64)
    return CodedRecords(schema, tuple(slots), schema.slot_columns, tuple(values), people, tags)


def lowered_ledger(folder: Path) -> Ledger:
    """One account of all releases of a grid, with charges of all kinds; lowered once."""
    made = Ledger(SqliteStore(folder))
    for dataset, unit in (("people", "subject"), ("rows", "row")):
        made.register(Registration(dataset, 2000.0, 0.5, 0.2, "people of a test", unit))
        made.lower(dataset, 1500.0, 0.4, 0.1)
    return made


def stated_after_charge(
    ledger: Ledger, charge: Charge, drawn: DrawnMeasurement, choices: RunChoices
) -> dict[str, Any]:
    """The statement of a draw as its next release in the account, as a reader gets it."""
    dataset = "people" if drawn.schema.subject_id is not None else "rows"
    name = ReleaseName(dataset, f"month {len(ledger.account(dataset).reservations)}", "0" * 64)
    ledger.reserve(name, charge)
    account = ledger.account(dataset)
    remaining = account.remaining_runs(charge.mu_squared_exact, charge.threshold_delta_exact)
    facts = account_facts(account, name, remaining, "one ledger of this test")
    body = accounted_statement(drawn, facts, "abc", choices)
    found: dict[str, Any] = json.loads(json.dumps(body, allow_nan=False))
    return found


def require_wrong_numbers_are_noticed(body: dict[str, Any], kind: type[Statement]) -> None:
    """A thousandth more or less of any number that is not an input is a difference."""
    followed = kind(body).everything()
    paths = [path for path, value in numbers(body) if value and path in followed]
    assert len(paths) > 60
    for path in paths:
        changed = copy.deepcopy(body)
        *way, last = path.split(".")
        place: Any = changed
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        key: Any = int(last) if isinstance(place, list) else last
        place[key] = place[key] * 1.001 if isinstance(place[key], float) else place[key] + 1
        assert differences(changed, kind(changed).everything()), path
