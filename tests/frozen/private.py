"""Scenarios under differential privacy: both ways to measure, both accountants, contracts, the account."""

from typing import Any

from tests.frozen.scenario import Scenario
from tests.frozen.tables import CODES, PEOPLE, VISITS, WARDS, codes, people, text, visits

PEOPLE_CSV = text(people(), PEOPLE)
VISITS_CSV = text(visits(), VISITS)

#: The table of people as a flat configuration; the letter is left out.
PEOPLE_BODY: dict[str, Any] = {
    "sensitive_microdata_path": "people.csv",
    "subject_id": "person",
    "use_columns": ["person", "town", "age", "income", "sex", "services", "work"],
    "multi_value_columns": {"services": ";"},
    "max_items": {"services": 2},
    "bins": {"age": [0, 18, 25, 40, 65], "income": [0, 1000, 3000, 6000]},
    "decimal": {"income": ","},
    "thousands": {"income": "."},
    "domains": {"sex": ["m", "f"]},
    "reporting_length": 3,
    "dp_aggregates": True,
    "noise_epsilon": 6.0,
    "dataset": "people",
    "vintage": "2026-11",
    "prefix": "people",
    "output_dir": "out",
    "report_title": "People, frozen",
    "privacy": {"cap": {"epsilon": 9, "delta": 1e-5}, "population": "people of a test"},
}

VISITS_BODY: dict[str, Any] = {
    "sensitive_microdata_path": "visits.csv",
    "subject_id": "person",
    "use_columns": ["person", "town", "age", "smoker", "ward"],
    "bins": {"age": [0, 20, 40, 60, 80]},
    "domains": {"smoker": ["true", "false"], "ward": list(WARDS)},
    "reporting_length": 2,
    "dp_aggregates": True,
    "noise_epsilon": 4.0,
    "dataset": "visits",
    "vintage": "2026-11",
    "prefix": "visits",
    "output_dir": "out",
    "privacy": {"releases": 12},
}

#: The table of codes; the parallel jobs of this mode, unlike those of others, say which records are drawn.
CODES_BODY: dict[str, Any] = {
    "sensitive_microdata_path": "codes.csv",
    "dp_aggregates": True,
    "noise_epsilon": 8.0,
    "reporting_length": 3,
    "sensitive_zeros": ["A", "B"],
    "synthesis_mode": "aggregate_seeded",
    "dataset": "codes",
    "vintage": "1",
    "prefix": "codes",
    "output_dir": "out",
    "parallel_jobs": 2,
}

#: Domains, identifiers, a dependency, zeros that can't be, a repair; dates in an order.
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: people
version: 1.2.0
status: active
schema:
  - name: people
    customProperties:
      - {property: subjectId, value: person}
      - {property: decimal, value: ","}
      - {property: thousands, value: "."}
      - property: structuralZeros
        value:
          - {age: ["<40"], work: [retired]}
          - {services: [pool], sex: [m]}
          - {work: [student], income: [">=6000"]}
      - property: functionalDependencies
        value: [{from: sex, to: letter, values: {m: a, f: c}, otherwise: b}]
    quality:
      - {metric: rowCount, mustBeGreaterOrEqualTo: 300}
      - type: custom
        engine: marginalia
        implementation: {rule: noPersonalIdentifiers, kinds: [email, telephone]}
    properties:
      - {name: person, required: true}
      - name: town
        quality:
          - {metric: nullValues, unit: percent, mustBeLessOrEqualTo: 20}
          - type: custom
            engine: marginalia
            implementation: {rule: distinctValues, mustBeLessOrEqualTo: 200}
      - {name: age, logicalType: integer, customProperties: [{property: bins, value: [0, 18, 25, 40, 65]}]}
      - name: income
        logicalType: number
        customProperties: [{property: bins, value: [0, 1000, 3000, 6000]}]
      - name: sex
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [m, f]}}]
      - name: services
        logicalType: array
        logicalTypeOptions: {maxItems: 3}
        customProperties: [{property: delimiter, value: ";"}]
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [library, pool, clinic, bus]}}]
      - name: work
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [employed, retired, student]}}]
        customProperties: [{property: repair, value: employed}]
      - {name: letter}
"""

#: A contract on the codes that the table keeps, and with another number one that it breaks.
CODES_CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: codes
version: 1.0.0
status: active
schema:
  - name: codes
    quality: [{metric: rowCount, mustBeGreaterOrEqualTo: 500}]
    properties:
      - name: A
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: ["0", "1", "2", "3"]}}]
      - name: B
        required: true
      - {name: C}
      - name: D
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: ["0", "1", "2", "3", "4"]}}]
      - {name: E}
      - {name: F}
"""

#: Whole numbers in an order, and what one of them decides.
ORDERED_CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: codes
version: 1.0.0
status: active
schema:
  - name: codes
    customProperties:
      - {property: orderings, value: [{columns: [B, D, F]}, {columns: [C, A], strict: true}]}
      - property: functionalDependencies
        value: [{from: F, to: E, values: {"<6": "0", ">=6": "1"}}]
    properties:
      - {name: A, logicalType: integer, customProperties: [{property: bins, value: [0, 1, 2, 3]}]}
      - {name: B, logicalType: integer, customProperties: [{property: bins, value: [0, 1, 2]}]}
      - {name: C, logicalType: integer, customProperties: [{property: bins, value: [0, 1, 2]}]}
      - {name: D, logicalType: integer, customProperties: [{property: bins, value: [0, 2, 4]}]}
      - {name: E}
      - {name: F, logicalType: integer, customProperties: [{property: bins, value: [0, 3, 6, 9]}]}
