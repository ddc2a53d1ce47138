"""The evaluation in four sentences: what was found and what is promised in, plain words out. Sensitive.

Privacy and use of the sensitive table, of the reported counts and of the synthetic records (sds.md 5).
"""

from dataclasses import dataclass

from tasks.core.errors import InternalError
from tasks.core.evaluation.measures import leakage, ratio, summary
from tasks.core.evaluation.raw import RawEvaluation

_NOISE = "what protects people is the noise, whatever appears"


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
        f"Sensitive table: {linkable} of its records can be singled out by a combination of up to "
        f"{_attributes(evaluation)} that fewer than {evaluation.synthetic.resolution:,} records share, "
        f"{unique} by one that no other record has and a further {rare} by one that is only rare."
    )


def _reported_use(evaluation: RawEvaluation) -> str:
    total = summary(evaluation.reportable)
    return (
        f"Reported counts: {total['suppressed_pct']:.1f} % of the sensitive table's combinations are not "
        f"among them; the counts of the others are off by {total['mean_error']:,.2f} records on average, "
        f"where the mean count is {total['mean_count']:,.2f}."
    )


def _anonymity(evaluation: RawEvaluation, claim: RecordsPromise) -> str:
    found = evaluation.synthetic
    if claim.is_fitted:
        return _leaks(evaluation, "they show no more of it than the reported counts imply")
    if found.total("leaked_anywhere") or found.total("fabricated"):
        raise InternalError(
            "A synthetic record holds a combination that fewer sensitive records share than the resolution, "
            "which k-anonymity promises never happens: do not share this release, and report the error."
        )
    least = f"at least {found.resolution:,} records of the sensitive table"
    if claim.holds_resolution:
        return f"Synthetic records: every combination of attributes in them, of any length, is in {least}."
    return (
        f"Synthetic records: every combination of up to {_attributes(evaluation)} in them is in {least}; of "
        "longer combinations nothing is promised."
    )


def _leaks(evaluation: RawEvaluation, why: str) -> str:
    found = leakage(evaluation.synthetic)
    rare, anywhere = (_percent(found[name], found["rare"]) for name in ("leaked", "leaked_anywhere"))
    return (
        f"Synthetic records: {rare} of the sensitive table's rare combinations, those of fewer than "
        f"{evaluation.synthetic.resolution:,} records, appear in fewer synthetic records than that too, and "
        f"{anywhere} appear at all; {why}."
    )


def _synthetic_use(evaluation: RawEvaluation) -> str:
    total = summary(evaluation.released)
    return (
        f"Synthetic records: {100 - total['suppressed_pct']:.1f} % of the reported combinations are kept; "
        f"their counts are off by {total['mean_error']:,.2f} records on average from the reported ones, "
        f"whose mean is {total['mean_count']:,.2f}."
    )


def _attributes(evaluation: RawEvaluation) -> str:
    longest = max(evaluation.synthetic.lengths, default=0)
    return f"{longest} attribute" if longest == 1 else f"{longest} attributes"


def _percent(part: float, whole: float) -> str:
    return f"{100 * ratio(part, whole):.1f} %"
