"""What ``marginalia check`` prints: a configuration goes in, what its run would do and cost comes out."""

import heapq
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import workload_parameters
from tasks.core.contracts.contract import Contract
from tasks.core.dp.group_privacy import group_guarantees
from tasks.core.dp.workload.expected import (
    ExpectedErrors,
    expected_errors,
    planned,
    planned_first_length,
    set_errors,
)
from tasks.core.dp.workload.limits import chooses_pairs, number_of_named, pair_score_scale
from tasks.core.dp.workload.parameters import MOST_TABLES, WorkloadParameters
from tasks.core.errors import InputError, MarginaliaError, ParameterError
from tasks.core.figures import plain_up
from tasks.core.hints import list_some
from tasks.core.ledger.salts import require_one_salt
from tasks.core.navigation.survival import SurvivalLevel, curve_text
from tasks.core.records.columns import Column, Schema
from tasks.core.syndiffix.clusters import clustering_text
from tasks.core.syndiffix.settings import count_sd
from tasks.core.tables.batches import holds_no_record
from tasks.core.tables.column_names import matching_name
from tasks.ledger_place import user_ledger_place
from tasks.plan.describe import RunFacts, describe
from tasks.plan.estimate import (
    OPEN_VALUES,
    Estimate,
    LevelEstimate,
    estimate,
    first_length,
    require_room,
    width_of,
)
from tasks.plan.input_file import choose_vintage_to_check
from tasks.plan.resources import cluster_needs, require_records_fit, tree_worker_mb, works_in_partitions
from tasks.plan.syndiffix import Selection, synthesized_table
from tasks.public.bundles.bundle import unit_of
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


@dataclass(frozen=True)
class _Offer:
    epsilon: float
    words: str
    errors: ExpectedErrors
    is_configured: bool


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
    for offer in _offers(configuration, schema, max(1, records)):
        figures = "  ".join(
            f"{'-' if error is None else format(error, '.1f'):>9}"
            for error in (offer.errors.one, offer.errors.two, offer.errors.three)
        )
        mark = "  <- as configured" if offer.is_configured else ""
        print(f"{offer.epsilon:>7g}  {offer.words:<22}{figures}{mark}")
    guess = f"{OPEN_VALUES} values in each open column, and " if _opened(schema) else ""
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


def _offers(configuration: RunConfiguration, schema: Schema, records: int) -> list[_Offer]:
    protection, synthesis = configuration.privacy, configuration.fitted
    own = synthesis.workload
    names = [column.name for column in schema.columns]
    workloads: dict[str, str | tuple[tuple[str, ...], ...]] = {_words(own): own}
    if schema.number_of_pairs <= MOST_TABLES:  # more are refused
        workloads["pairs"] = "pairs"
    workloads["auto"] = "auto"
    if 0 < math.comb(len(names), 3) <= _MOST_TRIPLES:  # of a thousand columns they don't fit into memory
        workloads["all sets of three"] = tuple(itertools.combinations(names, 3))
    found = []
    for epsilon in sorted({*_EPSILONS, protection.epsilon}):
        for words, workload in workloads.items():
            asked = configuration.model_copy(
                update={
                    "protection": protection.model_copy(update={"epsilon": epsilon}),
                    "synthesis": synthesis.model_copy(update={"workload": workload}),
                }
            )
            is_configured = (epsilon, words) == (protection.epsilon, _words(own))
            try:
                errors = _errors(workload_parameters(asked, schema), schema, records)
            except ParameterError:
                continue
            found.append(_Offer(epsilon, words, errors, is_configured))
    return found


def _errors(parameters: WorkloadParameters, schema: Schema, records: int) -> ExpectedErrors:
    return expected_errors(parameters, schema, guessed_sizes(schema, OPEN_VALUES), records)


def guessed_sizes(schema: Schema, open_values: int) -> list[int]:
    """Cells of each column, `other` and `absent` among them, if open columns had so many values."""
    return [(open_values if c.domain is None else len(c.domain)) + 1 + c.is_open for c in schema.columns]


def _words(workload: object) -> str:
    return workload if isinstance(workload, str) else "the sets named"


def _opened(schema: Schema) -> bool:
    return any(column.is_open for column in schema.columns)


#: Values of an open column here, where no alarm should be false: a small guess.
_OPEN_VALUES = 10
#: A threshold is too high where only what a larger part of all records share could pass it.
_MOST_SHARED = 1 / 4
#: Epsilons that are tried where the configured one is too small.
_LARGER = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: From so many combinations of one record on it is told what helps where few records hold as many.
_MANY_COMBINATIONS = 1000
#: As many values as a column is left with where fewer are tried, and how many columns are named.
_FEW_VALUES, _MOST_NAMED = 10, 5


