"""What ``marginalia check`` prints: a configuration goes in, what its run would do and cost comes out."""

import math
from collections.abc import Callable

from flows.command.check.cluster import print_cluster
from flows.command.check.fitted import print_fitted
from flows.command.check.noise import (
    dependency_notes,
    fitted_threshold,
    fitted_warnings,
    level_warnings,
    open_notes,
)
from tasks.configuration.model import RunConfiguration
from tasks.core.dp.group_privacy import group_guarantees
from tasks.core.errors import InputError, MarginaliaError
from tasks.core.figures import plain_up
from tasks.core.ledger.salts import require_one_salt
from tasks.core.navigation.survival import SurvivalLevel, curve_text
from tasks.core.syndiffix.clusters import clustering_text
from tasks.core.syndiffix.settings import count_sd
from tasks.core.tables.batches import holds_no_record
from tasks.ledger_place import kept_place
from tasks.plan.describe import RunFacts, describe
from tasks.plan.estimate import OPEN_VALUES, Estimate, estimate, first_length, require_room
from tasks.plan.input_file import settled_to_check
from tasks.plan.resources import require_records_fit, works_in_partitions
from tasks.plan.syndiffix import Selection, synthesized_table
from tasks.public.bundles.bundle import unit_of
from tasks.sensitive.ledger import A_YEAR, cost_together, first_caps, kept_ledger, told_at_first, told_later
from tasks.sensitive.protect import charge_of_run, registration, require_admission
from tasks.storage import Workspace

#: The last line, by what is wrong with the release.
_CAN_BE_RUN = {
    "": "The configuration can be run.",
    "noise": "The configuration can be run, but much of its release would be noise: see ATTENTION above.",
    "empty": "The configuration can be run, but the table holds no record: see ATTENTION above.",
}
#: Of a table that holds no record: under differential privacy no table may stop a run.
_NO_RECORD = (
    "ATTENTION: The table has a header and no record below it. A release would tell nothing, and be charged "
    "like any other. Put the records there before you run this; or, if that one line is a record, name the "
    "columns in sensitive_microdata_header."
)


def report(configuration: RunConfiguration) -> None:
    """Print all of it.

    Raises:
        MarginaliaError: what a run would be refused for, as far as the header and the ledger tell.
    """
    workspace = Workspace.of(configuration)
    workspace.require_place()
    require_records_fit(configuration)
    configuration = settled_to_check(configuration)
    described = describe(configuration)
    asked = configuration.resources
    found = estimate(
        described,
        look=configuration.may_look,
        partitions=asked.partitions if works_in_partitions(configuration) else 1,
    )
    is_empty = holds_no_record(described.source)
    if is_empty and not configuration.protection.is_drawn_once:
        raise InputError(
            "The input must hold at least one record below its header, but holds none: put the records there."
        )
    print(f"Dataset {configuration.dataset}, vintage {described.vintage}")
    if is_empty:
        print(_NO_RECORD)
    for note in (*_settled_notes(described), *described.notes):
        print(f"  note: {note}")
    warned = TOLD[configuration.protection.regime](configuration, described, found)
    _print_resources(found)
    if asked.engine == "dask":
        print_cluster(configuration, described, found.records)
    require_room(found, workspace.root)
    is_noise = any(sentence.startswith("ATTENTION") for sentence in warned)
    print(_CAN_BE_RUN["empty" if is_empty else "noise" if is_noise else ""])


def _settled_notes(described: RunFacts) -> list[str]:
    """Which file of several was judged."""
    if described.pattern is None:
        return []
    return [
        f"The path names the vintage. What is said here is of {described.source.path}; a run without that "
        "file is late: it draws nothing, charges nothing and ends with exit code 5."
    ]


