"""When a step may be skipped: same inputs, same parameters, same code.

Before the draw the key is an HMAC under the workspace's secret: Prefect's database sees keys, and a plain
hash of a sensitive table would confirm a guess of its content. What is made from a measurement is keyed by
the measurement, which is protected and may be hashed by anybody.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from prefect import Task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.serializers import Serializer
from pydantic import BaseModel, Secret

from tasks.core.dp.digest import sha256_of
from tasks.core.errors import MarginaliaError
from tasks.core.records.columns import Schema
from tasks.core.records.table import lacks_parts
from tasks.storage import SENSITIVE, RunWorkspace, StoredTable, Workspace
from tasks.version import code_hash

_P = ParamSpec("_P")
_R = TypeVar("_R")


if TYPE_CHECKING:
    _Serializer = Serializer[Any]
else:  # Prefect registers every subclass, and a parametrised one has no name to be registered under
    _Serializer = Serializer


class StoredTableSerializer(_Serializer):
    """A cached reference; refuses to load when its folder is gone, so that the step runs again."""

    type: Literal["stored-table"] = "stored-table"
    root: str

    def dumps(self, obj: StoredTable | BaseException) -> bytes:
        """The reference as JSON. Prefect also hands over what a failed step raised, under a random key."""
        if isinstance(obj, BaseException):  # a text of our own is safe; a library's may carry a cell
            failed = str(obj) if isinstance(obj, MarginaliaError) else type(obj).__name__
            return json.dumps({"failed": failed}).encode()
        return json.dumps(obj.to_json(), sort_keys=True).encode()

    def loads(self, blob: bytes) -> StoredTable | str:
        """The reference, or the text of the failure; whether a table was changed is judged on reading."""
        body = json.loads(blob)
        if "failed" in body:
            return str(body["failed"])
        table = StoredTable(**body)
        folder = Path(self.root) / table.key
        if not folder.is_dir() or lacks_parts(folder):
            raise FileNotFoundError(table.key)
        os.utime(folder)  # when it was last of use
        return table


def content_key(run: RunWorkspace, zone: str, made_of: Sequence[Any]) -> str:
    """A name for what a step of a zone makes: the same inputs and code have the same.

    Where and with what a step runs says nothing of what it makes. The dataset belongs to it: what is made for
    one never lies in another's folder.
    """
    hash_of = run.keyed_hash if zone == SENSITIVE else sha256_of
    body = [as_plain(value) for value in made_of if not isinstance(value, Workspace)]
    return hash_of(json.dumps([code_hash(), run.dataset, body], sort_keys=True))[:40]


def as_plain(value: Any) -> Any:
    if isinstance(value, StoredTable):
        return value.sha256
    if isinstance(value, Schema):
        return value.to_json()
    if isinstance(value, BaseModel):
        return {name: as_plain(getattr(value, name)) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Secret):
        return value.get_secret_value()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [as_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): as_plain(inner) for name, inner in value.items()}
    return value


def skip_if_known(step: Task[_P, _R], zone: str, run: RunWorkspace, made_of: Sequence[Any]) -> Task[_P, _R]:
    """A step that is skipped where the key of what it is made of is known and its folder is as it was.

    Only a step of the zone ``sensitive`` needs access to that folder.
    """
    is_sensitive = zone == SENSITIVE
    results = run.results if is_sensitive else run.public_results
    if not is_sensitive:
        with contextlib.suppress(OSError):
            results.mkdir(parents=True, exist_ok=True)
        if not os.access(results, os.W_OK | os.X_OK):  # another user's: the step runs, and nothing is kept
            return step
    key = f"{step.name}-{content_key(run, zone, made_of)}"
    return step.with_options(
        cache_policy=CacheKeyFnPolicy(cache_key_fn=lambda context, inputs: key),
        persist_result=True,
        result_storage=results,
        result_serializer=StoredTableSerializer(root=str(run.root)),
    )
