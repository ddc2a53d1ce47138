"""What may be published from: a folder that the measuring side handed over goes in, its parts come out.

    <workspace>/measurement/<dataset>/<vintage>-<digest>/name.json           what it is
        under differential privacy                       measurement/        as drawn; contract.json in it:
                                                                             the verdicts of a strict contract
                                                         ledger.json         the account at its commit
        under k-anonymity                                aggregates/         the rounded counts
                                                         schema.json         the public schema
                                                         synthetic_records/  of a mode that reads raw records
        of SynDiffix                                     schema.json         the public schema
                                                         synthetic_table/    stitched and shuffled
                                                         tables/             one a question

All of it is protected, so who may publish may read it; ledger and ``sensitive/`` may stay closed to them.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tasks.configuration import Input, RunConfiguration
from tasks.core.contracts.contract import load_contract
from tasks.core.dp.ledger.names import Parameters, configuration_digest
from tasks.core.dp.measurement import Measurement, measurement_sha256, read_measurement
from tasks.core.dp.statement import LedgerFacts
from tasks.core.dp.workload.measurement import COUNTS, WorkloadMeasurement, read_workload_measurement
from tasks.core.errors import InternalError, ParameterError, StoredTableMismatch
from tasks.core.paths import located, missing
from tasks.core.records.columns import Schema
from tasks.parameters import anonymity_parameters, drawn_settings, syndiffix_parameters
from tasks.storage import MEASUREMENT, StoredTable, Workspace, file_sha256, folder_sha256

NAME = "name.json"
#: The verdicts of a strict contract, in a measurement.
CONTRACT = "contract.json"
_PRIVATE = "differential_privacy"
#: The ``input`` section of a configuration without where it lies; a contract by the SHA-256 of its file.
DeclaredInput = dict[str, object]


@dataclass(frozen=True)
class Bundle:
    """One handed-over folder.

    Attributes:
        folder: where it is.
        regime: as the configuration's protection names it.
        dataset, vintage: what it is named.
        digest: of the public configuration that it was made with.
        input: what was declared of the table; see `declared_input`.
    """

    folder: Path
    regime: str
    dataset: str
    vintage: str
    digest: str
    input: DeclaredInput

    @property
    def is_private(self) -> bool:
        """Whether it is a differentially private measurement."""
        return self.regime == _PRIVATE

    @property
    def contract_mode(self) -> Literal["none", "repair", "strict"]:
        """What a data contract did: there was none, it mended the table, or it could stop the run."""
        if self.input["contract"] is None:
            return "none"
        return "strict" if self.input["contract_mode"] == "strict" else "repair"

    def verdicts(self) -> dict[str, object] | None:
        """A strict contract's verdicts on the table that was drawn from; None where nothing was drawn.

        Raises:
            StoredTableMismatch: a strict measurement has none: an earlier version drew it.
        """
        if not self.is_private or self.contract_mode != "strict":
            return None
        path = self.folder / "measurement" / CONTRACT
        if not path.is_file():
            raise StoredTableMismatch(
                f"A measurement under a strict contract must hold the contract's verdicts; {self.folder} "
                "does not, as an earlier version drew it. Run again: it is drawn, and charged, with them."
            )
        body: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
        return body

    @property
    def aggregates(self) -> Path:
        """The rounded counts, under k-anonymity."""
        return self.folder / "aggregates"

    @property
    def synthetic_records(self) -> Path | None:
        """The records of a mode that reads raw ones, where they were made."""
        records = self.folder / "synthetic_records"
        return records if records.is_dir() else None

    def measurement(self) -> Measurement | WorkloadMeasurement:
        """What was drawn, under differential privacy."""
        folder = self.folder / "measurement"
        is_workload = (folder / COUNTS).is_file()
        return read_workload_measurement(folder) if is_workload else read_measurement(folder)

    def counts_by_length(self) -> Measurement:
        """What was drawn by lengths.

        Raises:
            InternalError: it is another draw.
        """
        found = self.measurement()
        if not isinstance(found, Measurement):
            raise InternalError(
                "Counts by length are made from a draw by lengths; this one is of a workload."
            )
        return found

    def workload(self) -> WorkloadMeasurement:
        """What was drawn of a workload, for records that are fitted to it.

        Raises:
            InternalError: it is another draw.
        """
        found = self.measurement()
        if not isinstance(found, WorkloadMeasurement):
            raise InternalError("Records are fitted to a workload's tables; this draw is by lengths.")
        return found

    def schema(self) -> Schema:
        """The public schema."""
        if self.is_private:
            return self.measurement().schema
        return Schema.from_json((self.folder / "schema.json").read_text(encoding="utf-8"))

    def sha256(self) -> str:
        """Of what was measured: what the ledger's commit records, or all that was handed over."""
        if self.is_private:
            return measurement_sha256(self.folder / "measurement")
        return folder_sha256(self.folder)


