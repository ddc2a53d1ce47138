"""One handed-over folder, as whatever protected it has it read.

Each protection has a bundle of its own (`protections`); `opening` says which folder is meant, and opens it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from tasks.configuration.model import RunConfiguration
from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.errors import ParameterError
from tasks.core.hints import no_such_file, show_path
from tasks.core.records.columns import Schema
from tasks.core.statement.contract_verdicts import ReleasedNumbers
from tasks.core.stored_files import file_sha256, folder_sha256

NAME = "name.json"
#: The ledger's account at the commit of what was drawn.
ACCOUNT = "ledger.json"
#: The verdicts of a strict contract, in a measurement.
CONTRACT = "contract.json"
#: The ``input`` section of a configuration without where it lies; a contract by the SHA-256 of its file.
DeclaredInput = dict[str, object]


class MadeFrom(NamedTuple):
    """What a released file was made from.

    Attributes:
        parents: names of other released files without their prefix, or of what no release holds
            (`tasks.core.lineage`).
    """

    made_from: str
    parents: tuple[str, ...]


@dataclass(frozen=True)
class Bundle(ABC):
    """One handed-over folder.

    Attributes:
        digest: of the public configuration that it was made with.
        input: what was declared of the table; see `declared_input`.
        crossing: how it came over from the sensitive side, in few words.
    """

    folder: Path
    regime: str
    dataset: str
    vintage: str
    digest: str
    input: DeclaredInput

    crossing: ClassVar[str]
    made_of: ClassVar[str]

    @abstractmethod
    def strength(self, configuration: RunConfiguration) -> str:
        """What protects it and how strongly, as the lineage says it."""

    @property
    def contract_mode(self) -> Literal["none", "repair", "strict"]:
        """What a data contract did: there was none, it mended the table, or it could stop the run."""
        if self.input["contract"] is None:
            return "none"
        return "strict" if self.input.get("contract_mode") == "strict" else "repair"

    @property
    def is_drafted(self) -> bool:
        return bool(self.input.get("drafted_from_table", False))

    def schema(self) -> Schema:
        return Schema.from_json((self.folder / "schema.json").read_text(encoding="utf-8"))

    def sha256(self) -> str:
        """Of what was measured: what the ledger's commit records, or all that was handed over."""
        return folder_sha256(self.folder)


class CountsBundle(Bundle):
    """A bundle of protected counts: what a release of counts and records asks of the protection."""

    @property
    def synthetic_records(self) -> Path | None:
        return None

    @abstractmethod
    def reportable(self) -> Aggregates:
        """The counts that a release reports."""

    @abstractmethod
    def synthesis_seed(self) -> int:
        """The seed of records that are made of these counts: a rebuild has it again."""

    @abstractmethod
    def statement(self, configuration: RunConfiguration, reported: Aggregates) -> Json:
        """``privacy.json``."""

    @abstractmethod
    def numbers(self, configuration: RunConfiguration, reported: Aggregates) -> ReleasedNumbers:
        """The released numbers that a contract's rules are judged on."""

    @abstractmethod
    def protection(self, configuration: RunConfiguration) -> str:
        """What protects a released file, as the manifest says it."""

    @property
    @abstractmethod
    def origins(self) -> Mapping[str, MadeFrom]:
        """What released files were made from, by their name without prefix; ``counts`` is of all counts."""

    def drawn(self) -> Measurement | WorkloadMeasurement | None:
        """What was drawn with noise; None where nothing was."""
        return None

    def verdicts(self) -> Json | None:
        """A strict contract's verdicts on the table that was measured; None where none were kept."""
        return None

    def attentions(self) -> list[str]:
        return []


def unit_of(schema: Schema) -> str:
    """Whose presence a release hides: a ``subject``'s or a ``row``'s."""
    return "subject" if schema.subject_id else "row"


def declared_input(configuration: RunConfiguration) -> DeclaredInput:
    """What a configuration declares of its table."""
    body: DeclaredInput = configuration.input.model_dump(mode="json", exclude={"path", "contract"})
    return body | {"contract": _contract_sha256(configuration.input.contract)}


def _contract_sha256(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return file_sha256(Path(path))
    except FileNotFoundError:
        raise ParameterError(no_such_file("The data contract", Path(path))) from None
    except OSError as error:
        raise ParameterError(
            f"The data contract {show_path(Path(path))} can't be read ({error.strerror}), and publishing "
            "needs the very file that the measurement was made with: check its path and permissions."
        ) from None
