"""What a run may use: of its own machine, or of a cluster. Nothing that is released depends on it."""

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from tasks.configuration.form import NOT_ASKED
from tasks.configuration.sections import Model
from tasks.core.tables.places import refused_url, remote_url

_SCHEDULERS = ("tls://", "tcp://")
#: Where work is done: no release says it.
OF_A_CLUSTER = ("engine", "dask_address", "workers", "partitions", "shared_storage")


class Resources(Model):
    """What the run may use of the machine, or of a cluster; nothing that is released depends on it."""

    parallel_jobs: int = Field(1, ge=0, description="Threads; 0: all cores.")
    memory_limit_mb: int = Field(0, ge=0, description="0: four fifths of what is free.")
    cache_max_size: Annotated[int | None, NOT_ASKED] = Field(
        None, description="SDS's; accepted, but without effect."
    )
    engine: Literal["in_process", "dask"] = Field(
        "in_process", description="Where the table is worked on: in the run's own process, or on a cluster."
    )
    dask_address: str = Field(
        "",
        description="Of the cluster's scheduler, such as tls://host:8786; empty: a cluster on this machine.",
    )
    workers: int = Field(2, ge=1, le=1024, description="Processes of a cluster on this machine.")
    partitions: int = Field(
        8, ge=1, le=100_000, description="Of the table on a cluster: a worker holds one at a time in memory."
    )
    shared_storage: str | None = Field(
        None,
        description="Where all workers reach partitions of the table: a URL such as s3://bucket/folder; "
        "None: in output_dir, which they then see under the same path.",
    )

    @field_validator("dask_address")
    @classmethod
    def _of_a_scheduler(cls, value: str) -> str:
        if value and (not value.startswith(_SCHEDULERS) or "@" in value):
            raise ValueError(
                "must be the address of a Dask scheduler that begins with tls:// or tcp://, without "
                "credentials"
            )
        return value

    @field_validator("shared_storage")
    @classmethod
    def _in_storage(cls, value: str | None) -> str | None:
        if value is None:
            return None
        url = remote_url(value)
        if url is None:
            raise ValueError("must be a URL of storage such as s3://bucket/folder; a folder is output_dir")
        if problem := refused_url(url):
            raise ValueError(problem)
        return url

    @model_validator(mode="after")
    def _of_a_cluster(self) -> "Resources":
        given = [name for name in ("dask_address", "shared_storage") if getattr(self, name)]
        if given and self.engine != "dask":
            raise ValueError(f"{given[0]} is for engine: dask; add that, or take it out")
        return self

    @property
    def of_the_machine(self) -> "Resources":
        """The same without a cluster: no release names one."""
        return Resources(
            **{name: getattr(self, name) for name in type(self).model_fields if name not in OF_A_CLUSTER}
        )
