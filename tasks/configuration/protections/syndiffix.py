"""SynDiffix: what a configuration says of it; its settings are those of `tasks.core.syndiffix.settings`."""

from collections.abc import Collection
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model

from tasks.configuration.protections.differential_privacy import PRIVATE_KEYS
from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.synthesis import MEASURING_KEYS, SYNDIFFIX
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import Clustering, clustering_problem, respell_columns
from tasks.core.syndiffix.settings import (
    CLUSTERING_KEYS,
    SETTINGS,
    Setting,
    SynDiffixParameters,
    clustering_of,
)
from tasks.core.tables.texts import TypeLetter

_ColumnSets = tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...]
_TYPES: dict[str, Any] = {
    "whole": int,
    "number": float,
    "flag": bool,
    "interval": tuple[int, int],
    "column": str | None,
    "columns": tuple[str, ...],
}


def _require_in_range(setting: Setting, value: Any) -> Any:
    if problem := setting.problem(value):
        raise ValueError(problem.removesuffix("."))
    return value


def _require_clustering(value: Any) -> Any:
    if problem := clustering_problem(value):
        raise ValueError(problem)
    return respell_columns(value, str)  # as tuples: a strict model takes no lists from here on


def _field(setting: Setting) -> tuple[Any, Any]:
    limits = (
        {"minimum": setting.least, "maximum": setting.most} if setting.kind in ("whole", "number") else {}
    )
    return Annotated[_TYPES[setting.kind], AfterValidator(partial(_require_in_range, setting))], Field(
        setting.default,
        description=f"{setting.meaning[0].upper()}{setting.meaning[1:]}.",
        json_schema_extra={name: limit for name, limit in limits.items() if isfinite(limit)},
    )


if TYPE_CHECKING:  # the fields are made when the program runs

    class _Settings(ProtectionSettings):
        def __getattr__(self, name: str) -> Any: ...

else:
    _Settings = create_model(
        "_Settings", __base__=ProtectionSettings, **{n: _field(setting) for n, setting in SETTINGS.items()}
    )


class SynDiffix(_Settings):
    """SynDiffix: not differentially private (X1.1)."""

    model_config = ConfigDict(title="SynDiffix")

    regime: Literal["syndiffix"] = "syndiffix"
    further_ids: tuple[str, ...] = Field((), description="Id columns beside subject_id.")
    types: dict[str, TypeLetter] = Field({}, description="Declared types by column; others are inferred.")
    clustering: Annotated[Clustering, BeforeValidator(_require_clustering)] = Field(
        "default",
        description="Which columns are synthesized together: default, one (all), none (each alone), "
        '{"target": column}, or lists of columns.',
    )
    tables: Literal["pairs"] | _ColumnSets = Field(
        (), description="Column sets that each get an accurate table of their own, or all pairs."
    )

    modes: ClassVar[tuple[str, ...]] = (SYNDIFFIX,)
    unread: ClassVar[frozenset[str]] = PRIVATE_KEYS | MEASURING_KEYS
    is_salted: ClassVar[bool] = True
    is_parted: ClassVar[bool] = False

    @property
    def id_columns(self) -> tuple[str, ...]:
        return self.further_ids

    def impossible(
        self, keys: set[str], *, length: int, resolution: int, record_limit: int | None, is_fitted: bool
    ) -> list[str]:
        """What the core refuses of the way of clustering."""
        try:
            clustering_of(dict(self))
        except ParameterError as error:
            return [f"{SYNDIFFIX}: {problem}" for problem in error.problems]
        return []

    def parameters(self, salt: bytes = bytes(32)) -> SynDiffixParameters:
        """The core's parameters, with a salt where noise is drawn. Raises ParameterError."""
        return SynDiffixParameters.of(dict(self), salt)

    def for_trees(self, columns: Collection[str]) -> "SynDiffix":
        """What the trees of some columns depend on."""
        return self._restricted(_TREE_SETTINGS, columns)

    def for_clusters(self, columns: Collection[str]) -> "SynDiffix":
        """What the clusters of some columns depend on."""
        return self._restricted(_TREE_SETTINGS | _CLUSTER_SETTINGS, columns)

    def _restricted(self, names: frozenset[str], columns: Collection[str]) -> "SynDiffix":
        safe = tuple(name for name in self.value_safe_columns if name in columns)
        settings: dict[str, Any] = {name: getattr(self, name) for name in names}
        return SynDiffix(**settings | {"value_safe_columns": tuple(sorted(safe))})


_CLUSTER_SETTINGS = frozenset({"clustering"}).union(*CLUSTERING_KEYS.values())
_TREE_SETTINGS = frozenset(SETTINGS) - _CLUSTER_SETTINGS - {"value_safe_columns"}

#: Keys of the ``syndiffix`` section: the model's, and ``columns``, which `flat_file` takes apart.
SECTION_KEYS = frozenset(SynDiffix.model_fields) - {"regime", "further_ids", "types"} | {"columns"}