"""

#: As SDS's own files name it.
_ZCDP = {
    "synthesis_mode": "aggregate_seeded",
    "use_synthetic_counts": True,
    "sigma_proportions": [1.0, 0.5, 0.33],
    "percentile_percentage": 90,
    "percentile_epsilon_proportion": 0.02,
    "number_of_records_epsilon_proportion": 0.005,
    "noise_threshold_type": "adaptive",
    "noise_threshold_values": {"2": 0.5, "3": 0.2},
    "privacy": {"accountant": "zcdp", "contribution": "percentile", "releases": 4},
}

SCENARIOS = {
    "private_demo": Scenario({}, ("demo", "ledger survey", "check demo/configuration.json")),
    "private_fitted": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "people.json": PEOPLE_BODY
            | {
                "synthetic_forms": ["long", "condensed"],
                "evaluate_utility": {"target": "work", "group": "sex"},
                "report_visuals": {"Who": ["sex:m", "sex:f"]},
                "report_pages": {"Where": ["town", "Who"]},
            },
            "next.json": PEOPLE_BODY | {"vintage": "2026-12"},
        },
        (
            "check people.json",
            "run people.json",
            "run people.json",
            "check people.json",
            "publish people.json",
            "ledger",
            "ledger people",
            "export out/sensitive/people",
            "check next.json",
            "run next.json",
            "ledger people --cap 30 1e-5",
            "ledger people --cap 30 1e-5 --reason 'a test'",
            "run next.json --generate",
            "ledger people",
            "compare out/release/people/2026-11-1 out/release/people/2026-12-1 --output side",
            "lineage out/release/people/latest/people_synthetic_microdata.tsv",
        ),
    ),
    "private_contract": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "contract.yaml": CONTRACT,
            "people.json": {
                key: value
                for key, value in PEOPLE_BODY.items()
                if key
                not in ("use_columns", "multi_value_columns", "max_items", "bins", "domains", "decimal")
                and key not in ("subject_id", "thousands")
            }
            | {"contract": "contract.yaml", "noise_epsilon": 3, "random_seed": 11},
        },
        ("check people.json", "run people.json"),
    ),
    "private_rows": Scenario(
        {
            "visits.csv": VISITS_CSV,
            "visits.json": {key: value for key, value in VISITS_BODY.items() if key != "subject_id"}
            | {
                "use_columns": ["town", "age", "smoker", "ward"],
                "workload": [["town", "ward"], ["age", "smoker", "ward"]],
                "allocation": "size",
                "target": "ward",
                "max_values": 5,
                "fitted_target_number_of_records": 250,
                "record_limit": 300,
            },
        },
        ("check visits.json", "run visits.json --aggregate", "run visits.json --navigate", "ledger"),
    ),
    "private_several_rows": Scenario(
        {
            "visits.csv": VISITS_CSV,
            "visits.json": VISITS_BODY | {"workload": "pairs+target", "target": "age"},
        },
        ("check visits.json", "run visits.json"),
    ),
    "private_seeded_gdp": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "people.json": PEOPLE_BODY
            | {
                "synthesis_mode": "aggregate_seeded",
                "parallel_jobs": 2,
                "aggregate_seeded_target_number_of_records": 400,
                "privacy": PEOPLE_BODY["privacy"] | {"contribution": "profile", "thresholds": "balanced"},
            },
        },
        ("check people.json", "run people.json", "export out/sensitive/people --output listed"),
    ),
    "private_seeded_zcdp": Scenario(
        {"visits.csv": VISITS_CSV, "visits.json": VISITS_BODY | _ZCDP | {"reporting_length": 3}},
        ("check visits.json", "run visits.json", "ledger visits"),
    ),
    "private_ordered": Scenario(
        {
            "codes.csv": text(codes(), CODES),
            "contract.yaml": ORDERED_CONTRACT,
            "codes.json": CODES_BODY
            | {
                "synthesis_mode": "fitted",
                "contract": "contract.yaml",
                "sensitive_zeros": [],
                "report_title": "C",
            },
        },
        ("check codes.json", "run codes.json --evaluate", "run codes.json"),
    ),
    "private_strict": Scenario(
        {
            "codes.csv": text(codes(), CODES),
            "kept.yaml": CODES_CONTRACT,
            "broken.yaml": CODES_CONTRACT.replace("500", "501").replace(', "4"', ""),
            "codes.json": CODES_BODY | {"contract": "kept.yaml", "contract_mode": "strict"},
            "broken.json": CODES_BODY
            | {"contract": "broken.yaml", "contract_mode": "strict", "vintage": "2", "dataset": "other"},
        },
        (
            "check codes.json",
            "run codes.json",
            "run broken.json",
            "ledger other --cap 8 1e-5 --unit row --reason 'other people'",
            "run broken.json",
            "ledger",
        ),
    ),
    "private_closed": Scenario(
        {
            "codes.csv": text(codes(), CODES),
            "codes.json": {key: value for key, value in CODES_BODY.items() if key != "parallel_jobs"}
            | {
                "synthesis_mode": "fitted",
                "sensitive_zeros": list(CODES),
                "domains": {name: [str(value) for value in range(12)] for name in CODES},
                "noise_epsilon": 0.5,
                "workload": "pairs",
                "allocation": "equal",
                "evaluate_sensitive": False,
            },
        },
        ("check codes.json", "run codes.json", "ledger --help"),
    ),
}