@dataclass(frozen=True)
class Drowned:
    """What of a fitted release would be noise.

    Attributes:
        columns: names of single columns whose values' noise exceeds the records.
        sets: of two columns or more whose cells' noise does, by name, the noisiest first.
        threshold: the least noisy count of an open column's value; None where it is low enough.
    """

    columns: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    of: int
    threshold: int | None

    @property
    def is_worthless(self) -> bool:
        return bool(self.columns) or self.threshold is not None or 2 * len(self.sets) > self.of


def fitted_warnings(configuration: RunConfiguration, schema: Schema, found: Estimate) -> list[str]:
    """What would be worthless in a fitted release, and what to change; nothing where all is well.

    Args:
        found: the run's estimate, whose number of records is taken.
    """
    drowned = _drowned(workload_parameters(configuration, schema), schema, found.records)
    told = list(_said(drowned, schema, found))
    if not told or not drowned.is_worthless:
        return [f"note: {sentence}" for sentence in told]
    return [*(f"ATTENTION: {each}" for each in told), _advice(configuration, schema, found.records)]


def dependency_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, found: Estimate
) -> Iterator[str]:
    """What it costs that a column follows from another one and the contract does not say how.

    Args:
        contract: as `marginalia init` drafted it; None: there is none.
        found: the run's estimate, whose number of records is taken.
    """
    places = {matching_name(column.name): place for place, column in enumerate(schema.columns)}
    follows = [
        (places[matching_name(column.name)], places[matching_name(column.seems_to_follow)])
        for column in (contract.columns if contract else ())
        if column.seems_to_follow
        and {matching_name(column.name), matching_name(column.seems_to_follow)} <= {*places}
    ]
    if not follows:
        return
    sizes, records = guessed_sizes(schema, _OPEN_VALUES), max(1, found.records)
    errors = set_errors(workload_parameters(configuration, schema), schema, sizes, records)
    pairs = [columns for columns in errors if len(columns) == 2]
    for decided, source in follows:
        error = errors.get((min(decided, source), max(decided, source)))
        wrong = 1.0 if error is None else error * sizes[source] * (sizes[decided] - 1) / 2 / records
        share = min(max(wrong, 0.001), 1)
        name, of = schema.columns[decided].name, schema.columns[source].name
        own = sum(decided in columns for columns in pairs)
        yield (
            f"note: {name} seems to follow from {of}, and the contract does not say how. Up to about "
            f"{share:.1%} of the records may then have a {name} that does not go with their {of}, and "
            f"{own:,} of {len(pairs):,} pairs of columns are measured for it. Declare how it follows "
            f"(functionalDependencies, or init with --declare {name}), or leave it out (use_columns)."
        )


def open_notes(opened: list[str], threshold: int | None, found: Estimate) -> list[str]:
    """How many values an open column may have before it would likely be left empty.

    Args:
        threshold: the least noisy count of a published value; None: none is needed.
        found: the run's estimate, whose number of records is taken.
    """
    if not opened or threshold is None or threshold > _MOST_SHARED * found.records:  # which is warned of
        return []
    most = found.records // threshold
    return [
        f"note: a value of {list_some(opened)} needs a noisy count of about {threshold:,} to be published. "
        f"Of {_number(found)} records no more than {most:,} values of one column can have as many. A column "
        "of more values that are equally frequent, such as dates by month, would likely be left empty: a "
        "coarser cut, bins, or a list of its values (domains) helps."
    ]


def fitted_threshold(configuration: RunConfiguration, schema: Schema, records: int) -> int | None:
    """The least noisy count of a published value of a fitted release; None where no column is open."""
    parameters = workload_parameters(configuration, schema)
    return planned_first_length(parameters, schema, max(1, records)).threshold


def level_warnings(configuration: RunConfiguration, found: Estimate, width: int) -> list[str]:
    """The same of a release by lengths: what hardly any combination can reach, or where noise exceeds counts.

    Args:
        width: the most attributes of a record.
    """
    lost = [level for level in found.levels if _is_lost(level, found.records, width)]
    cure = _cure_of_many_combinations(configuration, found)
    if not lost:
        return [f"note: {each}" for each in cure]
    shorter = min(level.length for level in lost) - 1
    short = f"reporting_length {shorter} (now {configuration.reporting_length}), " if shorter else ""
    advice = f"{short}a larger epsilon, fewer columns (use_columns), or bins and domains of fewer values"
    return [*(f"ATTENTION: {_lost_words(level, found)}" for level in lost), f"What helps: {advice}.", *cure]


