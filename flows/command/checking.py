"""What ``marginalia check`` prints: a configuration goes in, what its run would do and cost comes out."""

import itertools
import math
from collections.abc import Callable
from statistics import NormalDist

from flows.command.noise_warnings import (
    dependency_notes,
    fitted_warnings,
    guessed_sizes,
    level_warnings,
    open_notes,
)
from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import workload_parameters
from tasks.core.dp.group_privacy import group_guarantees
from tasks.core.dp.workload.expected import expected_errors, planned, planned_first_length
from tasks.core.dp.workload.limits import chooses_pairs, number_of_named, pair_score_scale
from tasks.core.dp.workload.parameters import MOST_TABLES, WorkloadParameters
from tasks.core.errors import InputError, MarginaliaError, ParameterError
from tasks.core.figures import count_of, plain_up
from tasks.core.ledger.salts import require_one_salt
from tasks.core.navigation.survival import SurvivalLevel, curve_text
from tasks.core.records.columns import Schema
from tasks.core.syndiffix.clusters import clustering_text
from tasks.core.syndiffix.settings import count_sd
from tasks.core.tables.batches import holds_no_record
from tasks.ledger_place import user_ledger_place
from tasks.plan.describe import RunFacts, describe
from tasks.plan.estimate import OPEN_VALUES, Estimate, estimate, first_length, require_room, width_of
from tasks.plan.input_file import choose_vintage_to_check
from tasks.plan.resources import cluster_needs, require_records_fit, tree_worker_mb, works_in_partitions
from tasks.plan.syndiffix import synthesized_table
from tasks.public.bundles import unit_of
from tasks.sensitive.ledger import (
    A_YEAR,
    format_joint_cost,
    initial_caps,
    open_user_ledger,
    plan_notes_at_registration,
    plan_notes_of_registered,
)
from tasks.sensitive.protect import charge_of_run, registration, require_admission
from tasks.storage import Workspace

#: What is compared; the configured epsilon joins them.
_EPSILONS = (0.5, 1.0, 2.0, 4.0)
#: All sets of three columns are compared as long as they are not more than these.
_MOST_TRIPLES = 1_000


def print_fitted(configuration: RunConfiguration, schema: Schema, records: int) -> None:
    parameters, schema = workload_parameters(configuration, schema), schema.measured
    parameters = planned(parameters, schema, max(1, records))
    tables = number_of_named(parameters, schema)
    sets = "1 set of columns" if tables == 1 else f"{tables:,} sets of columns"
    if chooses_pairs(parameters, schema):
        most = f"up to {parameters.most_pairs:,} of {tables:,}"
        sets = f"the pairs of columns that depend on each other most ({most})"
    chosen = (
        f", and the longer sets that the pairs explain least (up to {parameters.longer.most})"
        if parameters.longer.lengths
        else ""
    )
    print(f"\nThe run measures the number of records, every value of each column, {sets}{chosen}.")
    if chooses_pairs(parameters, schema):
        print(_few_pairs(parameters, schema, records))
    print("Below is the mean error of one count, in records and by the noise alone: of a value of one")
    print("column, of a cell of two columns, and of a cell of a measured set of three.\n")
    print("epsilon  workload                 1 column  2 columns  3 columns")
    _print_expected_errors(configuration, schema, max(1, records))
    has_open = any(column.is_open for column in schema.columns)
    guess = f"{OPEN_VALUES} values in each open column, and " if has_open else ""
    print(f"(These figures assume {records:,} records, {guess}values that are equally frequent.")
    print("With few records most of the budget goes to single values, with many to larger sets. Synthetic")
    print("records are fitted to all that is measured; a set that is not measured follows from the others.)")


