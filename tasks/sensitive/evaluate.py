"""Evaluate stage against the raw table: what was lost, exactly, and so for ``sensitive/`` alone."""

from pathlib import Path

from prefect import task

from tasks.configuration.model import RunConfiguration
from tasks.configuration.sections import Model
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.evaluation.raw import RawInputs, evaluate_raw
from tasks.core.evaluation.sensitive_files import write_sensitive_files
from tasks.core.evaluation.sentences import RecordsPromise
from tasks.core.queries import QueryResources
from tasks.core.synthesis.records import read_synthetic_records
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.sensitive.export import Sources
from tasks.storage import StoredTable, Workspace


class EvaluationSettings(Model):
    """What of a run's configuration the evaluation depends on.

    Attributes:
        resolution: below it a combination is rare.
        prefix: of the files' names.
        is_private: whether the release is differentially private.
        holds_resolution: whether the synthetic records are promised beyond the reporting length.
        is_fitted: whether they are fitted, so that only their single values are promised.
    """

    resolution: int
    prefix: str
    is_private: bool
    holds_resolution: bool
    is_fitted: bool

    @classmethod
    def of(cls, configuration: RunConfiguration) -> "EvaluationSettings":
        """Those of a run."""
        return cls(
            resolution=configuration.reporting_resolution,
            prefix=configuration.prefix,
            is_private=configuration.is_private,
            holds_resolution=configuration.synthesis.reads_records,
            is_fitted=configuration.is_fitted,
        )

    @property
    def claim(self) -> RecordsPromise:
        """What is promised of the synthetic records."""
        return RecordsPromise(self.is_private, self.holds_resolution, self.is_fitted)


@task
@sanitised
def evaluate_against_raw(
    workspace: Workspace,
    settings: EvaluationSettings,
    sensitive: tuple[StoredTable, StoredTable],
    released: tuple[StoredTable, StoredTable],
    run: str,
    resources: QueryResources,
) -> StoredTable:
    """Write SDS's evaluation files and ``evaluation.json``.

    Args:
        workspace: where it is.
        settings: what of the configuration matters.
        sensitive: coded records and exact marginals.
        released: reportable aggregates and synthetic records.
        run: the run's folder in ``sensitive/``.
        resources: what queries may use.
    """
    progress = Progress("evaluate")
    inputs = RawInputs(
        records=workspace.path(sensitive[0]),
        sensitive=read_marginals(workspace.path(sensitive[1])),
        reportable=read_aggregates(workspace.path(released[0])),
        synthetic=read_synthetic_records(workspace.path(released[1])),
        resolution=settings.resolution,
    )

    def write(folder: Path) -> None:
        found = evaluate_raw(inputs, resources, lambda done: progress("measures", done))
        write_sensitive_files(found, folder, settings.prefix, settings.claim)
        Sources.of(settings.prefix, settings.resolution, *sensitive).write(folder, inputs.synthetic)

    try:
        return workspace.store(
            workspace.sensitive / run / "evaluation", "evaluation against the raw table", write
        )
    finally:
        progress.close()
