"""What a release is made of under each protection: what is in its folder, and what the release says.

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
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import held_schema
from tasks.configuration.synthesis import ValueSeeded
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.arrays import Json
from tasks.core.contracts.odcs import load_contract
from tasks.core.dp.measurement import Measurement, measurement_sha256, read_measurement
from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.workload.measurement import COUNTS, WorkloadMeasurement, read_workload_measurement
from tasks.core.errors import InternalError
from tasks.core.lineage import CONFIGURATION, MEASUREMENT
from tasks.core.records.columns import Schema
from tasks.core.sentences import sentences_of
from tasks.core.statement.column_totals import attention_sentences
from tasks.core.statement.contract_verdicts import NoisyNumbers, RoundedNumbers
from tasks.core.statement.differential_privacy.statement import LedgerFacts, RunChoices, accounted_statement
from tasks.core.statement.differential_privacy.words import unmeasured_pairs_note
from tasks.core.statement.k_anonymity import AnonymityFacts, anonymity_statement
from tasks.core.statement.syndiffix import LABEL
from tasks.public.bundles.bundle import ACCOUNT, CONTRACT, Bundle, CountsBundle, MadeFrom, unit_of
from tasks.storage import load_json
from tasks.version import code_version

_TEXT, _ROUNDED_TEXT = sentences_of("differential_privacy"), sentences_of("k_anonymity")
_NORMALISED = "the measurement, normalised (post-processing)"
_ROUNDED = "true counts, rounded down to multiples of the reporting resolution"


class DrawnBundle(CountsBundle):
    crossing: ClassVar[str] = "drawn once"
    made_of: ClassVar[str] = "drawn once, kept in the ledger"

    def strength(self, configuration: RunConfiguration) -> str:
        return f"epsilon {configuration.privacy.epsilon:g}, delta {configuration.privacy.delta:g}"

    def measurement(self) -> Measurement | WorkloadMeasurement:
        folder = self.folder / "measurement"
        is_workload = (folder / COUNTS).is_file()
        return read_workload_measurement(folder) if is_workload else read_measurement(folder)

    def workload(self) -> WorkloadMeasurement:
        """What was drawn of a workload, for records that are fitted to it."""
        measurement = self.measurement()
        assert isinstance(measurement, WorkloadMeasurement), "records are fitted to a workload's tables"
        return measurement

    def schema(self) -> Schema:
        return self.measurement().schema

    def sha256(self) -> str:
        """Of what was drawn: what the ledger's commit records."""
        return measurement_sha256(self.folder / "measurement")

    def reportable(self) -> Aggregates:
        measurement = self.measurement()
        assert isinstance(measurement, Measurement), "a workload's counts are those of its fitted records"
        return normalised_counts(measurement)

    def synthesis_seed(self) -> int:
        """A seed that follows from the noise that was drawn."""
        digest = hashlib.sha256(f"synthesis {self.sha256()}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    def statement(self, configuration: RunConfiguration, reported: Aggregates) -> Json:
        measured, facts = self.measurement(), LedgerFacts(**load_json(self.folder / ACCOUNT))
        if not measured.private:
            raise InternalError("A measurement of the seeded test engine can't be released.")
        if facts.unit != unit_of(measured.schema):
            raise InternalError("The unit of a release's account must be that of its records.")
        verdicts = self.verdicts()
        choices = RunChoices(
            strict_contract=None if verdicts is None else str(verdicts["sha256"]),
            least_records=_least_records(configuration),
            unused_keys=configuration.unused_keys,
            measurement_sha256=self.sha256(),
            contract_sha256=str(self.input["contract"] or ""),
            skips_unchanged=configuration.skips_unchanged,
            drafted_from_table=self.is_drafted,
        )
        return accounted_statement(measured, facts, code_version(), choices)

    def numbers(self, configuration: RunConfiguration, reported: Aggregates) -> NoisyNumbers:
        return NoisyNumbers(self.measurement())

    def protection(self, configuration: RunConfiguration) -> str:
        return _TEXT.say("promise.of_each_file")

    @property
    def origins(self) -> Mapping[str, MadeFrom]:
        stated = MadeFrom("public parameters and the measurement", (CONFIGURATION, MEASUREMENT))
        return {"counts": MadeFrom(_NORMALISED, (MEASUREMENT,)), "privacy.json": stated}

    def drawn(self) -> Measurement | WorkloadMeasurement:
        return self.measurement()

    def verdicts(self) -> Json | None:
        if self.contract_mode != "strict":
            return None
        body: Json = load_json(self.folder / "measurement" / CONTRACT)
        return body

    def attentions(self) -> list[str]:
        """Columns of which much was dropped, and how many pairs were not measured, by released numbers."""
        measurement = self.measurement()
        found = attention_sentences(measurement)
        if isinstance(measurement, WorkloadMeasurement) and measurement.pair_scores is not None:
            found = [*unmeasured_pairs_note(*measurement.measured_pairs), *found]
        return found


def _least_records(configuration: RunConfiguration) -> int | None:
    path = configuration.input.contract
    return load_contract(Path(path)).min_rows if path else None


class RoundedBundle(CountsBundle):
    crossing: ClassVar[str] = "rounded down"
    made_of: ClassVar[str] = "true counts, rounded down"

    def strength(self, configuration: RunConfiguration) -> str:
        return f"k-anonymity, k = {configuration.reporting_resolution}"

    @property
    def synthetic_records(self) -> Path | None:
        records = self.folder / "synthetic_records"
        return records if records.is_dir() else None

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

    def numbers(self, configuration: RunConfiguration, reported: Aggregates) -> RoundedNumbers:
        return RoundedNumbers(self.schema(), reported, configuration.reporting_resolution)

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
    crossing: ClassVar[str] = "noise, suppression, stitching"
    made_of: ClassVar[str] = "synthetic tables, stitched and shuffled"

    def strength(self, configuration: RunConfiguration) -> str:
        return LABEL
