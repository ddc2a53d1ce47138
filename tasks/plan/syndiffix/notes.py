"""What whoever synthesizes a table by SynDiffix is told, by the flow and by the command alike."""

from collections.abc import Collection, Sequence

import pyarrow as pa

from tasks.core.syndiffix.reading import ChosenColumn
from tasks.core.syndiffix.settings import AnonymizationParameters, FlatteningInterval, SuppressionParameters
from tasks.core.tables.texts import type_letter

SYNDIFFIX_NOT_PRIVATE = "SynDiffix is not differentially private"


def rows_are_people(key: str) -> str:
    """That there are no ids. Args: key: what gives them."""
    return (
        f"ATTENTION: no {key} is given, so each row counts as another person, and people with several rows "
        "are not protected. Give the column of their ids, or several such columns, unless each row is a "
        "person."
    )


def weakened(
    anonymization: AnonymizationParameters, value_safe: Collection[str], safe_told: str
) -> list[str]:
    """What protects less than usual, a sentence each.

    Args:
        anonymization: as it is set.
        value_safe: headers of columns whose values are public.
        safe_told: these as they may be told.
    """
    low, usual = anonymization.low_count_params, SuppressionParameters()
    interval = FlatteningInterval()
    found = []
    if not anonymization.layer_noise_sd:
        found.append("counts have no noise (its size is 0)")
    elif anonymization.layer_noise_sd < AnonymizationParameters.layer_noise_sd:
        found.append(f"counts have less noise (its size is {anonymization.layer_noise_sd:g})")
    if low.low_threshold < usual.low_threshold or low.mean < usual.mean:
        found.append(f"groups are shown from {low.low_threshold} people on, usually from {low.mean:g} on")
    if low.layer_sd < usual.layer_sd:
        found.append(
            f"thresholds have less noise ({low.layer_sd:g}), so that somebody can foresee which "
            "groups are shown"
        )
    for name, given in (("flattened", anonymization.outlier_count), ("averaged", anonymization.top_count)):
        if given.lower < interval.lower or given.upper < interval.upper:
            found.append(f"fewer people with many rows are {name} ({given.lower} to {given.upper})")
    if value_safe:
        found.append(f"rare values of {safe_told} are shown, even where a single person holds them")
    return [f"ATTENTION: protection is weaker than usual: {each}." for each in found]


def without_ids(ids: pa.Table) -> list[str]:
    """That some rows have no id. Args: ids: the id columns."""
    gaps = [name for name in ids.column_names if ids[name].null_count]
    if not gaps:
        return []
    return [
        f"ATTENTION: some rows have no {' or no '.join(gaps)}. They count as nobody's, so the people whom "
        "they are about are not protected as people. Give every row its id, or leave such rows out."
    ]


def inferred_types(columns: Sequence[ChosenColumn], schema: pa.Schema) -> list[str]:
    """Types that were found out, in a line; a text may have been meant for something else."""
    found = [
        (column.name, type_letter(schema.field(column.name).type)) for column in columns if not column.letter
    ]
    if not found:
        return []
    is_text = any(letter == "s" for _, letter in found)
    remedy = " To read a text as numbers, give NAME:r (or NAME:i, NAME:t, NAME:b)." if is_text else ""
    return [f"Types that were inferred: {' '.join(f'{name}:{letter}' for name, letter in found)}.{remedy}"]


def left_out(named: Sequence[str], number: int, target: str) -> str:
    """Which columns are not synthesized as they do not help to predict the target.

    Args:
        named: those that may be named.
        number: of all of them.
        target: header.
    """
    shown = ", ".join(named) if len(named) == number else f"{number} columns of the input"
    return f"These columns are left out, as they do not help to predict {target!r}: {shown}."


def is_empty(mean: float) -> str:
    """That there is no row. Args: mean: the threshold, in people."""
    return f"The synthetic table is empty: every group has fewer people than may be shown (about {mean:g})."
