"""What every protection's settings answer, as public facts that need neither table nor ledger."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from tasks.configuration.sections import Model
from tasks.configuration.synthesis import MODES


class ProtectionSettings(Model):
    """One protection's settings; a class says what differs by the protection alone.

    Attributes:
        modes: the modes of synthesis that it can be had with, the default first.
        unread: keys of the flat file that no run of it reads.
        contract_mode: what a contract does where a file does not say.
        is_drawn_once: a vintage is drawn once, charged to the ledger, and returned whatever becomes of
            the table.
        is_salted: its noise follows from the dataset's salt, of which a table may have one alone.
        on_unchanged: what is done with a table that is what it was, where a file does not say.
    """

    modes: ClassVar[tuple[str, ...]]
    unread: ClassVar[frozenset[str]] = frozenset()
    contract_mode: ClassVar[Literal["repair", "strict"]] = "strict"
    is_drawn_once: ClassVar[bool] = False
    on_unchanged: ClassVar[Literal["draw", "skip"]] = "skip"
    is_salted: ClassVar[bool] = False
    is_silent: ClassVar[bool] = False
    is_parted: ClassVar[bool] = True

    @property
    def id_columns(self) -> tuple[str, ...]:
        """Columns that say whose row it is, beside the table's ``subject_id``."""
        return ()

    @classmethod
    def refusals(cls, mode: str, *, holds: bool) -> list[str]:
        """Why a known mode of synthesis can't be had with it, if it can't.

        Args:
            holds: whether records are to hold the resolution beyond the reporting length.
        """
        if mode in cls.modes or mode not in MODES:
            return []
        return ["synthesis_mode syndiffix is a regime of its own: it can't be combined with another"]

    @classmethod
    def complete(cls, given: dict[str, Any], mode: str) -> None:
        """Add what follows from what is given and the mode of synthesis."""

    @classmethod
    def without_effect(cls, given: Mapping[str, Any], mode: str) -> frozenset[str]:
        """Keys of the flat file that have no effect beside these settings."""
        return frozenset()

    def impossible(
        self, keys: set[str], *, length: int, resolution: int, record_limit: int | None, is_fitted: bool
    ) -> list[str]:
        """Combinations of keys that can't be meant.

        Args:
            keys: of the file, those of `privacy` too, each valid by itself.
            length: the reporting length, -1 for all.
        """
        return []
