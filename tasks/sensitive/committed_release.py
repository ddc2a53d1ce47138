"""A committed release whose table can't be read any more: the ledger is asked what the header was.

A committed release is returned whatever became of the table (R1).
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import declarations
from tasks.core.errors import ParameterError
from tasks.core.ledger.account import Reservation
from tasks.core.ledger.ledger import Ledger
from tasks.core.records.columns import Schema
from tasks.core.tables.column_names import matching_name
from tasks.core.tables.header import Headers
from tasks.plan.describe import RunFacts, describe
from tasks.plan.protections import vintage_of
from tasks.sensitive.ledger import open_user_ledger
from tasks.sensitive.protect import release_name


class DescribedRun(NamedTuple):
    described: RunFacts
    unreadable: ParameterError | None = None  # why the table's header can't be used


def describe_or_recall_run(configuration: RunConfiguration, scheduled: str | None) -> DescribedRun:
    """The public facts, by the file's header or else by the committed release of the same name."""
    try:
        return DescribedRun(describe(configuration, scheduled))
    except ParameterError as error:
        problem = error
    recalled = (
        _describe_committed(configuration, scheduled) if configuration.protection.is_drawn_once else None
    )
    if recalled is None:
        raise problem
    return DescribedRun(recalled, problem)


def _describe_committed(configuration: RunConfiguration, scheduled: str | None) -> RunFacts | None:
    ledger = open_user_ledger()
    if not ledger.is_registered(configuration.dataset):
        return None
    vintage = vintage_of(configuration, scheduled)
    for reservation in reversed(ledger.account(configuration.dataset).reservations):
        if reservation.name.vintage == vintage and reservation.phase in ("commit", "drawing"):
            for headers in _headers(ledger, reservation, configuration):
                with suppress(ParameterError):
                    described = describe(configuration, scheduled, headers)
                    if release_name(configuration, described) == reservation.name:
                        return described
    return None


def _headers(ledger: Ledger, reservation: Reservation, configuration: RunConfiguration) -> Iterator[Headers]:
    """Headers that the table of a release may have had, as far as they decide its name."""
    with suppress(OSError, ValueError, KeyError):
        schema = Schema.from_json(json.dumps(ledger.facts(reservation)["schema"]))
        names = [column.name for column in schema.columns]
        names += [schema.subject_id] if schema.subject_id is not None else []
        if configuration.input.use_columns:  # others may be declared, and were in the file
            known = set(map(matching_name, names))
            names += [name for name in _declared(configuration) if matching_name(name) not in known]
        yield Headers(tuple(names))


def _declared(configuration: RunConfiguration) -> list[str]:
    said = declarations(configuration)
    found = {
        matching_name(name): name for names in (said.use_columns, *said.written.values()) for name in names
    }
    return list(found.values())