def _tell_drawn(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
    """What is drawn and what it is charged; return what was warned of."""
    _print_columns(described)
    if configuration.draws_workload:
        print_fitted(configuration, described.schema, found.records)
        warned = [
            *fitted_warnings(configuration, described.schema.measured, found),
            *dependency_notes(configuration, described.schema.measured, described.contract, found),
        ]
        threshold = fitted_threshold(configuration, described.schema.measured, found.records)
    else:
        _print_levels(found)
        warned = level_warnings(configuration, found, described.schema.width)
        threshold = found.levels[0].threshold if found.levels else None
    opened = [column.name for column in described.schema.measured.columns if column.is_open]
    warned = [*warned, *open_notes(opened, threshold, found)]
    _print_sentences(["", *warned] if warned else [])
    _print_several_rows(described, found.records)
    _print_budget(configuration, described)
    return warned


def _tell_rounded(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
    """What is counted, and whether any of it could be reported."""
    _print_columns(described)
    _print_anonymity(configuration, described)
    _print_too_few(configuration, found)
    return []


def _tell_trees(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
    """What is synthesized, under the one salt of its table."""
    selection = described.synthesized
    kept_ledger()
    table = synthesized_table(described.source, selection, described.pattern)
    require_one_salt(kept_place(), (configuration.dataset, table))
    _print_syndiffix(selection)
    return []


#: What is told of a protection alone, by the name of its regime.
TOLD: dict[str, Callable[[RunConfiguration, RunFacts, Estimate], list[str]]] = {
    "differential_privacy": _tell_drawn,
    "k_anonymity": _tell_rounded,
    "syndiffix": _tell_trees,
}


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _print_columns(described: RunFacts) -> None:
    columns = described.schema.columns
    opened = [column.name for column in columns if column.is_open]
    uncapped = [column.name for column in columns if not column.max_items]
    most = "at least" if uncapped else "at most"
    print(f"{_count(len(columns), 'column')}, {most} {_count(described.schema.width, 'attribute')} a record:")
    print(f"  {', '.join(column.name for column in columns)}")
    if opened and described.parameters:
        print(f"  open domains (a value must pass a threshold): {', '.join(opened)}")


def _print_anonymity(configuration: RunConfiguration, described: RunFacts) -> None:
    length, k = described.reporting_length, configuration.reporting_resolution
    lengths = "of all lengths" if length == -1 else f"of up to {_count(length, 'attribute')}"
    print(f"\nk-anonymity, not differential privacy: the run counts combinations {lengths} and rounds the")
    print(
        f"counts down to multiples of {k}. Combinations of fewer than {k} {unit_of(described.schema)}s are "
        "left out."
    )
    reads = "the raw records" if configuration.synthesis.reads_records else "the rounded counts alone"
    print(f"Synthesis: {configuration.synthesis.mode}, from {reads}.")


def _print_too_few(configuration: RunConfiguration, found: Estimate) -> None:
    """That fewer records seem to be there than must share what is reported."""
    resolution = configuration.reporting_resolution
    if found.source != "size" and found.records < resolution:
        print(f"  note: ATTENTION: reporting_resolution, {resolution}, is above the number of records that")
        print("  the table seems to have: nothing could be reported. Lower it.")


def _print_syndiffix(selection: Selection) -> None:
    settings, unit = selection.settings, "subject" if selection.ids else "row"
    mean = settings.parameters().anonymization.low_count_params.mean
    print(f"{_count(len(selection.columns), 'column')}:\n  {', '.join(selection.columns)}")
    print(
        "\n"
        f"SynDiffix, not differential privacy: a group is shown from about {mean:g} {unit}s on, and never "
        f"with fewer than {settings.low_threshold}."
    )
    print(f"The count of each group has noise of standard deviation {count_sd(settings.layer_noise_sd):.3g}.")
    print("A count of synthetic rows adds up many groups, so it may be off by much more.")
    asked = f", and {_count(len(selection.questions), 'table')} of fewer" if selection.questions else ""
    table = _count(len(selection.columns), "column")
    print(f"Clustering: {clustering_text(settings.clustering)}. One table of {table}{asked}.")


def _print_levels(found: Estimate) -> None:
    print("\nlength      sigma  sensitivity  noise sd  95% error  threshold  candidates up to")
    for level in found.levels:
        threshold = "none" if level.threshold is None else str(level.threshold)
        print(
            f"{level.length:>6}  {level.sigma:>9.4f}  {level.sensitivity:>11}  {level.scale:>8.2f}  "
            f"{'+-' + format(level.half_width_95, '.0f'):>9}  {threshold:>9}  {level.candidates:>16}"
        )
    print(
        f"(These figures assume {OPEN_VALUES} values in each open column. The 95% error leaves out "
        "truncation.)"
    )
    curves = [
        SurvivalLevel(f"length {level.length}", level.scale, level.threshold)
        for level in found.levels
        if level.threshold is not None
    ]
    print("\nThe chance that a combination is published:")
    print(curve_text(curves))


def _print_several_rows(described: RunFacts, records: int) -> None:
    """What the guarantee is worth to a person with several rows, where a row is the unit."""
    if unit_of(described.schema) == "subject":
        return
    charge, facts = charge_of_run(described), first_length(described, records)
    print("\nThe guarantee protects one row. All rows of a person who has several are protected less:")
    for entry in group_guarantees(charge.mu_squared, charge.delta, facts):
        worth = "no useful guarantee is left"
        if entry["epsilon"] is not None:
            worth = f"epsilon {entry['epsilon']:.3g} at delta {entry['delta']:.3g}"
        print(f"  {entry['rows']:>3} rows: {worth}")


def _print_budget(configuration: RunConfiguration, described: RunFacts) -> None:
    charge = charge_of_run(described)
    ledger = kept_ledger()
    epsilon, delta = plain_up(charge.epsilon), plain_up(charge.delta)
    is_known = ledger.is_registered(configuration.dataset)
    caps = ledger.account(configuration.dataset).caps if is_known else first_caps(configuration, charge)
    share = 100 * charge.mu_squared / float(caps.mu_squared)
    print(
        f"\nThis release claims epsilon {epsilon}, delta {delta}. It uses {plain_up(share, 3)} % of the "
        f"dataset's budget (mu^2 {plain_up(charge.mu_squared)})."
    )
    planned = configuration.privacy.releases
    try:
        admission = require_admission(ledger, configuration, described)
    except MarginaliaError:  # whoever plans another cap needs the figure all the same
        print(f"{cost_together(charge, planned or A_YEAR)}.")
        raise
    if not is_known:
        entered = registration(configuration, described, charge)
        print(
            f"The dataset is not registered yet. This run would register it with a cap of epsilon "
            f"{plain_up(entered.epsilon_cap)}, delta {plain_up(entered.delta_cap)} for all its "
            "releases together."
        )
        _print_sentences(told_at_first(configuration, charge))
        return
    account = ledger.account(configuration.dataset)
    print(
        f"Spent so far: epsilon {plain_up(account.epsilon_spent)} of {plain_up(account.caps.epsilon)} "
        f"at delta {plain_up(account.caps.delta)}."
    )
    left = account.remaining_runs(charge.mu_squared_exact, charge.threshold_delta_exact)
    fit = "1 more release like it fits" if left == 1 else f"{left:,} more releases like it fit"
    print(f"This release: {admission.value}; {fit} under the cap.")
    if planned:
        print(f"{cost_together(charge, planned)}.")
    _print_sentences(told_later(configuration, charge, account))


def _print_sentences(sentences: list[str]) -> None:
    for sentence in sentences:
        print(sentence)


_LOOKED = {
    "footer": "(The number of records is in the Parquet file's footer.)",
    "lines": "(The number of records is guessed from the file's size and the lengths of some lines; no value "
    'was looked at. To guess it from the size alone, set "check_looks_at_lines": false.)',
    "size": "(A text of this size can hold that many records; there are likely far fewer. For a closer guess "
    'set "check_looks_at_lines": true: check then looks at the lengths of some lines, and at no value.)',
}


def _print_resources(found: Estimate) -> None:
    """What it takes, and by what the number of records was guessed."""
    print(
        "\n"
        f"For {_count(found.records, 'record')} the run needs at most about {found.memory_mb} MB of memory "
        f"and {found.disk_mb} MB of disk. It takes, very roughly, "
        f"{_count(math.ceil(found.seconds), 'CPU second')} beside the start-up."
    )
    print(_LOOKED[found.source])
