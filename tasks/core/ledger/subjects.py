"""By which column a dataset's budget tells its subjects apart: another column than before is refused.

Two columns are two units: of a patient and of a visit. Charged to one budget, releases would be added up as
if they protected the same thing. The chain keeps a keyed hash of the column's name, the latest that is noted.
A budget of rows has no such column.
"""

from collections.abc import Iterable

from tasks.core.dp.digest import canonical
from tasks.core.errors import ParameterError
from tasks.core.ledger.entries import Entry, Transaction
from tasks.core.ledger.names import folded
from tasks.core.ledger.tables import keyed

#: The entries that say by which column.
SUBJECT = "subject"


def enter_subject(work: Transaction, dataset: str, subject_id: str, code: str = "") -> None:
    """Note the column of a release that is about to be drawn, where none was noted.

    Raises:
        ParameterError: another one was.
    """
    if not subject_id:
        return
    known, mark = _noted(work.entries, dataset), _mark(work.entries, subject_id)
    if known is None:
        # Not under "dataset": an account is made of the entries that have that.
        work.append({"phase": SUBJECT, "subject_of": dataset, "subject": mark, "code": code})
    elif known != mark:
        raise ParameterError(
            f"All releases of a dataset must tell its subjects apart by the same column, as their costs are "
            f"added up for each of these. Earlier releases of {dataset!r} did by another one than "
            f"{subject_id!r}. Give that one as subject_id. If only its name has changed: marginalia ledger "
            f"'{dataset}' --subject-id '{subject_id}' --reason '...'."
        )


def rename_subject(work: Transaction, dataset: str, subject_id: str, reason: str, code: str = "") -> None:
    """Note another name of the column, as a person says why."""
    mark = _mark(work.entries, subject_id)
    body = {"phase": SUBJECT, "subject_of": dataset, "subject": mark, "code": code, "reason": reason}
    work.append(body)


def _noted(entries: Iterable[Entry], dataset: str) -> str | None:
    found = [e.text("subject") for e in entries if e.phase == SUBJECT and e.text("subject_of") == dataset]
    return found[-1] if found else None


def _mark(entries: list[Entry], subject_id: str) -> str:
    return keyed(entries, canonical(["subject", folded(subject_id)]))
