"""Scenarios of what is told before anything runs: ``--help``, ``check`` with its warnings, ``init``."""

from typing import Any

from tests.frozen.anonymous import CODES_ANONYMOUS, PEOPLE_ANONYMOUS
from tests.frozen.private import CODES_BODY, PEOPLE_BODY, PEOPLE_CSV, VISITS_BODY, VISITS_CSV
from tests.frozen.scenario import Scenario
from tests.frozen.tables import CODES, PEOPLE, VISITS, codes, people, text, typed_visits, visits
from tests.frozen.trees import VISITS_TREES

_COMMANDS = ("run", "check", "ledger", "publish", "batch", "compare", "export", "syndiffix", "demo", "stop")


def _without(body: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


#: Configurations that a check lets pass, each with something to tell.
_CHECKED: dict[str, dict[str, Any]] = {
    "smallest": {
        "sensitive_microdata_path": "people.csv",
        "subject_id": "person",
        "dp_aggregates": True,
        "noise_epsilon": 1,
        "privacy": {"releases": 12},
        "vintage": "1",
    },
    "drowned": PEOPLE_BODY | {"noise_epsilon": 0.01},
    "looking": PEOPLE_BODY | {"check_looks_at_lines": True, "noise_epsilon": 0.3},
    "large": PEOPLE_BODY | {"noise_epsilon": 25, "privacy": {}, "delta": 2e-5},
    "levels": CODES_BODY | {"noise_epsilon": 0.05, "reporting_length": 4},
    "rows": _without(VISITS_BODY, "subject_id")
    | {"use_columns": ["town", "ward"], "bins": {}, "domains": {}},
    "unused": PEOPLE_BODY | {"oversampling_ratio": 0.5, "cache_max_size": 100, "reporting_resolution": 5},
    "earlier": PEOPLE_BODY | {"use_synthetic_counts": True, "weight_selection_percentile": 90},
    "anonymous": PEOPLE_ANONYMOUS | {"workload": "pairs", "check_looks_at_lines": False},
    "coarse": PEOPLE_ANONYMOUS | {"reporting_resolution": 5000, "reporting_length": -1},
    "header": _without(CODES_ANONYMOUS, "sensitive_microdata_header"),
    "trees": VISITS_TREES | {"syndiffix": {"low_threshold": 1, "layer_noise_sd": 0.0, "tables": "pairs"}},
    "trees_of_rows": _without(VISITS_TREES, "subject_id"),
    "typed": VISITS_TREES | {"sensitive_microdata_path": "visits.parquet"},
}

SCENARIOS = {
    "told_help": Scenario(
        {},
        (
            "--help",
            *(f"{name} --help" for name in _COMMANDS),
            "",
            "chek",
            "run --agregate x",
            "lineage --help",
        ),
    ),
    "told_check": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "visits.csv": VISITS_CSV,
            "visits.parquet": typed_visits(),
            "codes.csv": text(codes(), CODES),
            **{f"{name}.json": body | {"dataset": name} for name, body in _CHECKED.items()},
        },
        tuple(f"check {name}.json" for name in _CHECKED),
    ),
    "told_proposals": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "visits.tsv": text(visits(), VISITS, "\t"),
            "latin.txt": text(people(60), PEOPLE, ";").replace("Eel", "Öl").encode("latin-1"),
            "codes.csv": text(codes(), delimiter="|"),
            "visits.parquet": typed_visits(),
            "people.json": PEOPLE_BODY,
        },
        (
            "init people.csv --output drafts",
            "init visits.tsv --output drafts --vintage 2026-11 --unit visit",
            "init latin.txt --output drafts --protection k_anonymity --column town=skip",
            "init codes.csv --output drafts --protection syndiffix",
            "check --propose visits.parquet --output drafts --overwrite --one-row-each",
            "init people.json --output drafts --vintage 2026-11",
            "init codes.csv --output drafts",
            "check people.json --encoding latin-1",
        ),
    ),
}