def open_bundle(workspace: Workspace, measurement: StoredTable) -> Bundle:
    """The bundle that a reference names, still what the reference says."""
    return _read(workspace.path(measurement))


def _read(folder: Path) -> Bundle:
    name = json.loads((folder / NAME).read_text(encoding="utf-8"))
    regime = name.get("regime", _PRIVATE)
    about = name if regime != _PRIVATE else json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
    return Bundle(folder, regime, about["dataset"], about["vintage"], name["digest"], name["input"])


def ledger_facts(bundle: Bundle) -> LedgerFacts:
    """The account at the commit of a handed-over measurement.

    Raises:
        ParameterError: an earlier version handed it over, without all that a statement says of the account.
    """
    try:
        return LedgerFacts.of(json.loads((bundle.folder / "ledger.json").read_text(encoding="utf-8")))
    except (KeyError, TypeError):
        raise ParameterError(
            f"The measurement {bundle.folder} must hold the whole account that its statement gives; an "
            "earlier version handed it over. Run marginalia run again: it hands over anew and draws nothing."
        ) from None


def declared_input(configuration: RunConfiguration) -> DeclaredInput:
    """What a configuration declares of its table.

    Raises:
        ParameterError: the contract can't be read.
    """
    body: DeclaredInput = configuration.input.model_dump(mode="json", exclude={"path", "contract"})
    return body | {"contract": _contract_sha256(configuration.input.contract)}


def _said(declared: DeclaredInput) -> DeclaredInput:
    """What is not a default: a measurement of before a key was added says nothing of it."""
    silent = Input(path="?").model_dump(mode="json")
    return {key: value for key, value in declared.items() if key not in silent or value != silent[key]}


