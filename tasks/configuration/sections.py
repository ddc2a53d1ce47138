"""Sections of a configuration: what it says of SynDiffix, by the reference's names, and of utility.

Ranges are checked by the core's own parameters (`tasks.configuration.syndiffix_parameters`), so that the
command and the flow refuse the same values.
"""

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from tasks.core.hints import did_you_mean
from tasks.core.records.columns import Schema
from tasks.core.syndiffix.settings import DefaultClustering
from tasks.core.tables.column_names import matching_name
from tasks.core.tables.texts import TypeLetter


class Model(BaseModel):
    """Frozen, and every key known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Clustering = Literal["default", "single", "none", "ml", "clusters"]
ColumnSets = tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...]


class SynDiffix(Model):
    """SynDiffix: not differentially private (syndiffix.md 1.1)."""

    regime: Literal["syndiffix"] = "syndiffix"
    further_ids: tuple[str, ...] = Field((), description="Id columns beside subject_id.")
    types: dict[str, TypeLetter] = Field({}, description="Declared types by column; others are inferred.")
    value_safe_columns: tuple[str, ...] = Field((), description="Columns whose values are public.")
    low_threshold: int = 3
    layer_sd: float = 1.0
    low_mean_gap: float = 2.0
    outlier_count: tuple[int, int] = (2, 5)
    top_count: tuple[int, int] = (2, 5)
    layer_noise_sd: float = 1.0
    singularity_low_threshold: int = 5
    range_low_threshold: int = 15
    precision_limit_row_fraction: int = 10_000
    precision_limit_depth_threshold: int = 15
    clustering: Clustering = "default"
    main_column: str | None = None
    sample_size: int = DefaultClustering.sample_size
    max_weight: float = DefaultClustering.max_weight
    merge_threshold: float = DefaultClustering.merge_threshold
    solver_alpha: float = DefaultClustering.solver_alpha
    target_column: str | None = None
    drop_non_features: bool = False
    main_features: tuple[str, ...] = Field((), description="Features of the target; none: selected.")
    clusters: dict[str, Any] | None = Field(None, description="The JSON of the reference's --clusters.")
    tables: Literal["pairs"] | ColumnSets = Field(
        (), description="Column sets that each get an accurate table of their own, or all pairs."
    )

    def for_trees(self, columns: Collection[str]) -> "SynDiffix":
        """What the trees of some columns depend on."""
        return self._only(_OF_TREES, columns)

    def for_clusters(self, columns: Collection[str]) -> "SynDiffix":
        """What the clusters of some columns depend on."""
        return self._only(_OF_TREES | _OF_CLUSTERS, columns)

    def _only(self, names: frozenset[str], columns: Collection[str]) -> "SynDiffix":
        safe = tuple(name for name in self.value_safe_columns if name in columns)
        kept = {name: getattr(self, name) for name in names}
        return SynDiffix(value_safe_columns=tuple(sorted(safe)), **kept)


#: What each way of clustering reads beside what all read.
CLUSTERING_KEYS: dict[str, frozenset[str]] = {
    "default": frozenset({"main_column", "sample_size", "max_weight", "merge_threshold", "solver_alpha"}),
    "single": frozenset(),
    "none": frozenset(),
    "ml": frozenset({"target_column", "drop_non_features", "main_features", "max_weight"}),
    "clusters": frozenset({"clusters"}),
}

_OF_CLUSTERS = frozenset({"clustering"}).union(*CLUSTERING_KEYS.values())
_OF_TREES = (
    frozenset(SynDiffix.model_fields)
    - _OF_CLUSTERS
    - {"regime", "further_ids", "types", "value_safe_columns", "tables"}
)

#: Keys of the ``syndiffix`` section: the model's, and ``columns``, which `configuration_file` takes apart.
SECTION_KEYS = frozenset(SynDiffix.model_fields) - {"regime", "further_ids", "types"} | {"columns"}


class UtilityRequest(Model):
    """That utility is measured, and the columns that two of its measures are about.

    Attributes:
        target: the column to predict (train-synthetic-test-real); None: nothing is predicted.
        group: the column that is in every set of the k-marginal score; None: the score is over pairs.
    """

    target: str | None = Field(None, description="The column to predict.")
    group: str | None = Field(None, description="The column in every set of the k-marginal score.")


def _request(given: object) -> object:
    """``true`` asks for all that needs no column; ``false`` is the same as leaving the key out."""
    if isinstance(given, UtilityRequest) or given is None or given is False:
        return given or None
    if given is True:
        return UtilityRequest()
    if not isinstance(given, dict):
        raise ValueError('must be true, false or an object such as {"target": "income", "group": "region"}')
    known = tuple(UtilityRequest.model_fields)
    for key, column in given.items():
        if key not in known:
            meant = did_you_mean(key, known) or f"give {' or '.join(known)}"
            raise ValueError(f"has no key {key!r}: {meant}")
        if column is not None and not isinstance(column, str):
            raise ValueError(f"must name one column as {key}")
    return UtilityRequest(**given)


OptionalUtility = Annotated[UtilityRequest | None, BeforeValidator(_request)]


def utility_problems(request: UtilityRequest | None, schema: Schema) -> list[str]:
    """What keeps the named columns from being a target and a group, a sentence each."""
    if request is None:
        return []
    columns = {matching_name(column.name): column for column in schema.columns}
    problems = []
    for key, name in (("target", request.target), ("group", request.group)):
        column = None if name is None else columns.get(matching_name(name))
        if name is not None and column is None:
            meant = did_you_mean(name, [each.name for each in schema.columns])
            problems.append(
                f"evaluate_utility.{key} must be a column that is used, and {name!r} is none: "
                f"{meant or 'correct it.'}"
            )
        elif column is not None and column.is_multi_valued:
            problems.append(
                f"evaluate_utility.{key} must be a column of one value a record, and {name!r} holds several "
                "items: name another."
            )
    return problems