def _few_pairs(parameters: WorkloadParameters, schema: Schema, records: int) -> str:
    pairs, scale = schema.number_of_pairs, pair_score_scale(parameters, schema)
    least = math.ceil(scale * NormalDist().inv_cdf(1 - 1 / pairs))
    most = (math.isqrt(8 * parameters.most_pairs + 1) + 1) // 2
    target = "" if parameters.target is None else " The target takes no part in this choice."
    return (
        f"ATTENTION: of {pairs:,} pairs of columns at most {parameters.most_pairs:,} are measured, and "
        "likely few. A pair is measured only if its counts are farther from those of independent columns "
        f"than the noise of {pairs:,} scores: by about {least:,} of {records:,} records. What the columns of "
        "all other pairs have to do with each other is lost, even where one follows from the other."
        f"{target} What helps: up to {most} columns (use_columns), of which all pairs are measured; naming "
        "the sets of columns that matter in workload; a larger epsilon."
    )


def _print_expected_errors(configuration: RunConfiguration, schema: Schema, records: int) -> None:
    protection, synthesis = configuration.privacy, configuration.fitted
    own = synthesis.workload if isinstance(synthesis.workload, str) else "the sets named"
    names = [column.name for column in schema.columns]
    workloads: dict[str, str | tuple[tuple[str, ...], ...]] = {own: synthesis.workload}
    if schema.number_of_pairs <= MOST_TABLES:  # more are refused
        workloads["pairs"] = "pairs"
    workloads["auto"] = "auto"
    if 0 < math.comb(len(names), 3) <= _MOST_TRIPLES:  # of a thousand columns they don't fit into memory
        workloads["all sets of three"] = tuple(itertools.combinations(names, 3))
    sizes = guessed_sizes(schema, OPEN_VALUES)
    for epsilon in sorted({*_EPSILONS, protection.epsilon}):
        for words, workload in workloads.items():
            changes = {
                "protection": protection.model_copy(update={"epsilon": epsilon}),
                "synthesis": synthesis.model_copy(update={"workload": workload}),
            }
            try:
                parameters = workload_parameters(configuration.model_copy(update=changes), schema)
                errors = expected_errors(parameters, schema, sizes, records)
            except ParameterError:
                continue
            figures = "  ".join(
                f"{'-' if error is None else format(error, '.1f'):>9}" for error in errors.values()
            )
            mark = "  <- as configured" if (epsilon, words) == (protection.epsilon, own) else ""
            print(f"{epsilon:>7g}  {words:<22}{figures}{mark}")


def print_cluster(configuration: RunConfiguration, described: RunFacts, records: int) -> None:
    asked, schema = configuration.resources, described.schema
    where = asked.dask_address or f"a cluster of {asked.workers} workers on this machine"
    if not works_in_partitions(configuration):
        print(
            f"On {where}: workers grow the trees, and the run's own process does the rest. A worker needs, "
            f"very roughly, {tree_worker_mb(records, 3):,} MB for a cluster of 3 columns, "
            f"{tree_worker_mb(records, 5):,} MB for one of 5, and twice as much for each column more."
        )
        return
    width, length = width_of(schema), described.reporting_length or 1
    found = cluster_needs(
        records,
        width,
        width if length == -1 else min(length, width),
        asked.partitions,
        has_ids=schema.subject_id is not None,
    )
    print(
        f"On {where}: {asked.partitions:,} partitions. A worker needs about {found.worker_mb:,} MB. "
        f"All workers together need, very roughly, {_cpu_words(found.cpu_hours)} to read, join and count. "
        "The fit of the records comes on top. "
        f"Where the partitions lie, {found.stored_mb:,} MB are needed, and {found.moved_mb:,} MB go to and "
        "from there."
    )
    if found.advised > asked.partitions:
        print(
            f"ATTENTION: a partition should fit well into a worker. With {found.advised:,} partitions each "
            "would take 2 GB at most."
        )


