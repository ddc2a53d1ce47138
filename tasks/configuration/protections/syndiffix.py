"""SynDiffix: what a configuration says of it, by the reference's names.

Ranges are checked by the core's own parameters (`tasks.configuration.syndiffix_parameters`), so that the
command and the flow refuse the same values.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationError

from tasks.configuration.places import MEASURING_KEYS, PRIVATE_KEYS, SYNDIFFIX
from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.syndiffix_parameters import problems
from tasks.core.syndiffix.settings import DefaultClustering
from tasks.core.tables.texts import TypeLetter

if TYPE_CHECKING:
    from tasks.configuration.model import RunConfiguration

_Clustering = Literal["default", "single", "none", "ml", "clusters"]
_ColumnSets = tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...]


class SynDiffix(ProtectionSettings):
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
    clustering: _Clustering = "default"
    main_column: str | None = None
    sample_size: int = DefaultClustering.sample_size
    max_weight: float = DefaultClustering.max_weight
    merge_threshold: float = DefaultClustering.merge_threshold
    solver_alpha: float = DefaultClustering.solver_alpha
    target_column: str | None = None
    drop_non_features: bool = False
    main_features: tuple[str, ...] = Field((), description="Features of the target; none: selected.")
    clusters: dict[str, Any] | None = Field(None, description="The JSON of the reference's --clusters.")
    tables: Literal["pairs"] | _ColumnSets = Field(
        (), description="Column sets that each get an accurate table of their own, or all pairs."
    )

    modes: ClassVar[tuple[str, ...]] = (SYNDIFFIX,)
    unread: ClassVar[frozenset[str]] = PRIVATE_KEYS | MEASURING_KEYS
    lacking: ClassVar[tuple[str, ...]] = ("reporting_length", "reporting_resolution", "output_forms")
    is_salted: ClassVar[bool] = True

    @property
    def id_columns(self) -> tuple[str, ...]:
        """Each says in its own way whose row it is."""
        return self.further_ids

    @classmethod
    def problems_beside(cls, wrong: set[str], given: Mapping[str, Any]) -> list[str]:
        """What the core refuses of settings that are read."""
        if wrong & CLUSTERING_KEYS["ml"] | wrong & CLUSTERING_KEYS["clusters"]:
            wrong = wrong | {"clustering"}  # which would be said to lack the wrong key
        try:
            settings = cls.model_validate({key: given[key] for key in given if key not in wrong})
        except ValidationError:
            return []
        return settings.out_of_range

    def impossible(self, run: "RunConfiguration", given: set[str]) -> list[str]:
        """What the core refuses."""
        return self.out_of_range

    @property
    def out_of_range(self) -> list[str]:
        """What the core refuses of these settings, under the file's name of the section."""
        return [f"{SYNDIFFIX}: {problem}" for problem in problems(self)]

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

#: Keys of the ``syndiffix`` section: the model's, and ``columns``, which `flat_file` takes apart.
SECTION_KEYS = frozenset(SynDiffix.model_fields) - {"regime", "further_ids", "types"} | {"columns"}