def _cure_of_many_combinations(configuration: RunConfiguration, found: Estimate) -> list[str]:
    most = max(found.levels, key=lambda level: level.sensitivity, default=None)
    if (
        most is None
        or most.sensitivity < _MANY_COMBINATIONS
        or configuration.privacy.contribution == "profile"
    ):
        return []
    profile = '"privacy": {"contribution": "profile"}'
    if configuration.privacy.accountant == "zcdp":
        profile += " with the accountant gdp"
    return [
        f"the noise is for records of up to {most.sensitivity:,} combinations of {most.length} values. Where "
        f"most cells are empty, or 0 that stands for absence, {profile} measures how many they hold, and "
        '"synthesis_mode": "fitted" counts fewer combinations: both bring less noise.'
    ]


def _drowned(parameters: WorkloadParameters, schema: Schema, records: int) -> Drowned:
    sizes = guessed_sizes(schema, _OPEN_VALUES)
    items = [max(1, column.max_items) for column in schema.columns]
    shares = {
        columns: error
        * math.prod(sizes[column] for column in columns)
        / (max(1, records) * math.prod(items[column] for column in columns))
        for columns, error in set_errors(parameters, schema, sizes, max(1, records)).items()
    }
    several = [columns for columns in shares if len(columns) > 1]
    threshold = planned_first_length(parameters, schema, max(1, records)).threshold
    return Drowned(
        columns=tuple(c.name for place, c in enumerate(schema.columns) if shares[(place,)] > 1),
        sets=tuple(
            tuple(schema.columns[column].name for column in columns)
            for columns in sorted(several, key=lambda columns: (-shares[columns], columns))
            if shares[columns] > 1
        ),
        of=len(several),
        threshold=threshold if threshold is not None and threshold > _MOST_SHARED * records else None,
    )


def _said(drowned: Drowned, schema: Schema, found: Estimate) -> Iterator[str]:
    opened = [column.name for column in schema.columns if column.is_open]
    records = _number(found)
    if drowned.threshold is not None:
        yield f"values of {list_some(opened)} {_passes(drowned.threshold, found)}"
    if drowned.columns:
        yield (
            f"in {list_some(drowned.columns)} the noise of all values together would exceed the number of "
            f"records ({records}): the counts would be worthless."
        )
    if drowned.sets:
        small = f", even if open columns had no more than {_OPEN_VALUES} values" if opened else ""
        yield (
            f"in {len(drowned.sets):,} of {drowned.of:,} sets of columns (the noisiest first: "
            f"{_listed(drowned.sets)}) the noise of all cells together would exceed the number of records "
            f"({records}){small}: how these columns depend on each other would mostly be lost."
        )


def _advice(configuration: RunConfiguration, schema: Schema, records: int) -> str:
    """What would leave nothing worthless: each change by itself, else all together, else fewer columns."""
    larger, few, narrow = _larger(configuration), _with_few_sets(configuration, schema), _narrowed(schema)

    def helps(asked: RunConfiguration, columns: Schema) -> bool:
        try:
            return not _drowned(workload_parameters(asked, columns), columns, records).is_worthless
        except ParameterError:
            return False

    words = {
        "workload": f"a workload of few sets of columns, those that matter (say {len(schema.columns)})",
        "values": f"bins or domains of up to {_FEW_VALUES} values for {list_some(_wide(schema))}",
    }
    single = [_epsilon_words(asked) for asked in larger if helps(asked, schema)][:1]
    single += [words["workload"]] * helps(few, schema) + [words["values"]] * helps(configuration, narrow)
    if single:
        each = ", each by itself" if len(single) > 1 else ""
        return f"What helps{each}: {'; '.join(single)}; fewer columns (use_columns)."
    for asked in (few, *_larger(few)):
        if helps(asked, narrow):
            together = "; ".join([words["workload"], words["values"], _epsilon_words(asked)])
            return f"What helps, all together: {together}. Or use fewer columns (use_columns)."
    return (
        "What helps: fewer columns (use_columns). There are too few records for all of these columns, even "
        f"at epsilon {_LARGER[-1]:g}, with few sets of columns in workload and few values in each column."
    )


def _larger(configuration: RunConfiguration) -> list[RunConfiguration]:
    protection = configuration.privacy
    return [
        configuration.model_copy(update={"protection": protection.model_copy(update={"epsilon": epsilon})})
        for epsilon in _LARGER
        if epsilon > protection.epsilon
    ]


def _epsilon_words(configuration: RunConfiguration) -> str:
    return f"epsilon {configuration.privacy.epsilon:g}"