def _cpu_words(hours: float) -> str:
    """CPU time.

    >>> _cpu_words(0.01), _cpu_words(2.5)
    ('1 CPU minute', '2.5 CPU hours')
    """
    return f"{hours:,.1f} CPU hours" if hours >= 1 else count_of(max(1, round(60 * hours)), "CPU minute")


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


_FILE_OF_VINTAGE = (
    "The path names the vintage. What is said here is of {}; a run without that file is late: it draws "
    "nothing, charges nothing and ends with exit code 5."
)


def report(configuration: RunConfiguration) -> None:
    """Print all of it; refuse what a run would be refused for, as far as header and ledger tell."""
    workspace = Workspace.of(configuration)
    workspace.require_place()
    require_records_fit(configuration)
    configuration = choose_vintage_to_check(configuration)
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
    if described.pattern is not None:
        print(f"  note: {_FILE_OF_VINTAGE.format(described.source.path)}")
    for note in described.notes:
        print(f"  note: {note}")
    warnings = PRINTERS[configuration.protection.regime](configuration, described, found)
    _print_resources(found)
    if asked.engine == "dask":
        print_cluster(configuration, described, found.records)
    require_room(found, workspace.root)
    is_noise = any(sentence.startswith("ATTENTION") for sentence in warnings)
    print(_CAN_BE_RUN["empty" if is_empty else "noise" if is_noise else ""])


