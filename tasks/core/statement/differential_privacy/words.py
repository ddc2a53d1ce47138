"""The privacy statement in plain words: the statement goes in, sentences for page and terminal come out.

Losses are rounded up and what is left is rounded down (`figures`), so no sentence claims more than the
statement does.
"""

import math

from tasks.core.arrays import Json
from tasks.core.figures import down, percent_up, up, whole

TEST_DRAW_NOT_PRIVATE = "NOT PRIVATE: this was drawn by the seeded test engine and must not be released."


def sentences(statement: Json) -> list[str]:
    """The statement in plain words, most important first; one sentence or two in each item."""
    return [sentence for _, said in topics(statement) for sentence in said]


def topics(statement: Json) -> list[tuple[str, list[str]]]:
    """The same sentences under headings."""
    if not statement["private"]:
        return [("No promise", [TEST_DRAW_NOT_PRIVATE])]
    unused = [f"Configuration key {entry['key']}: {entry['why']}." for entry in statement["unused_keys"]]
    claim = statement["guarantee"]
    attention = [f"{said[:1].upper()}{said[1:]}" for said in statement["attention"]]
    return [
        *([("Attention", attention)] if attention else []),
        ("The promise", _guarantee(statement)),
        (
            "The noise",
            (_noise_of_tables if "tables" in statement else _noise)(statement) + _sample(statement),
        ),
        (
            "What is published",
            (_measured if "tables" in statement else _thresholds)(statement)
            + _uniques(statement)
            + statement["columns_to_look_at"],
        ),
        ("The account", _account(statement)),
        (
            "Conditions",
            [
                statement["prepared"],
                *_constraints(statement),
                statement["contract"]["sentence"],
                *([statement["contract"]["text"]] if statement["contract"]["strict"] else []),
                claim["computational"],
                f"The noise follows its law but for {up(claim['sampling_exactness']['at_most'])} of delta.",
                statement["public_side_channels"],
            ],
        ),
        *([("Unused settings", unused)] if unused else []),
    ]


def _constraints(statement: Json) -> list[str]:
    """What the data contract rules out in every record."""
    held = statement.get("constraints")
    return [] if held is None else [held["sentence"], *held["rules"]]


def factor(epsilon: float) -> str:
    """e^epsilon: how many times as likely an outcome may be with a subject as without, rounded up."""
    return up(math.exp(epsilon) if epsilon < 700 else math.inf, 2)


def _units(statement: Json) -> str:
    """Several of what is counted."""
    return "subjects" if statement["guarantee"]["unit"] == "subject" else "rows"


def _whom(statement: Json) -> str:
    return "whom" if statement["guarantee"]["unit"] == "subject" else "which"


def _guarantee(statement: Json) -> list[str]:
    claim = statement["guarantee"]
    attack = claim["attack"]
    who = "a person" if claim["unit"] == "subject" else "a row"
    rows = "all of a person's rows" if claim["unit"] == "subject" else "one row"
    population = f", {statement['population']}" if statement["population"] else ""
    told = [
        f"This release of the dataset {statement['dataset']}{population} (vintage {statement['vintage']}) is "
        f"differentially private with epsilon {up(claim['epsilon'])} and delta {up(claim['delta'])}, under "
        f"adding or removing {rows}.",
        f"Whatever is concluded from this release is at most {factor(claim['epsilon'])} times as likely with "
        f"{who}'s data as without it, and without as with, give or take {up(claim['delta'])}.",
        f"Somebody who knows all of the table except whether {who} is in it, and who accepts "
        f"{percent_up(attack['false_alarm'])} false alarms, would rightly say that {who} is in it in at most "
        f"{percent_up(attack['power'], 3)} of cases.",
    ]
    for entry in statement["group_privacy"] or []:
        if entry["epsilon"] is None:
            told.append(f"For a person with {entry['rows']} rows no useful guarantee is left.")
            continue
        told.append(
            f"For a person with {entry['rows']} rows the guarantee is epsilon {up(entry['epsilon'])} at "
            f"delta {up(entry['delta'])}."
        )
    return told


def _count(statement: Json) -> str:
    count = statement["noisy_count"]
    return (
        f"The number of {_units(statement)} is published as {whole(count['value'])}, with noise that stays "
        f"within ± {up(count['half_width_95'])} in 95 of 100 draws."
    )


