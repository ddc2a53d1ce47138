"""What the measuring side handed over for publishing: a class a protection, and how its folder is opened.

All of it is protected, so who may publish may read it; ledger and ``sensitive/`` may stay closed to them.

under differential privacy    measurement/        as drawn; with contract.json, verdicts of a strict contract
                              ledger.json         the account at its commit
under k-anonymity             aggregates/         the rounded counts
                              schema.json         the public schema
                              synthetic_records/  of a mode that reads raw records
of SynDiffix                  schema.json         the public schema
                              synthetic_table/    stitched and shuffled
                              tables/             one a question
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import held_schema, naming_parameters
from tasks.configuration.synthesis import AnySynthesis, ValueSeeded
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.arrays import Json
from tasks.core.contracts.odcs import load_contract
from tasks.core.dp.digest import configuration_digest
from tasks.core.dp.measurement import Measurement, measurement_sha256, read_measurement
from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.workload.measurement import COUNTS, WorkloadMeasurement, read_workload_measurement
from tasks.core.errors import InternalError, ParameterError, StoredTableMismatch
from tasks.core.hints import no_such_file, show_path
from tasks.core.lineage import CONFIGURATION, MEASUREMENT
from tasks.core.records.columns import Schema
from tasks.core.sentences import sentences_of
from tasks.core.statement.differential_privacy.statement import LedgerFacts, RunChoices, accounted_statement
from tasks.core.statement.k_anonymity import AnonymityFacts, anonymity_statement
from tasks.core.statement.syndiffix import LABEL
from tasks.core.stored_files import file_sha256, folder_sha256
from tasks.storage import MEASUREMENT as HANDED_OVER
from tasks.storage import StoredTable, Workspace, load_json, vintage_in_name
from tasks.version import code_version

NAME = "name.json"
#: The ledger's account at the commit of what was drawn.
ACCOUNT = "ledger.json"
#: The verdicts of a strict contract, in a measurement.
CONTRACT = "contract.json"
#: The ``input`` section of a configuration without where it lies; a contract by the SHA-256 of its file.
DeclaredInput = dict[str, object]

_TEXT, _ROUNDED_TEXT = sentences_of("differential_privacy"), sentences_of("k_anonymity")
_NORMALISED = "the measurement, normalised (post-processing)"
_ROUNDED = "true counts, rounded down to multiples of the reporting resolution"


class MadeFrom(NamedTuple):
    """What a released file was made from."""

    made_from: str
    parents: tuple[str, ...]  # released files without their prefix, or what no release holds (core.lineage)


@dataclass(frozen=True)
class Bundle(ABC):
    """One handed-over folder."""

    folder: Path
    regime: str
    dataset: str
    vintage: str
    digest: str  # of the public configuration that it was made with
    input: DeclaredInput  # what was declared of the table; see `declared_input`

    @abstractmethod
    def crossing(self, configuration: RunConfiguration) -> dict[str, str]:
        """What the lineage says of it: protection and strength, what it was made of, how it came over."""

    @property
    def contract_mode(self) -> Literal["none", "repair", "strict"]:
        """What a data contract did: there was none, it mended the table, or it could stop the run."""
        if self.input["contract"] is None:
            return "none"
        return "strict" if self.input.get("contract_mode") == "strict" else "repair"

    @property
    def is_drafted(self) -> bool:
        return bool(self.input.get("drafted_from_table", False))

    def drawn(self) -> Measurement | WorkloadMeasurement | None:
        """What was drawn with noise; None where nothing was."""
        return None

    def schema(self) -> Schema:
        return Schema.from_json((self.folder / "schema.json").read_text(encoding="utf-8"))

    def sha256(self) -> str:
        """Of what was measured: what the ledger's commit records, or all that was handed over."""
        return folder_sha256(self.folder)


