"""When a step before the draw may be skipped: same inputs, same parameters, same code.

The key is an HMAC under the workspace's secret: Prefect's database sees keys, and a plain hash of a
sensitive table would confirm a guess of its content. Nothing on or after the draw is cached this way: the
ledger decides there (privacy.md, rule 1).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from prefect import Task
from prefect.cache_policies import CachePolicy
from prefect.context import TaskRunContext
from prefect.serializers import Serializer
from pydantic import BaseModel

from tasks.core.records.columns import Schema
from tasks.storage import StoredTable, Workspace
from tasks.version import code_hash

#: Inputs that say where and with what a step runs, and nothing of what it makes.
_WITHOUT_EFFECT = ("workspace", "run", "resources")

P = ParamSpec("P")


if TYPE_CHECKING:
    _Serializer = Serializer[StoredTable]
else:  # Prefect registers every subclass, and a parametrised one has no name to be registered under
    _Serializer = Serializer


class StoredTableSerializer(_Serializer):
    """A cached reference; refuses to load when its folder is gone, so that the step runs again."""

    type: Literal["stored-table"] = "stored-table"
    root: str

    def dumps(self, obj: StoredTable) -> bytes:
        """The reference as JSON."""
        return json.dumps(obj.to_json(), sort_keys=True).encode()

    def loads(self, blob: bytes) -> StoredTable:
        """The reference, if its folder is there."""
        table = StoredTable(**json.loads(blob))
        if not Workspace(Path(self.root)).exists(table):
            raise FileNotFoundError(table.key)
        return table


@dataclass
class ContentPolicy(CachePolicy):
    """Key: the step's name, the content of its inputs, the code; under the workspace's secret."""

    workspace: Workspace | None = None

    def compute_key(
        self, task_ctx: TaskRunContext, inputs: dict[str, Any], flow_parameters: dict[str, Any], **kwargs: Any
    ) -> str | None:
        """The key, or None (no caching) without a workspace."""
        if self.workspace is None:
            return None
        body = {name: plain(value) for name, value in sorted(inputs.items()) if name not in _WITHOUT_EFFECT}
        text = json.dumps([task_ctx.task.name, code_hash(), body], sort_keys=True)
        return f"{task_ctx.task.name}-{self.workspace.keyed_hash(text)[:40]}"


def plain(value: Any) -> Any:
    """What of an input counts for the key."""
    if isinstance(value, StoredTable):
        return value.sha256
    if isinstance(value, Schema):
        return value.to_json()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return value


def cached(step: Task[P, StoredTable], workspace: Workspace) -> Task[P, StoredTable]:
    """A step that is skipped when its key is known and its folder is still there."""
    return step.with_options(
        cache_policy=ContentPolicy(workspace=workspace),
        persist_result=True,
        result_storage=workspace.results,
        result_serializer=StoredTableSerializer(root=str(workspace.root)),
    )