def _noise_of_tables(statement: Json) -> list[str]:
    """Of a fitted release."""
    told = [_count(statement)]
    if statement["values"]:
        bar = statement["values"]["error_bar"]["half_width_95"]
        told.append(
            f"Every count of a single value carries noise of its own, in 95 of 100 draws within ± {up(bar)}."
        )
    bars = [table["error_bar"]["half_width_95"] for table in statement["tables"]]
    sets = {tuple(table["columns"]) for table in statement["tables"]}
    if bars:
        again = f", {whole(len(bars) - len(sets))} of them twice" if len(bars) > len(sets) else ""
        told.append(
            f"Sets of columns measured beside these: {whole(len(sets))}{again}. Every cell of them carries "
            f"noise of its own: in 95 of 100 draws within ± {up(min(bars))} in the table with the least "
            f"noise, and within ± {up(max(bars))} in the one with the most."
        )
    return told


def _measured(statement: Json) -> list[str]:
    """What of a fitted release was measured, and what follows from it."""
    told = []
    values = statement["values"]
    if values and values["threshold"] is not None:
        told.append(
            f"A value of an open column is published only where its noisy count is at least "
            f"{whole(values['threshold'])}; all others are counted together, as other. How many stayed below "
            "is not known to this release."
        )
    for choice in statement["choices"]:
        told.append(
            f"Of {whole(choice['candidates'])} candidates for {choice['what']}, {whole(choice['chosen'])} "
            "were chosen by noisy scores, which the budget pays for."
        )
    told.append(
        "The synthetic records are fitted to these noisy counts. Every published count of a combination is "
        "that of the fitted records. Beside it stand the noisy count, where that combination was measured, "
        "and the range that the noise leaves for the true count."
    )
    return told


def _noise(statement: Json) -> list[str]:
    told = [_count(statement)]
    bars = [
        f"± {up(level['error_bar']['half_width_95'])} at length {level['length']}"
        for level in statement["levels"]
        if level["error_bar"]
    ]
    if bars:
        told.append(
            f"Every count carries noise of its own, in 95 of 100 draws within {', '.join(bars)}; this "
            "excludes truncation bias and the selection by the threshold."
        )
    return told


def _thresholds(statement: Json) -> list[str]:
    told = []
    first = statement["levels"][0] if statement["levels"] else None
    if first and first["threshold"] is not None and first["open"]["columns"]:
        told.append(
            f"A value of an open column is published only where its noisy count is at least "
            f"{whole(first['threshold'])}. How many values stayed below is not known to this release."
        )
    for level in statement["levels"][1:]:
        share = level["spurious"]["expected_spurious_share"]
        if share is not None and not level["empty"]:
            told.append(
                f"At length {level['length']}, {whole(level['survivors'])} of {whole(level['candidates'])} "
                "candidate combinations reach the threshold. Noise alone is expected to carry at most "
                f"{up(level['spurious']['expected_spurious'], 2)} that nobody holds over the threshold, "
                f"{percent_up(share)} of those that do."
            )
    return told


def _uniques(statement: Json) -> list[str]:
    told = []
    uniques = statement["disclosed_uniques"]
    if uniques["per_release"]:
        here, so_far = up(uniques["per_release"], 2), up(uniques["all_releases"], 2)
        told.append(
            f"If there are {whole(uniques['assumed_subjects'])} {_units(statement)} (the noisy count and its "
            f"error bar), the expected number of those of {_whom(statement)} a value that nobody else holds "
            f"is published is about {here} in this release and {so_far} over all releases so far."
        )
    return told


def _sample(statement: Json) -> list[str]:
    sampling = statement["sampling"]
    if sampling is None:
        return []
    return [
        f"A random sample of about {whole(sampling['expected_size'])} {_units(statement)} was counted: "
        f"{sampling['rule']}. {sampling['text']}"
    ]


def _account(statement: Json) -> list[str]:
    ledger = statement["ledger"]
    return [
        f"All releases of this dataset together may cost epsilon {up(ledger['epsilon_cap'])} at delta "
        f"{up(ledger['delta_cap'])}. {_spent(ledger)} {_remaining(ledger)}",
        f"The account is kept in {ledger['scope']}: it does not add up releases that were charged elsewhere, "
        "nor other datasets of the same people.",
    ]


def _spent(ledger: Json) -> str:
    epsilon = up(ledger["epsilon_spent"])
    if ledger["releases"] == 1:
        return f"This is the first, and comes to epsilon {epsilon} at that delta."
    return f"The {whole(ledger['releases'])} so far come to epsilon {epsilon} at that delta."


def _remaining(ledger: Json) -> str:
    left = ledger["remaining_releases"]
    if left <= 0:
        return "No further release at this setting fits."
    return f"{down(left, 6)} more at this setting would fit."
