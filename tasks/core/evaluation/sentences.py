"""The evaluation in four sentences: what was found and what is promised in, plain words out. Sensitive.

Privacy and use of the sensitive table, of the reported counts and of the synthetic records (sds.md 5).
"""

from dataclasses import dataclass

from tasks.core.errors import InternalError
from tasks.core.evaluation.measures import leakage, ratio, summary
from tasks.core.evaluation.raw import RawEvaluation

_NOISE = "The noise protects people, whatever appears"


@dataclass(frozen=True)
class RecordsPromise:
    """What is promised of the synthetic records.

    Attributes:
        is_private: whether the release is differentially private; else it is k-anonymous.
        holds_resolution: under k-anonymity, whether the promise is kept beyond the reporting length: in the
            modes that read raw records always, in the aggregate-seeded one where it is told to.
        is_fitted: whether the records are fitted to counts: of combinations nothing is promised then.
    """

    is_private: bool
    holds_resolution: bool = False
    is_fitted: bool = False


def four_sentences(evaluation: RawEvaluation, claim: RecordsPromise) -> tuple[str, str, str, str]:
    """Sensitive privacy, reported counts' use, synthetic privacy, synthetic records' use.

    Raises:
        InternalError: if the synthetic records break the promise of k-anonymity.
    """
    return (
        _sensitive_privacy(evaluation),
        _reported_use(evaluation),
        _leaks(evaluation, _NOISE) if claim.is_private else _anonymity(evaluation, claim),
        _synthetic_use(evaluation),
    )


def _sensitive_privacy(evaluation: RawEvaluation) -> str:
    found = evaluation.records
    unique, rare = (_percent(sum(by), found.number_of_records) for by in (found.unique, found.rare))
    linkable = _percent(sum(found.risky), found.number_of_records)
    return (
        f"Sensitive table: a combination of up to {_attributes(evaluation)} can single out {linkable} of its "
        f"records, as fewer than {evaluation.synthetic.resolution:,} records share it. For {unique} no other "
        f"record has that combination; for a further {rare} it is only rare."
    )


def _reported_use(evaluation: RawEvaluation) -> str:
    total = summary(evaluation.reportable)
    return (
        f"Reported counts: {total['suppressed_pct']:.1f} % of the sensitive table's combinations are not "
        f"among them. The counts of the others are off by {total['mean_error']:,.2f} records on average; the "
        f"mean count is {total['mean_count']:,.2f}."
    )


def _anonymity(evaluation: RawEvaluation, claim: RecordsPromise) -> str:
    found = evaluation.synthetic
    if claim.is_fitted:
        return _leaks(evaluation, "They show no more of the table than the reported counts imply")
    if found.total("leaked_anywhere") or found.total("fabricated"):
        raise InternalError(
            "k-anonymity promises that no synthetic record holds a combination of fewer sensitive records "
            "than the resolution, but one does: do not share this release, and report the error."
        )
    least = f"at least {found.resolution:,} records of the sensitive table"
    if claim.holds_resolution:
        return f"Synthetic records: every combination of attributes in them, of any length, is in {least}."
    return (
        f"Synthetic records: every combination of up to {_attributes(evaluation)} in them is in {least}. "
        "Nothing is promised of longer combinations."
    )


def _leaks(evaluation: RawEvaluation, why: str) -> str:
    found = leakage(evaluation.synthetic)
    rare, anywhere = (_percent(found[name], found["rare"]) for name in ("leaked", "leaked_anywhere"))
    return (
        f"Synthetic records: of the sensitive table's rare combinations, those of fewer than "
        f"{evaluation.synthetic.resolution:,} records, {rare} are rare in the synthetic records too, and "
        f"{anywhere} appear at all. {why}."
    )


def _synthetic_use(evaluation: RawEvaluation) -> str:
    total = summary(evaluation.released)
    return (
        f"Synthetic records: they hold {100 - total['suppressed_pct']:.1f} % of the reported combinations. "
        f"Their counts are off from the reported ones by {total['mean_error']:,.2f} records on average; the "
        f"mean reported count is {total['mean_count']:,.2f}."
    )


def _attributes(evaluation: RawEvaluation) -> str:
    longest = max(evaluation.synthetic.lengths, default=0)
    return f"{longest} attribute" if longest == 1 else f"{longest} attributes"


def _percent(part: float, whole: float) -> str:
    return f"{100 * ratio(part, whole):.1f} %"
