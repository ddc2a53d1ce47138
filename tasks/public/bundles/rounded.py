"""What rounded counts were handed over with, and what their release says: k-anonymity.

aggregates/         the rounded counts
schema.json         the public schema
synthetic_records/  of a mode that reads raw records
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import anonymity_parameters, held_schema
from tasks.configuration.synthesis import ValueSeeded
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.arrays import Json
from tasks.core.dp.digest import Parameters
from tasks.core.lineage import CONFIGURATION, MEASUREMENT
from tasks.core.records.columns import Schema
from tasks.core.sentences import sentences_of
from tasks.core.statement.contract_verdicts import RoundedNumbers
from tasks.core.statement.k_anonymity import AnonymityFacts, anonymity_statement
from tasks.public.bundles.bundle import CountsBundle, MadeFrom, unit_of
from tasks.version import code_version

_TEXT = sentences_of("k_anonymity")
_ROUNDED = "true counts, rounded down to multiples of the reporting resolution"


class RoundedBundle(CountsBundle):
    """Rounded counts."""

    crossing: ClassVar[str] = "rounded down"
    made_of: ClassVar[str] = "true counts, rounded down"

    @staticmethod
    def parameters(configuration: RunConfiguration, schema: Schema) -> Parameters:
        return anonymity_parameters(configuration, schema)

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
        text = (self.folder / "aggregates" / "seed.json").read_text(encoding="utf-8")
        return int(json.loads(text)["synthesis"])

    def statement(self, configuration: RunConfiguration, reported: Aggregates) -> Json:
        """``privacy.json``."""
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
            return _TEXT.say("promise.of_each_file_at_one")
        return _TEXT.say("promise.of_each_file")

    @property
    def origins(self) -> Mapping[str, MadeFrom]:
        parents = (CONFIGURATION, "reportable_aggregates.tsv")
        stated = MadeFrom("public parameters and the rounded counts", parents)
        return {"counts": MadeFrom(_ROUNDED, (MEASUREMENT,)), "privacy.json": stated}