def _contract_sha256(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return file_sha256(Path(path))
    except FileNotFoundError:
        raise ParameterError(missing("The data contract", Path(path))) from None
    except OSError as error:
        raise ParameterError(
            f"The data contract {located(Path(path))} can't be read ({error.strerror}), and publishing "
            "needs the very file that the measurement was made with: check its path and permissions."
        ) from None


def _preparation(configuration: RunConfiguration) -> dict[str, object]:
    """Public settings beside schema and parameters that change what is counted, or what is told of it.

    That a strict contract was kept is told of the very table that was drawn from, so another contract is
    another release: two of them over one draw would tell two facts for one charge.
    """
    path = configuration.input.contract
    mode = configuration.input.contract_mode if path is not None else "repair"
    settings: dict[str, object] = {"delimiter": configuration.input.delimiter, "contract_mode": mode}
    if configuration.input.encoding != "utf-8":  # named only where it is another: older names stay
        settings["encoding"] = configuration.input.encoding
    if path is not None and mode == "strict":
        settings["contract"] = load_contract(Path(path)).meaning
    return settings


def unit_of(schema: Schema) -> str:
    """Whose presence a release hides: a ``subject``'s or a ``row``'s."""
    return "subject" if schema.subject_id else "row"


def configured_digest(configuration: RunConfiguration, schema: Schema) -> str:
    """Of every public setting that touches what is measured."""
    parameters: dict[str, Callable[[RunConfiguration, Schema], Parameters]] = {
        "differential_privacy": drawn_settings,
        "k_anonymity": anonymity_parameters,
        "syndiffix": syndiffix_parameters,
    }
    found = parameters[configuration.protection.regime](configuration, schema)
    return configuration_digest(schema, found, _preparation(configuration))


def as_measured(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable
) -> RunConfiguration:
    """The configuration, or what its file meant before fitted was the default if that was measured (W21)."""
    before, bundle = configuration.as_before(), open_bundle(workspace, measurement)
    if before is None or not bundle.is_private or configured_digest(before, bundle.schema()) != bundle.digest:
        return configuration
    return before


def require_made_as_configured(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable
) -> None:
    """Refuse to publish a measurement under a configuration that it was not made with.

    The release would hold settings, a dataset and a promise about its contract that are not its own.

    Raises:
        ParameterError: naming what differs.
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
            ("another contract or other declarations of its input", _said(declared) != _said(bundle.input)),
        )
        if differs
    ]
    if wrong:
        raise ParameterError(
            "A measurement must be published under the configuration that it was drawn with; "
            f"{measurement.key} was drawn with {' and '.join(wrong)}. Give that configuration, or measure."
        )


def find_measurement(
    workspace: Workspace, configuration: RunConfiguration, folder: str | None
) -> StoredTable:
    """A handed-over measurement: the named one, else the newest that was made as configured.

    Where a file names no mode, what it meant before fitted was the default counts as well; of the two in one
    vintage it is the one that was drawn first (W21), whichever was handed over last.

    Raises:
        ParameterError: there is none.
        StoredTableMismatch: it was changed since.
    """
    home = workspace.root / MEASUREMENT / configuration.dataset
    if folder is not None:
        found = [Path(folder).absolute()]
    else:
        pattern = f"{configuration.vintage}-*" if configuration.vintage else "*"
        found = sorted(home.glob(pattern), key=lambda path: path.stat().st_mtime)
    found = [path for path in found if (path / NAME).is_file()]
    if not found:
        configuration.require_possible()
        raise ParameterError(
            f"Publishing needs a measurement; none is at {located(Path(folder or home))}. Make one with "
            "marginalia run."
        )
    place = found[0] if len(found) == 1 else _meant(configuration, found)
    _require_sealed(place)
    key = place.relative_to(workspace.root) if place.is_relative_to(workspace.root) else place
    return StoredTable(key.as_posix(), folder_sha256(place), MEASUREMENT, "measurement")


def _meant(configuration: RunConfiguration, places: list[Path]) -> Path:
    """Of several, oldest first, the one that a configuration means; the newest where it means none."""
    before = configuration.as_before()
    meanings = [configuration] if before is None else [configuration, before]
    newest_first = (bundle for bundle in map(_opened, reversed(places)) if _is_made_as(bundle, meanings))
    newest = next(newest_first, None)
    if newest is None:
        return places[-1]
    if before is None:
        return newest.folder
    others = [bundle for bundle in newest_first if bundle.vintage == newest.vintage]
    return (
        min((newest, *others), key=lambda each: ledger_facts(each).releases).folder
        if others
        else newest.folder
    )


def _opened(place: Path) -> Bundle:
    _require_sealed(place)
    return _read(place)


def _is_made_as(bundle: Bundle, meanings: list[RunConfiguration]) -> bool:
    """Whether a bundle has the name that one of the configurations gives."""
    for configuration in meanings:
        with suppress(ParameterError):
            if (
                bundle.regime == configuration.protection.regime
                and configured_digest(configuration, bundle.schema()) == bundle.digest
            ):
                return True
    return False


def name_of(bundle: Bundle) -> dict[str, object]:
    """``name.json`` of a bundle that the ledger has no account of."""
    body = asdict(bundle)
    del body["folder"]
    return body


def seal(folder: Path, name: dict[str, object]) -> None:
    """Write ``name.json``, last, with the hash of all else: what is changed later is not published."""
    text = json.dumps({**name, "sha256": folder_sha256(folder)}, sort_keys=True)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def _require_sealed(folder: Path) -> None:
    """Refuse a bundle that is not as it was handed over.

    Raises:
        StoredTableMismatch: it was changed.
    """
    name = json.loads((folder / NAME).read_text(encoding="utf-8"))
    if name.get("sha256") != folder_sha256(folder, without=NAME):
        raise StoredTableMismatch(
            f"The measurement {folder} was changed after it was handed over, and measurements are never "
            "changed. Find out who did it; then run marginalia run again: it hands over what was measured."
        )
