"""What every part of a configuration is: frozen, and every key known."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Frozen, and every key known."""

    model_config = ConfigDict(frozen=True, extra="forbid")
