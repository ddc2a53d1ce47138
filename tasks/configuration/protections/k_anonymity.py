"""k-anonymity: what a configuration says of it."""

from typing import ClassVar, Literal

from pydantic import ConfigDict

from tasks.configuration.protections.differential_privacy import PRIVATE_KEYS
from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.synthesis import MEASURING_KEYS, MODE_KEYS


class KAnonymity(ProtectionSettings):
    """k-anonymity: counts rounded down to the reporting resolution, which is k."""

    model_config = ConfigDict(title="k-anonymity")

    regime: Literal["k_anonymity"] = "k_anonymity"

    modes: ClassVar[tuple[str, ...]] = tuple(MODE_KEYS)
    unread: ClassVar[frozenset[str]] = PRIVATE_KEYS | MEASURING_KEYS

    def impossible(
        self, keys: set[str], *, length: int, resolution: int, record_limit: int | None, is_fitted: bool
    ) -> list[str]:
        """Fewer records than any count that is reported."""
        if record_limit is None or record_limit >= resolution:
            return []
        return [
            f"record_limit must be at least the reporting_resolution ({resolution}), or no count can be "
            f"reported; it is {record_limit}."
        ]
