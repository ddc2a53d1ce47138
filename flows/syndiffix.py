"""SynDiffix: a sensitive table in, a synthetic one released. Not differentially private.

    locate -> type -> (judge the contract) -> measure dependence -> solve -> a step a cluster -> stitch
           -> (answer questions) -> hand over -> state, page, publish; evaluate against the raw table

Trees are not steps: a cluster's are grown where its rows are drawn. On a cluster of Dask, `grow_trees` comes
before, whose workers grow them all.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from flows.steps.guarded_flow import guarded_flow
from flows.steps.measure import begin_run, tell_of_private_releases
from flows.steps.publish import build_table_steps, opened_run, release_steps
from tasks.configuration.model import RunConfiguration
from tasks.core.syndiffix.bins import kind_of, public_edges
from tasks.core.syndiffix.clusters import target_of
from tasks.core.syndiffix.synthesizer import needs_dependence
from tasks.core.tables.column_names import matching_name
from tasks.engine import current_engine, engine_of
from tasks.messages import say, tell
from tasks.plan.describe import RunFacts, describe, tell_notes
from tasks.plan.input_file import announce_if_late
from tasks.plan.syndiffix import (
    NOTES,
    Selection,
    inferred_type_notes,
    left_out_note,
    synthesized_table,
    weaker_protection_notes,
)
from tasks.public.releases import require_not_withdrawn
from tasks.public.summary import tell_unchanged
from tasks.request import STAGES, UNCHANGED, reaches, scheduled_date
from tasks.sensitive.evaluate import measure_worth
from tasks.sensitive.read import TABLE, judge_contract, locate_table, report_dropped_cells
from tasks.sensitive.record import (
    PlannedOutput,
    compare_with_last,
    find_equal_output,
    record_output,
)
from tasks.sensitive.retention import apply_retention
from tasks.sensitive.syndiffix import (
    Origin,
    Part,
    answer_questions,
    evaluate_tables,
    grow_trees,
    hand_over_tables,
    measure_dependence,
    release_trees,
    solve_clusters,
    stitch_clusters,
    stored_clusters,
    synthesize_cluster,
    type_columns,
)
from tasks.storage import RunWorkspace, StoredTable, Workspace


@guarded_flow("syndiffix-{configuration.dataset}")
def syndiffix(configuration: RunConfiguration, last: str = STAGES[-1]) -> dict[str, str]:
    """Synthesize and release a table.

    Args:
        configuration: the run's, whose synthesis_mode is syndiffix.
        last: aggregate or generate (the table alone), evaluate, navigate.

    Returns:
        Places in the workspace: ``release`` and, where they were made, ``evaluation`` and ``utility``.
    """
    workspace = Workspace.of(configuration)
    with apply_retention(workspace, configuration), engine_of(configuration):
        return _run_stages(workspace, configuration, last)


def _run_stages(workspace: Workspace, configuration: RunConfiguration, last: str) -> dict[str, str]:
    place = _prepare_run(workspace, configuration)
    described, run, vintage = place.described, place.run, place.described.vintage
    try:
        source, typed = _read_table(configuration, place)
        table, answers = _synthesize(typed, place)
    finally:
        release_trees()
    _tell_result(configuration, place, table)
    wanted = None
    if configuration.skips_unchanged:
        made_of = [table] if answers is None else [table, answers]
        wanted = PlannedOutput.of(workspace, configuration, described, f"release {last}", made_of)
        unchanged = find_equal_output(workspace, configuration.dataset, wanted, vintage)
        if unchanged is not None:
            earlier = unchanged.place or ""
            tell_unchanged(workspace, configuration, vintage, unchanged.vintage, earlier)
            return {"release": earlier, UNCHANGED: unchanged.vintage}
    measurement = hand_over_tables(workspace, configuration, described, table, answers)
    compare_with_last(workspace, configuration, described, source, table)
    with opened_run(workspace, configuration) as public_run:
        built = build_table_steps(public_run, configuration, measurement, last)
        release = release_steps(public_run, configuration, measurement, built, (source, typed, table))
        if wanted is not None:
            record_output(public_run, configuration.dataset, wanted, vintage, release)
    places = {}
    if reaches(last, "evaluate"):
        bins = public_edges(described.schema, place.selection.columns)
        if configuration.evaluate_sensitive:
            words = configuration.report.words
            evaluated = evaluate_tables(run, bins, configuration.prefix, words, typed, table, answers)
            places["evaluation"] = evaluated.key
        request = configuration.evaluate_utility
        if request is not None:
            places["utility"] = measure_worth(run, request, configuration.prefix, typed, table, bins).key
    return places | {"release": release.key}


@dataclass(frozen=True)
class SensitiveRun:
    """Where the sensitive side works, and with what."""

    run: RunWorkspace
    selection: Selection
    origin: Origin
    described: RunFacts

    def part(self, columns: tuple[str, ...]) -> Part:
        """Some of the selection's columns, with what their trees depend on alone."""
        settings = self.selection.settings.for_trees(columns)
        return Part(columns=columns, settings=settings, origin=self.origin)


