"""Scenarios of what is refused: broken files, keys and command lines, with sentence and exit code."""

from typing import Any

from tests.frozen.anonymous import PEOPLE_ANONYMOUS
from tests.frozen.private import CONTRACT, PEOPLE_BODY, PEOPLE_CSV, VISITS_BODY, VISITS_CSV
from tests.frozen.scenario import Scenario
from tests.frozen.trees import VISITS_TREES

#: Configurations that are refused.
_BROKEN: dict[str, dict[str, Any]] = {
    "misspelt": PEOPLE_BODY | {"noise_epsilom": 1, "vintge": "1"},
    "several": PEOPLE_BODY
    | {"reporting_length": -2, "noise_epsilon": -1, "delta": 2, "bins": {"age": [3, 1]}},
    "columns": PEOPLE_BODY | {"use_columns": ["person", "twon"], "target": "job", "bins": {"agee": [1, 2]}},
    "gone": PEOPLE_BODY | {"sensitive_microdata_path": "gone.csv"},
    "raw_mode": PEOPLE_BODY | {"synthesis_mode": "row_seeded"},
    "mode": PEOPLE_BODY | {"synthesis_mode": "seeded"},
    "mixed": PEOPLE_ANONYMOUS | {"noise_epsilon": 1},
    "twice": PEOPLE_BODY | {"privacy": {"epsilon": 1, "cap": {"epsilon": 0.5, "delta": 1e-5}}},
    "semicolon": PEOPLE_ANONYMOUS | {"sensitive_microdata_path": "semicolon.csv"},
    "encoding": PEOPLE_ANONYMOUS | {"sensitive_microdata_path": "latin.csv"},
    "ragged": PEOPLE_ANONYMOUS | {"sensitive_microdata_path": "ragged.csv"},
    "conflicting": PEOPLE_ANONYMOUS
    | {"sensitive_microdata_path": "visits.csv", "use_columns": ["person", "town", "ward"]}
    | {"bins": {}, "domains": {}, "multi_value_columns": {}, "decimal": {}, "thousands": {}},
    "empty": PEOPLE_ANONYMOUS | {"sensitive_microdata_path": "empty.csv"},
    "contract": PEOPLE_BODY | {"contract": "broken.yaml", "use_columns": []},
    "utility": PEOPLE_ANONYMOUS | {"evaluate_utility": {"target": "wrk"}},
    "trees": VISITS_TREES | {"reporting_length": 2, "random_seed": 1, "syndiffix": {"columns": ["twn:q"]}},
    "trees_clusters": VISITS_TREES | {"syndiffix": {"clustering": [["town"], ["town"]]}},
    "workload": VISITS_BODY | {"workload": [["town", "town"], ["ward"]], "allocation": "most"},
    "worthless": PEOPLE_BODY | {"noise_epsilon": 1000, "delta": 0.1},
    "no_batch": {"base_config": PEOPLE_BODY, "runs": {"a/b": [{"name": "x", "epsilon": 1}, {}]}, "exec": {}},
}
#: Those whose fault is in the table: a check can't see it.
_RUN = ("ragged", "conflicting", "encoding", "empty")

SCENARIOS = {
    "refused_configurations": Scenario(
        {
            "people.csv": PEOPLE_CSV,
            "visits.csv": VISITS_CSV,
            "semicolon.csv": PEOPLE_CSV.replace(",", ";"),
            "latin.csv": PEOPLE_CSV.replace("Eel", "Öl").encode("latin-1"),
            "ragged.csv": PEOPLE_CSV.replace("\np00007,", "\np00007,a,b,c,"),
            "empty.csv": "",
            "broken.yaml": CONTRACT.replace("distinctValues", "distinct").replace("retired", "tired", 1),
            "text.json": '{"dataset": "people",',
            "list.json": "[]",
            **{f"{name}.json": body for name, body in _BROKEN.items()},
        },
        (
            "check absent.json",
            "check text.json",
            "check list.json",
            *(f"check {name}.json" for name in _BROKEN),
            *(f"run {name}.json" for name in _RUN),
            "batch no_batch.json",
            "batch mode.json",
            "publish gone.json",
        ),
    ),
    "refused_commands": Scenario(
        {"visits.csv": VISITS_CSV, "empty.csv": "a,b\n"},
        (
            "syndiffix",
            "syndiffix gone.csv",
            "syndiffix visits.csv --colums town",
            "syndiffix visits.csv --columns twn age:q",
            "syndiffix visits.csv --columns town --columns age",
            "syndiffix visits.csv --aidcolumns pers --columns town",
            "syndiffix visits.csv a.csv --output b.csv",
            "syndiffix visits.csv --debug",
            "syndiffix visits.csv --output a.xlsx",
            "syndiffix visits.csv --clusters '{\"InitialCluster\":[0]}' --columns town age",
            "syndiffix visits.csv --lcf-low-threshold 0 --columns town",
            "syndiffix visits.csv --blob a.zip",
            "syndiffix empty.csv",
            "ledger nothing",
            "ledger people --cap 1 2",
            "ledger people --cap one 1e-6",
            "ledger people --cap 2 1e-6 --unit row",
            "ledger poeple",
            "ledger people --cap 3 1e-6",
            "ledger",
            "export out",
            "export visits.csv --only sensitive_agregates",
            "compare a b",
            "check visits.csv",
        ),
    ),
}