def _with_few_sets(configuration: RunConfiguration, schema: Schema) -> RunConfiguration:
    synthesis, sizes = configuration.fitted, guessed_sizes(schema, _OPEN_VALUES)
    pairs = heapq.nsmallest(
        len(sizes),
        itertools.combinations(range(len(sizes)), 2),
        key=lambda pair: sizes[pair[0]] * sizes[pair[1]],
    )
    named = tuple(tuple(schema.columns[column].name for column in pair) for pair in pairs)
    few = synthesis.model_copy(update={"workload": named})
    return configuration.model_copy(update={"synthesis": few})


def _wide(schema: Schema) -> list[str]:
    columns = schema.columns
    return [column.name for column in columns if column.domain is None or len(column.domain) > _FEW_VALUES]


def _narrowed(schema: Schema) -> Schema:
    values, wide = tuple(str(place) for place in range(_FEW_VALUES)), set(_wide(schema))

    def narrowed(column: Column) -> Column:
        is_wide = column.name in wide
        return replace(column, bins=None, domain=values, other=None) if is_wide else column

    return replace(schema, columns=tuple(narrowed(column) for column in schema.columns), constraints=())


def _is_lost(level: LevelEstimate, records: int, width: int) -> bool:
    if level.threshold is not None:
        return level.threshold > _MOST_SHARED * records
    held = records * math.comb(width, level.length)
    return math.sqrt(2 / math.pi) * level.scale * level.candidates > held


def _lost_words(level: LevelEstimate, found: Estimate) -> str:
    what = "single values" if level.length == 1 else f"combinations of {level.length} values"
    if level.threshold is not None:
        return f"{what} {_passes(level.threshold, found)}"
    return f"the noise of all {what} together would exceed their counts: the counts would be worthless."


def _passes(threshold: int, found: Estimate) -> str:
    left = f"only what {threshold / max(1, found.records):.0%} of the records share could reach that."
    if threshold > found.records:
        left = "none could reach that."
    needed = f"need a noisy count of {threshold:,} or more to be published"
    return f"{needed}, and there are {_number(found)} records: {left}"


def _number(found: Estimate) -> str:
    most = "at most " if found.source == "size" else "about " if found.source == "lines" else ""
    return f"{most}{found.records:,}"


def _listed(sets: tuple[tuple[str, ...], ...]) -> str:
    shown = ", ".join(" with ".join(map(repr, names)) for names in sets[:_MOST_NAMED])
    return shown if len(sets) <= _MOST_NAMED else f"{shown} and {len(sets) - _MOST_NAMED:,} more"


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
        f"On {where}: {found.partitions:,} partitions. A worker needs about {found.worker_mb:,} MB. "
        f"All workers together need, very roughly, {_hours(found.cpu_hours)} to read, join and count. The "
        f"fit of the records comes on top. Where the partitions lie, {found.stored_mb:,} MB are needed, and "
        f"{found.moved_mb:,} MB go to and from there."
    )
    if found.advised > asked.partitions:
        print(
            f"ATTENTION: a partition should fit well into a worker. With {found.advised:,} partitions each "
            "would take 2 GB at most."
        )


def _hours(hours: float) -> str:
    """CPU time.

    >>> _hours(0.01), _hours(2.5)
    ('1 CPU minute', '2.5 CPU hours')
    """
    if hours >= 1:
        return f"{hours:,.1f} CPU hours"
    minutes = max(1, round(60 * hours))
    return f"{minutes} CPU minute{'' if minutes == 1 else 's'}"


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
    if described.pattern is None:
        return []
    return [
        f"The path names the vintage. What is said here is of {described.source.path}; a run without that "
        "file is late: it draws nothing, charges nothing and ends with exit code 5."
    ]


def _tell_drawn(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
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
    _print_columns(described)
    _print_anonymity(configuration, described)
    _print_too_few(configuration, found)
    return []


def _tell_trees(configuration: RunConfiguration, described: RunFacts, found: Estimate) -> list[str]:
    selection = described.synthesized
    open_user_ledger()
    table = synthesized_table(described.source, selection, described.pattern)
    require_one_salt(user_ledger_place(), (configuration.dataset, table))
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
        _print_sentences(plan_notes_at_registration(configuration, charge))
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
        print(f"{format_joint_cost(charge, planned)}.")
    _print_sentences(plan_notes_of_registered(configuration, charge, account))


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
    print(
        "\n"
        f"For {_count(found.records, 'record')} the run needs at most about {found.memory_mb} MB of memory "
        f"and {found.disk_mb} MB of disk. It takes, very roughly, "
        f"{_count(math.ceil(found.seconds), 'CPU second')} beside the start-up."
    )
    print(_LOOKED[found.source])