def _print_private(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
    _print_columns(described)
    measured = described.schema.measured
    if configuration.draws_workload:
        print_fitted(configuration, described.schema, found.records)
        warnings = [
            *fitted_warnings(configuration, measured, found),
            *dependency_notes(configuration, measured, described.contract, found),
        ]
        parameters = workload_parameters(configuration, measured)
        threshold = planned_first_length(parameters, measured, max(1, found.records)).threshold
    else:
        _print_levels(found)
        warnings = level_warnings(configuration, found, described.schema.width)
        threshold = found.levels[0].threshold if found.levels else None
    opened = [column.name for column in measured.columns if column.is_open]
    warnings += open_notes(opened, threshold, found)
    _print_lines(["", *warnings] if warnings else [])
    _print_several_rows(described, found.records)
    _print_budget(configuration, described)
    return warnings


def _print_rounded(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
    _print_columns(described)
    _print_anonymity(configuration, described)
    resolution = configuration.reporting_resolution
    if found.source != "size" and found.records < resolution:
        print(f"  note: ATTENTION: reporting_resolution, {resolution}, is above the number of records that")
        print("  the table seems to have: nothing could be reported. Lower it.")
    return []


def _print_trees(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
    selection = described.synthesized
    open_user_ledger()
    table = synthesized_table(described.source, selection, described.pattern)
    require_one_salt(user_ledger_place(), (configuration.dataset, table))
    settings, unit = selection.settings, "subject" if selection.ids else "row"
    mean = settings.parameters().anonymization.low_count_params.mean
    columns = count_of(len(selection.columns), "column")
    print(f"{columns}:\n  {', '.join(selection.columns)}")
    print(
        "\n"
        f"SynDiffix, not differential privacy: a group is shown from about {mean:g} {unit}s on, and never "
        f"with fewer than {settings.low_threshold}."
    )
    print(f"The count of each group has noise of standard deviation {count_sd(settings.layer_noise_sd):.3g}.")
    print("A count of synthetic rows adds up many groups, so it may be off by much more.")
    asked = f", and {count_of(len(selection.questions), 'table')} of fewer" if selection.questions else ""
    print(f"Clustering: {clustering_text(settings.clustering)}. One table of {columns}{asked}.")
    return []


#: What is told of a protection alone, by the name of its regime.
PRINTERS: dict[str, Callable[[RunConfiguration, RunFacts, Estimate], list[str]]] = {
    "differential_privacy": _print_private,
    "k_anonymity": _print_rounded,
    "syndiffix": _print_trees,
}


def _print_columns(described: RunFacts) -> None:
    columns = described.schema.columns
    opened = [column.name for column in columns if column.is_open]
    uncapped = [column.name for column in columns if not column.max_items]
    most = "at least" if uncapped else "at most"
    attributes = count_of(described.schema.width, "attribute")
    print(f"{count_of(len(columns), 'column')}, {most} {attributes} a record:")
    print(f"  {', '.join(column.name for column in columns)}")
    if opened and described.parameters:
        print(f"  open domains (a value must pass a threshold): {', '.join(opened)}")


def _print_anonymity(configuration: RunConfiguration, described: RunFacts) -> None:
    length, k = described.reporting_length, configuration.reporting_resolution
    lengths = "of all lengths" if length == -1 else f"of up to {count_of(length, 'attribute')}"
    print(f"\nk-anonymity, not differential privacy: the run counts combinations {lengths} and rounds the")
    print(
        f"counts down to multiples of {k}. Combinations of fewer than {k} {unit_of(described.schema)}s are "
        "left out."
    )
    reads = "the raw records" if configuration.synthesis.reads_records else "the rounded counts alone"
    print(f"Synthesis: {configuration.synthesis.mode}, from {reads}.")


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
    ledger = open_user_ledger()
    epsilon, delta = plain_up(charge.epsilon), plain_up(charge.delta)
    is_known = ledger.is_registered(configuration.dataset)
    caps = ledger.account(configuration.dataset).caps if is_known else initial_caps(configuration, charge)
    share = 100 * charge.mu_squared / float(caps.mu_squared)
    print(
        f"\nThis release claims epsilon {epsilon}, delta {delta}. It uses {plain_up(share, 3)} % of the "
        f"dataset's budget (mu^2 {plain_up(charge.mu_squared)})."
    )
    planned = configuration.privacy.releases
    try:
        admission = require_admission(ledger, configuration, described)
    except MarginaliaError:  # whoever plans another cap needs the figure all the same
        print(f"{format_joint_cost(charge, planned or A_YEAR)}.")
        raise
    if not is_known:
        entered = registration(configuration, described, charge)
        print(
            f"The dataset is not registered yet. This run would register it with a cap of epsilon "
            f"{plain_up(entered.epsilon_cap)}, delta {plain_up(entered.delta_cap)} for all its "
            "releases together."
        )
        _print_lines(plan_notes_at_registration(configuration, charge))
        return
    account = ledger.account(configuration.dataset)
    print(
        f"Spent so far: epsilon {plain_up(account.epsilon_spent)} of {plain_up(account.caps.epsilon)} "
        f"at delta {plain_up(account.caps.delta)}."
    )
    left = account.remaining_runs(charge.mu_squared_exact, charge.threshold_delta_exact)
    fit = f"{count_of(left, 'more release')} like it {'fits' if left == 1 else 'fit'}"
    print(f"This release: {admission.value}; {fit} under the cap.")
    if planned:
        print(f"{format_joint_cost(charge, planned)}.")
    _print_lines(plan_notes_of_registered(configuration, charge, account))


def _print_lines(lines: list[str]) -> None:
    for line in lines:
        print(line)


_LOOKED = {
    "footer": "(The number of records is in the Parquet file's footer.)",
    "lines": "(The number of records is guessed from the file's size and the lengths of some lines; no value "
    'was looked at. To guess it from the size alone, set "check_looks_at_lines": false.)',
    "size": "(A text of this size can hold that many records; there are likely far fewer. For a closer guess "
    'set "check_looks_at_lines": true: check then looks at the lengths of some lines, and at no value.)',
}


def _print_resources(found: Estimate) -> None:
    print(
        "\n"
        f"For {count_of(found.records, 'record')} the run needs at most about {found.memory_mb} MB of memory "
        f"and {found.disk_mb} MB of disk. It takes, very roughly, "
        f"{count_of(math.ceil(found.seconds), 'CPU second')} beside the start-up."
    )
    print(_LOOKED[found.source])
