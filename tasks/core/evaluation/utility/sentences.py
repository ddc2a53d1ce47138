"""The measures of utility in plain words: `Utility` in, sentences out. Sensitive."""

from collections.abc import Iterator

from tasks.core.evaluation.utility.learned import LEAST_ROWS
from tasks.core.evaluation.utility.measures import Utility

_FEW = f"fewer than {LEAST_ROWS} rows in a table"


def utility_sentences(found: Utility) -> list[str]:
    """A sentence a measure: what was found, and what equally good records would get."""
    return list(_sentences(found))


def _sentences(found: Utility) -> Iterator[str]:
    raw, synthetic = found.rows
    yield (
        f"{synthetic:,} synthetic records against {raw:,} raw ones. This evaluation is made from raw "
        "records: it must stay on this machine."
    )
    for ways, own in found.by_ways.items():
        yield (
            f"Total variation of {_sets(ways, len(own.sets))}: {own.synthetic.mean():.4f} on average, at "
            f"most {own.synthetic.max():.4f}; a bootstrap of the raw table has {own.bootstrap.mean():.4f} on "
            f"average, its two halves {own.halves.mean():.4f}."
        )
    yield _k_marginal(found)
    yield _propensity(found)
    yield _discriminator(found)
    if found.about.target is not None:
        yield _prediction(found)


def _sets(ways: int, number: int) -> str:
    words = {1: "single columns", 2: "pairs of columns", 3: "sets of three columns"}
    return f"{words[ways]} ({number:,})"


def _k_marginal(found: Utility) -> str:
    scores = found.k_marginal_scores
    if scores["synthetic"] is None:
        return "NIST's k-marginal score: there are too few columns for it."
    group = f" with {found.about.group}" if found.about.group else ""
    return (
        f"NIST's k-marginal score, of pairs{group}: {scores['synthetic']:.0f} of 1000; the bootstrap has "
        f"{scores['bootstrap']:.0f}, the halves {scores['halves']:.0f}."
    )


def _propensity(found: Utility) -> str:
    own = found.propensity
    if own is None:
        return f"Propensity: not measured, as there are {_FEW}."
    return (
        f"Propensity mean squared error: {own.mean_squared_error:.5f}. Of tables that do not differ one "
        f"expects {own.expected:.5f}."
    )


def _discriminator(found: Utility) -> str:
    own, halves = found.told_apart, found.halves_told_apart
    if own is None:
        return f"Discriminator: not measured, as there are {_FEW}."
    chance = "" if halves is None else f" (the two halves of the raw table have {halves.auc:.3f})"
    return (
        f"Discriminator: a learner tells synthetic from raw records with an area under the curve of "
        f"{own.auc:.3f}; 0.5 is chance{chance}."
    )


def _prediction(found: Utility) -> str:
    own = found.prediction
    if own is None:
        return (
            f"Train on synthetic, test on real: {found.about.target} can't be predicted here, as it has "
            f"fewer than two classes, or there are {_FEW} or no other columns."
        )
    return (
        f"Train on synthetic, test on real: {found.about.target} ({own.classes} classes) is predicted with "
        f"an area of {own.synthetic.auc:.3f} and an F1 of {own.synthetic.f1:.3f} after seeing synthetic "
        f"records alone, {own.real.auc:.3f} and {own.real.f1:.3f} after seeing raw ones."
    )
