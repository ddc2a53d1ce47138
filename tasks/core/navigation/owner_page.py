"""The page for whoever owns the data: what was released beside the raw table. For ``sensitive/`` alone.

It shows true counts, so it must never be passed on; the page says so first. Its words are the evaluation's.
"""

from collections.abc import Sequence
from statistics import fmean

from tasks.core.evaluation.raw import RawEvaluation
from tasks.core.evaluation.sensitive_files import RecordsPromise, four_sentences
from tasks.core.evaluation.typed_tables import TableDistances
from tasks.core.figures import near, whole
from tasks.core.navigation.page import Page, html
from tasks.core.navigation.payload.release import Payload

#: A question and the sentences that answer it.
Answer = tuple[str, Sequence[str]]
#: Sets of columns that are named as the farthest from the raw table.
_NAMED = 12


def owner_title(dataset: str) -> str:
    """Of the page."""
    return f"{dataset}: the release beside the table itself"


def render_owner_page(dataset: str, payload: Payload, answers: Sequence[Answer]) -> str:
    """The page. Args: dataset: its name. payload: of true counts. answers: what was found, in words."""
    context = {
        "title": owner_title(dataset),
        "answers": answers,
        "length": payload.meta["reporting_length"],
    }
    return html(context, Page("owner.html.j2", explorer=payload))


def answers_of_counts(evaluation: RawEvaluation, claim: RecordsPromise) -> list[Answer]:
    """What became of the raw table's counts, in the records, and of people who stand out."""
    table, reported, private, records = four_sentences(evaluation, claim)
    distances = [
        f"By total variation, {near(100 * each.mean, 2)} % of the records differ from the table for "
        f"{_columns(each.length)}, and {near(100 * each.largest, 2)} % for the worst."
        for each in evaluation.synthetic.distances
    ]
    return [
        ("How close are the counts?", [reported]),
        ("How close are the records?", [*distances[:2], records]),
        ("Who stands out?", [table, private]),
    ]


def answers_of_tables(found: TableDistances) -> list[Answer]:
    """How far a synthetic table is from the raw one."""
    synthetic, raw = found.records
    ranked = sorted((*found.single, *found.pairs), key=lambda each: (-each.total_variation, each.columns))
    worst = [
        f"{' × '.join(each.columns)}: {near(100 * each.total_variation, 2)} %" for each in ranked[:_NAMED]
    ]
    means = [
        f"By total variation, {near(100 * fmean(each.total_variation for each in held), 2)} % of the rows "
        f"differ from the table for {_columns(length)} on average."
        for length, held in ((1, found.single), (2, found.pairs))
        if held
    ]
    return [
        ("How close is it?", means),
        ("Where is it farthest?", worst),
        ("How many rows?", [f"{whole(synthetic)} synthetic ones stand for {whole(raw)} of the table."]),
    ]


def _columns(length: int) -> str:
    return "one column" if length == 1 else f"{length} columns together"
