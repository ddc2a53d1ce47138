"""The privacy statement of a release, and the contract's rules judged on released numbers."""

import json
from pathlib import Path

from prefect import task

from tasks.bundles import Bundle, ledger_facts, open_bundle, unit_of
from tasks.configuration import RunConfiguration, ValueSeeded
from tasks.contract_constraints import held_schema
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.anonymity import statement as anonymity
from tasks.core.contracts.contract import load_contract
from tasks.core.contracts.released import contract_json
from tasks.core.contracts.released_numbers import NoisyNumbers, ReleasedNumbers, RoundedNumbers
from tasks.core.dp import statement as privacy
from tasks.core.dp.column_totals import to_look_at
from tasks.core.dp.released_json import MANIFEST_KEYS, check_released_json
from tasks.core.errors import InternalError
from tasks.progress import say
from tasks.storage import StoredTable, Workspace
from tasks.version import code_version

Json = dict[str, object]


@task
def state_privacy(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    aggregates: StoredTable,
    work: str,
) -> StoredTable:
    """Write ``privacy.json`` and, where there is a contract, ``contract.json``."""
    bundle = open_bundle(workspace, measurement)
    reported = read_aggregates(workspace.path(aggregates))
    body = (_drawn if bundle.is_private else _rounded)(bundle, configuration, reported)
    for sentence in _missing(bundle, reported):
        say(sentence)
    if bundle.is_private:
        for sentence in to_look_at(bundle.measurement()):
            say(f"ATTENTION: {sentence}")

    def write(folder: Path) -> None:
        _write_json(folder / "privacy.json", body)
        if configuration.input.contract:
            _write_json(folder / "contract.json", _judged(bundle, configuration, reported))

    return workspace.store(workspace.root / work / "statement", "privacy statement", write)


def _missing(bundle: Bundle, reported: Aggregates) -> list[str]:
    """What whoever runs it should look at: a release without counts, or columns without a released value."""
    if not reported.attributes:
        return [
            "ATTENTION: nothing is released but the number of records: too few of them hold any one value."
        ]
    held = {attribute.column for attribute in reported.attributes}
    missing = [column.name for place, column in enumerate(bundle.schema().columns) if place not in held]
    if not missing:
        return []
    names = ", ".join(map(repr, missing))
    return [
        f"ATTENTION: of {names} no value is released. See that bins, domains, sensitive_zeros and delimiters "
        "are what the column holds."
    ]


def _judged(bundle: Bundle, configuration: RunConfiguration, reported: Aggregates) -> Json:
    """The contract's verdicts: those that were drawn with, else from what is released alone."""
    kept = bundle.verdicts()
    if kept is not None:
        check_released_json(kept, MANIFEST_KEYS)
        return kept
    contract = load_contract(Path(configuration.input.contract or ""))
    numbers: ReleasedNumbers
    if bundle.is_private:
        numbers = NoisyNumbers(bundle.measurement())
    else:
        numbers = RoundedNumbers(bundle.schema(), reported, configuration.reporting_resolution)
    body = contract_json(contract, numbers, reported, strict=bundle.contract_mode == "strict")
    check_released_json(body, MANIFEST_KEYS)
    return body


def _drawn(bundle: Bundle, configuration: RunConfiguration, reported: Aggregates) -> Json:
    """Of a differentially private measurement."""
    measured, facts = bundle.measurement(), ledger_facts(bundle)
    if not measured.private:
        raise InternalError("A measurement of the seeded test engine can't be released.")
    if facts.unit != unit_of(measured.schema):
        raise InternalError("The unit of a release's account must be that of its records.")
    verdicts = bundle.verdicts()
    choices = privacy.RunChoices(
        strict_contract=None if verdicts is None else str(verdicts["sha256"]),
        least_records=_least_records(configuration),
        unused_keys=configuration.unused_keys,
        measurement_sha256=bundle.sha256(),
        contract_sha256=str(bundle.input["contract"] or ""),
    )
    return privacy.statement(measured, facts, code_version(), choices)


def _least_records(configuration: RunConfiguration) -> int | None:
    """What the data contract promises."""
    path = configuration.input.contract
    return load_contract(Path(path)).min_rows if path else None


def _rounded(bundle: Bundle, configuration: RunConfiguration, reported: Aggregates) -> Json:
    """Of rounded counts."""
    synthesis, schema = configuration.synthesis, bundle.schema()
    held = held_schema(configuration, schema)
    oversampling = None
    if isinstance(synthesis, ValueSeeded) and synthesis.oversampling_ratio is not None:
        oversampling = (synthesis.oversampling_ratio, synthesis.oversampling_tries)
    facts = anonymity.AnonymityFacts(
        dataset=bundle.dataset,
        vintage=bundle.vintage,
        unit=unit_of(schema),
        schema=schema,
        resolution=configuration.reporting_resolution,
        reporting_length=reported.reporting_length,
        synthesis_mode=synthesis.mode,
        hold_resolution=synthesis.mode == "aggregate_seeded" and synthesis.reads_records,
        oversampling=oversampling,
        measurement_sha256=bundle.sha256(),
        contract_mode=bundle.contract_mode,
        unused_keys=configuration.unused_keys,
        record_limit=configuration.input.record_limit,
        held=held if held.constraints else None,
        contract_sha256=str(bundle.input["contract"] or ""),
    )
    return anonymity.statement(facts, reported, code_version())


def _write_json(path: Path, body: object) -> None:
    path.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