class DrawnBundle(Bundle):
    def crossing(self, configuration: RunConfiguration) -> dict[str, str]:
        privacy = configuration.privacy
        return {
            "protection": f"epsilon {privacy.epsilon:g}, delta {privacy.delta:g}",
            "made_from": "drawn once, kept in the ledger",
            "crossing": "drawn once",
        }

    def drawn(self) -> Measurement | WorkloadMeasurement:
        folder = self.folder / "measurement"
        is_workload = (folder / COUNTS).is_file()
        return read_workload_measurement(folder) if is_workload else read_measurement(folder)

    def workload(self) -> WorkloadMeasurement:
        """What was drawn of a workload, for records that are fitted to it."""
        measurement = self.drawn()
        assert isinstance(measurement, WorkloadMeasurement), "records are fitted to a workload's tables"
        return measurement

    def schema(self) -> Schema:
        return self.drawn().schema

    def sha256(self) -> str:
        """Of what was drawn: what the ledger's commit records."""
        return measurement_sha256(self.folder / "measurement")

    def reportable(self) -> Aggregates:
        measurement = self.drawn()
        assert isinstance(measurement, Measurement), "a workload's counts are those of its fitted records"
        return normalised_counts(measurement)

    def synthesis_seed(self) -> int:
        """A seed that follows from the noise that was drawn."""
        digest = hashlib.sha256(f"synthesis {self.sha256()}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    def statement(self, configuration: RunConfiguration, reported: Aggregates) -> Json:
        measured, facts = self.drawn(), LedgerFacts(**load_json(self.folder / ACCOUNT))
        if not measured.private:
            raise InternalError("A measurement of the seeded test engine can't be released.")
        if facts.unit != unit_of(measured.schema):
            raise InternalError("The unit of a release's account must be that of its records.")
        contract = configuration.input.contract
        choices = RunChoices(
            strict_contract=str(self.verdicts()["sha256"]) if self.contract_mode == "strict" else None,
            least_records=load_contract(Path(contract)).min_rows if contract else None,
            unused_keys=configuration.unused_keys,
            measurement_sha256=self.sha256(),
            contract_sha256=str(self.input["contract"] or ""),
            skips_unchanged=configuration.skips_unchanged,
            drafted_from_table=self.is_drafted,
        )
        return accounted_statement(measured, facts, code_version(), choices)

    def protection(self, configuration: RunConfiguration) -> str:
        return _TEXT.say("promise.of_each_file")

    @property
    def origins(self) -> Mapping[str, MadeFrom]:
        stated = MadeFrom("public parameters and the measurement", (CONFIGURATION, MEASUREMENT))
        return {"counts": MadeFrom(_NORMALISED, (MEASUREMENT,)), "privacy.json": stated}

    def verdicts(self) -> Json:
        """A strict contract's verdicts on the table that was measured."""
        body: Json = load_json(self.folder / "measurement" / CONTRACT)
        return body


class RoundedBundle(Bundle):
    def crossing(self, configuration: RunConfiguration) -> dict[str, str]:
        return {
            "protection": f"k-anonymity, k = {configuration.reporting_resolution}",
            "made_from": "true counts, rounded down",
            "crossing": "rounded down",
        }

    def reportable(self) -> Aggregates:
        return read_aggregates(self.folder / "aggregates")

    def synthesis_seed(self) -> int:
        """A seed that follows from the rounded counts and a secret."""
        return int(load_json(self.folder / "aggregates" / "seed.json")["synthesis"])

    def statement(self, configuration: RunConfiguration, reported: Aggregates) -> Json:
        synthesis, schema = configuration.synthesis, self.schema()
        held = held_schema(configuration, schema)
        oversampling = None
        if isinstance(synthesis, ValueSeeded) and synthesis.oversampling_ratio is not None:
            oversampling = (synthesis.oversampling_ratio, synthesis.oversampling_tries)
        facts = AnonymityFacts(
            dataset=self.dataset,
            vintage=self.vintage,
            unit=unit_of(schema),
            schema=schema,
            resolution=configuration.reporting_resolution,
            reporting_length=reported.reporting_length,
            synthesis_mode=synthesis.mode,
            hold_resolution=synthesis.mode == "aggregate_seeded" and synthesis.reads_records,
            oversampling=oversampling,
            measurement_sha256=self.sha256(),
            contract_mode=self.contract_mode,
            unused_keys=configuration.unused_keys,
            record_limit=configuration.input.record_limit,
            held=held if held.constraints else None,
            contract_sha256=str(self.input["contract"] or ""),
            drafted_from_table=self.is_drafted,
        )
        return anonymity_statement(facts, reported, code_version())

    def protection(self, configuration: RunConfiguration) -> str:
        if configuration.reporting_resolution == 1:
            return _ROUNDED_TEXT.say("promise.of_each_file_at_one")
        return _ROUNDED_TEXT.say("promise.of_each_file")

    @property
    def origins(self) -> Mapping[str, MadeFrom]:
        parents = (CONFIGURATION, "reportable_aggregates.tsv")
        stated = MadeFrom("public parameters and the rounded counts", parents)
        return {"counts": MadeFrom(_ROUNDED, (MEASUREMENT,)), "privacy.json": stated}


class TablesBundle(Bundle):
    def crossing(self, configuration: RunConfiguration) -> dict[str, str]:
        return {
            "protection": LABEL,
            "made_from": "synthetic tables, stitched and shuffled",
            "crossing": "noise, suppression, stitching",
        }


#: A bundle of protected counts: what a release of counts and records is made of.
CountsBundle = DrawnBundle | RoundedBundle
#: A protection's bundle, by the name of its regime in `name.json`.
KINDS: dict[str, type[Bundle]] = {
    "differential_privacy": DrawnBundle,
    "k_anonymity": RoundedBundle,
    "syndiffix": TablesBundle,
}


def public_seed(bundle: CountsBundle, synthesis: AnySynthesis) -> int:
    """The seed of a mode that reads a release alone: the configured one, else the bundle's.

    A bundle's follows from its rounded counts and a secret, or from the noise that was drawn: a rebuild has
    it again.
    """
    if synthesis.random_seed is not None:
        return synthesis.random_seed.get_secret_value()
    return bundle.synthesis_seed()


def open_bundle(workspace: Workspace, measurement: StoredTable) -> Bundle:
    return _read(workspace.path(measurement))


def open_counts(workspace: Workspace, measurement: StoredTable) -> CountsBundle:
    bundle = open_bundle(workspace, measurement)
    assert isinstance(bundle, CountsBundle), "a release of counts is made of counts"
    return bundle


def open_drawn(workspace: Workspace, measurement: StoredTable) -> DrawnBundle:
    bundle = open_bundle(workspace, measurement)
    assert isinstance(bundle, DrawnBundle), "only what was drawn is read as it was drawn"
    return bundle


def _read(folder: Path) -> Bundle:
    name = load_json(folder / NAME)
    regime = name["regime"]
    # What was drawn is named by the ledger's account of it.
    account = folder / ACCOUNT
    about = load_json(account) if account.is_file() else name
    return KINDS[regime](folder, regime, about["dataset"], about["vintage"], name["digest"], name["input"])


def configured_digest(configuration: RunConfiguration, schema: Schema) -> str:
    """Of every public setting that decides how the table is read, what is told of it, or what is drawn.

    That a strict contract was kept is told of the very table that was drawn from, so another contract is
    another release: two of them over one draw would tell two facts for one charge. One that repairs is in
    the schema as far as it decides what is drawn; where nothing is drawn once, all of it names the release.
    """
    table, reading = configuration.input, configuration.input.reading()
    if table.contract is None:
        reading.pop("contract_mode", None)
    elif table.contract_mode == "strict" or not configuration.protection.is_drawn_once:
        reading["contract"] = load_contract(Path(table.contract)).meaning
    return configuration_digest(schema, naming_parameters(configuration, schema), reading)


def require_made_as_configured(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable
) -> None:
    """Refuse to publish a measurement under a configuration that it was not made with.

    The release would hold settings, a dataset and a promise about its contract that are not its own.
    """
    bundle, declared = open_bundle(workspace, measurement), declared_input(configuration)
    same_regime = bundle.regime == configuration.protection.regime
    wrong = [
        words
        for words, differs in (
            (f"the dataset {bundle.dataset!r}", bundle.dataset != configuration.dataset),
            (f"the vintage {bundle.vintage!r}", configuration.vintage not in (None, bundle.vintage)),
            (
                "other settings of protection",
                not same_regime or configured_digest(configuration, bundle.schema()) != bundle.digest,
            ),
            ("another contract or other declarations of its input", declared != bundle.input),
        )
        if differs
    ]
    if wrong:
        raise ParameterError(
            "A measurement must be published under the configuration that it was drawn with, but "
            f"{measurement.key} was drawn with {' and '.join(wrong)}. Give that configuration, or make "
            "another measurement with marginalia run."
        )


def find_measurement(
    workspace: Workspace, configuration: RunConfiguration, folder: str | None
) -> StoredTable:
    """A handed-over measurement: the named one, else the newest that was made as configured."""
    home = workspace.root / HANDED_OVER / configuration.dataset
    if folder is not None:
        found = [Path(folder).absolute()]
    else:
        found = sorted(home.glob("*"), key=lambda path: path.stat().st_mtime)
        found = [path for path in found if configuration.vintage in (None, vintage_in_name(path))]
    found = [path for path in found if (path / NAME).is_file()]
    if not found:
        is_asked_for = folder is None and configuration.vintage
        of_vintage = f" of vintage {configuration.vintage!r}" if is_asked_for else ""
        raise ParameterError(
            f"Publishing needs a measurement{of_vintage}, but there is none at "
            f"{show_path(Path(folder or home))}. "
            "Make one with marginalia run."
        )
    is_alone = len(found) == 1
    fitting = (path for path in reversed(found) if is_alone or _is_made_as(path, configuration))
    place = next(fitting, found[-1])
    _require_sealed(place)
    key = place.relative_to(workspace.root) if place.is_relative_to(workspace.root) else place
    return StoredTable(key.as_posix(), folder_sha256(place), HANDED_OVER, "measurement")


def _is_made_as(place: Path, configuration: RunConfiguration) -> bool:
    _require_sealed(place)
    bundle = _read(place)
    with suppress(ParameterError):
        is_same_regime = bundle.regime == configuration.protection.regime
        return is_same_regime and configured_digest(configuration, bundle.schema()) == bundle.digest
    return False


def seal(folder: Path, name: dict[str, object]) -> None:
    """Write ``name.json``, last, with the hash of all else: what is changed later is not published."""
    text = json.dumps({**name, "sha256": folder_sha256(folder)}, sort_keys=True)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def _require_sealed(folder: Path) -> None:
    name = load_json(folder / NAME)
    if name.get("sha256") != folder_sha256(folder, without=NAME):
        raise StoredTableMismatch(
            f"Measurements must never change, but {folder} was changed after it was handed over. Find out "
            "what changed it. Then do marginalia run again: it hands over what was measured."
        )


def unit_of(schema: Schema) -> str:
    """Whose presence a release hides: a ``subject``'s or a ``row``'s."""
    return "subject" if schema.subject_id else "row"


def declared_input(configuration: RunConfiguration) -> DeclaredInput:
    """What a configuration declares of its table."""
    body: DeclaredInput = configuration.input.model_dump(mode="json", exclude={"path", "contract"})
    contract = configuration.input.contract
    try:
        return body | {"contract": None if contract is None else file_sha256(Path(contract))}
    except FileNotFoundError:
        raise ParameterError(no_such_file("The data contract", Path(str(contract)))) from None
    except OSError as error:
        raise ParameterError(
            f"The data contract {show_path(Path(str(contract)))} can't be read ({error.strerror}), and "
            "publishing needs the very file that the measurement was made with: check its path and "
            "permissions."
        ) from None
