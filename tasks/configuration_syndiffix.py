"""What a configuration says of SynDiffix: a frozen model, by the names of the reference's port.

Ranges are checked by the core's own parameters (`tasks.syndiffix_parameters`), so that the command and the
configuration refuse the same things in the same words.
"""

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field

from tasks.core.syndiffix.strategies import DefaultClustering
from tasks.core.syndiffix.texts import TypeLetter
from tasks.models import Model

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
