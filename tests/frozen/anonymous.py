"""Scenarios under k-anonymity: each mode of synthesis, by a batch and alone; comparisons and exports."""

from typing import Any

from tests.frozen.private import CODES_CONTRACT, CONTRACT, PEOPLE_BODY, PEOPLE_CSV
from tests.frozen.scenario import Scenario
from tests.frozen.tables import CODES, codes, compressed, text, typed_visits

_OF_PRIVACY = ("dp_aggregates", "noise_epsilon", "privacy", "max_items")

#: The table of people as a flat configuration under k-anonymity.
PEOPLE_ANONYMOUS: dict[str, Any] = {
    key: value for key, value in PEOPLE_BODY.items() if key not in _OF_PRIVACY
} | {"reporting_resolution": 10}

CODES_ANONYMOUS: dict[str, Any] = {
    "sensitive_microdata_path": "codes.csv",
    "sensitive_microdata_delimiter": "|",
    "sensitive_microdata_header": list(CODES),
    "encoding": "latin-1",
    "reporting_length": 3,
    "reporting_resolution": 10,
    "dataset": "codes",
    "vintage": "1",
    "prefix": "codes",
    "output_dir": "out",
}
_CODES_FILE = {"codes.csv": text(codes(), delimiter="|").replace("11\n", "Ö\n").encode("latin-1")}

_MODES = {
    "row_seeded": {"evaluate_utility": True, "synthetic_forms": ["long", "condensed"]},
    "unseeded": {"random_seed": 5},
    "value_seeded": {"oversampling_ratio": 0.1, "oversampling_tries": 10},
    "aggregate_seeded": {"use_synthetic_counts": True, "aggregate_seeded_target_number_of_records": 300},
    "fitted": {},
}

_BATCH = {
    "execute": {"aggregate": True, "generate": True, "evaluate": True, "navigate": True},
    "base_config": PEOPLE_ANONYMOUS,
    "runs": {
        "modes": [{"name": mode, "synthesis_mode": mode} | keys for mode, keys in _MODES.items()]
        + [
            {"name": "left out", "skip": True},
            {"name": "broken", "sensitive_microdata_path": "broken.csv", "vintage": "2"},
        ],
        "coarse": [{"name": "fifty", "reporting_resolution": 50, "reporting_length": 2, "vintage": "3"}],
    },
}

SCENARIOS = {
    "anonymous_batch": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "broken.csv": PEOPLE_CSV + "p9,a row,of three\n",
            "batch.json": _BATCH,
        },
        (
            "batch batch.json",
            "compare out/modes/0_row_seeded out/modes/1_unseeded out/coarse/0_fifty --output side",
            "compare out/modes/0_row_seeded/evaluation out/modes/2_value_seeded/evaluation --output closed",
            "compare out/modes/0_row_seeded",
            "compare out/modes/0_row_seeded out/gone",
        ),
    ),
    "anonymous_contract": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "contract.yaml": CONTRACT,
            "people.json": {
                key: value
                for key, value in PEOPLE_ANONYMOUS.items()
                if key
                not in ("use_columns", "multi_value_columns", "bins", "domains", "decimal", "thousands")
                and key != "subject_id"
            }
            | {"contract": "contract.yaml", "contract_mode": "repair", "synthesis_mode": "fitted"},
            "strict.json": PEOPLE_ANONYMOUS | {"contract": "contract.yaml", "use_columns": []},
        },
        ("check people.json", "run people.json", "check strict.json", "run strict.json"),
    ),
    "anonymous_codes": Scenario(
        _CODES_FILE
        | {
            "held.json": CODES_ANONYMOUS
            | {
                "synthesis_mode": "aggregate_seeded",
                "aggregate_seeded_hold_resolution": True,
                "parallel_jobs": 2,
            },
            "all.json": CODES_ANONYMOUS
            | {"reporting_length": -1, "synthesis_mode": "unseeded", "vintage": "2", "record_limit": 450},
            "none.json": CODES_ANONYMOUS | {"reporting_resolution": 1, "vintage": "3", "reporting_length": 2},
        },
        (
            "check held.json",
            "run held.json",
            "export out/sensitive/codes --only sensitive_aggregates synthetic_aggregates",
            "run all.json",
            "check none.json",
            "run none.json",
            "run held.json --aggregate",
            "publish held.json",
            "ledger",
        ),
    ),
    "anonymous_typed": Scenario(
        {
            "visits.parquet": typed_visits(),
            "visits.json": {
                "sensitive_microdata_path": "visits.parquet",
                "use_columns": ["town", "age", "smoker", "ward"],
                "synthesis_mode": "value_seeded",
                "dataset": "visits",
                "vintage": "1",
                "prefix": "visits",
                "output_dir": "out",
            },
            "codes.csv.gz": compressed(text(codes(), CODES)),
            "contract.yaml": CODES_CONTRACT,
            "codes.json": {
                "sensitive_microdata_path": "codes.csv.gz",
                "contract": "contract.yaml",
                "sensitive_zeros": ["B"],
                "prefix": "codes",
                "vintage": "1",
                "output_dir": "out",
            },
        },
        ("check visits.json", "run visits.json", "check codes.json", "run codes.json --evaluate"),
    ),
}