def _prepare_run(workspace: Workspace, configuration: RunConfiguration) -> SensitiveRun:
    """All that is known before a row is read; the person is told of it, and it is written down."""
    workspace.prepare()
    workspace.clear_leftovers(configuration.dataset)
    with announce_if_late(configuration, scheduled_date()):
        described = describe(configuration, scheduled_date())
    require_not_withdrawn(workspace, configuration.dataset, described.vintage)
    selection = described.synthesized
    tell_notes(described)
    settings = selection.settings
    safe = ", ".join(_declared_names(configuration, settings.value_safe_columns))
    for line in weaker_protection_notes(
        settings.parameters().anonymization, settings.value_safe_columns, safe or "public columns"
    ):
        tell(line)
    tell_of_private_releases(workspace, configuration.dataset, "release of SynDiffix")
    run = begin_run(workspace, configuration)
    table = synthesized_table(described.source, selection, described.pattern)
    origin = Origin.of(workspace, configuration.dataset, selection.ids, table)
    return SensitiveRun(run, selection, origin, described)


def _read_table(configuration: RunConfiguration, place: SensitiveRun) -> tuple[StoredTable, StoredTable]:
    """The operator's table, judged by its contract where it has one; and the same with types."""
    described, run = place.described, place.run
    source = locate_table(run, described.source)
    if described.contract is not None:
        judge_contract(run, source, described.contract, described.schema, None)
    columns = tuple(
        (column.name, column.letter, asdict(column.number_format), column.reading.as_declared())
        for column in place.selection.table
    )
    typed = type_columns(run, source, columns, place.selection.ids)
    report_dropped_cells(run, configuration, typed)
    # Changed since it was made: an error, also where all that would read it is cached.
    schema = pq.read_schema(run.path(typed) / TABLE)
    named = _declared_names(configuration, [column.name for column in place.selection.table])
    # On raw data, not on what is released: for the terminal alone.
    if not described.source.is_parquet:
        for line in inferred_type_notes([c for c in place.selection.table if c.name in named], schema):
            say(line)
    edges = public_edges(described.schema, place.selection.columns)
    if unbinned := [name for name in edges if not _takes_bins(schema.field(name).type)]:
        say(
            "ATTENTION: bins need numbers or times, and these columns hold neither: "
            f"{', '.join(map(repr, unbinned))}. Remove their bins, or correct their types."
        )
    return source, typed


def _tell_result(configuration: RunConfiguration, place: SensitiveRun, table: StoredTable) -> None:
    settings, made = place.selection.settings, pq.read_metadata(place.run.path(table) / TABLE)
    if not made.num_rows:
        mean = settings.parameters().anonymization.low_count_params.mean
        tell(NOTES.say("empty", mean=f"{mean:g}"))
    left = [name for name in place.selection.columns if name not in made.schema.names]
    if left:
        tell(
            left_out_note(
                _declared_names(configuration, left), len(left), str(target_of(settings.clustering))
            )
        )


def _declared_names(configuration: RunConfiguration, columns: Sequence[str]) -> list[str]:
    """Those that the configuration names: other headers are told to nobody."""
    declared = set(map(matching_name, configuration.input.use_columns))
    return [name for name in columns if matching_name(name) in declared]


def _synthesize(typed: StoredTable, place: SensitiveRun) -> tuple[StoredTable, StoredTable | None]:
    run, whole = place.run, place.part(place.selection.columns)
    solved = _solve(typed, place)
    questions = place.selection.questions
    if current_engine().is_elsewhere:
        grow_trees(run, typed, solved, questions, whole)
    drawn = []
    for number, combination in enumerate(stored_clusters(run, solved).combinations, start=1):
        part = place.part(tuple(place.selection.columns[column] for column in combination))
        drawn.append(synthesize_cluster.named(f"cluster-{number}")(run, typed, part))
    table = stitch_clusters(run, typed, solved, drawn, whole)
    return table, answer_questions(run, typed, questions, whole) if questions else None


def _solve(typed: StoredTable, place: SensitiveRun) -> StoredTable:
    columns, measured = place.selection.columns, None
    settings = place.selection.settings.for_clusters(columns)
    part = Part(columns=columns, settings=settings, origin=place.origin)
    if needs_dependence(settings.parameters().clustering, len(columns)):
        measured = measure_dependence(place.run, typed, part)
    return solve_clusters(place.run, typed, measured, part)


def _takes_bins(kind: pa.DataType) -> bool:
    return kind_of(kind) in ("integer", "real") or pa.types.is_time(kind)
