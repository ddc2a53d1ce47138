"""What may stand as a key in the JSON of a release: a document goes in, nothing or an `InternalError` comes out.

Test P5 of privacy.md: every released document is held against a list of allowed keys, and a name that
could carry something read off the table is refused whoever allowed it.
"""

import re
from collections.abc import Iterator

from tasks.core.errors import InternalError

#: Names that can hold a true count, the noise's key or a figure of the raw table (P5, gaps G4 to G15).
_FORBIDDEN = re.compile(
    r"number_of_records|record_count_true|true_|_true|raw_|sensitive_|max_sensitivity|seed|noise_key|"
    r"expansion_ratio|rare|leak|duration|elapsed|input_(hash|sha256|rows)|proportional_error"
)

#: Every key of the privacy statement (`statement`).
ALLOWED_KEYS = frozenset(
    """
    accountant all_releases assumed_subjects at_cap bins candidates cell code_version columns
    computational contract contribution conversion count_share covers dataset declared declared_cells
    delta delta_cap delta_factor delta_given delta_max delta_noise delta_threshold delta_threshold_cap
    delta_threshold_spent disclosed_uniques domain domain_size empty epsilon epsilon_cap epsilon_count
    epsilon_percentile epsilon_spent error_bar excluded expected_size expected_spurious
    expected_spurious_share format generator group_privacy guarantee half_width_95 head how identity
    key kind lattice law ledger length levels max_items measurement_sha256 mu mu_squared mu_squared_spent name neighbours
    noise noisy_count not_covered open open_columns per_release percentile population privacy private
    public_side_channels releases remaining_releases reporting_length rows rule sampling scale
    scope sd sensitivity sentence sigma spurious strict subject_id suppressed survivors text theorem
    threshold threshold_rule unit unused_keys value vintage why width
    """.split()
)


def _keys(value: object) -> Iterator[str]:
    """Every key of a JSON value, at every depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)


def check_released_json(document: object, allowed: frozenset[str] = ALLOWED_KEYS) -> None:
    """Refuse a document with a key that is not allowed, or that is forbidden whoever allows it.

    Raises:
        InternalError: naming the keys; they are ours, never the table's, so they may be shown.
    """
    keys = set(_keys(document))
    bad = sorted(key for key in keys if _FORBIDDEN.search(key) or key not in allowed)
    if bad:
        raise InternalError(
            f"A released document may hold only the keys that are allowed; it holds {', '.join(bad)}. "
            "Add a key to the list only after showing that it is public or differentially private."
        )
