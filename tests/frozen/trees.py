"""Scenarios under SynDiffix: as runs, in a batch, and by the command of its own, with blob and debug."""

import json
from typing import Any

from tests.frozen.private import VISITS_CSV
from tests.frozen.scenario import Scenario
from tests.frozen.tables import PEOPLE, people, text, typed_visits

VISITS_TREES: dict[str, Any] = {
    "sensitive_microdata_path": "visits.csv",
    "subject_id": "person",
    "synthesis_mode": "syndiffix",
    "syndiffix": {"columns": ["town", "age", "income:r", "visited", "smoker"]},
    "dataset": "visits",
    "vintage": "2026-11",
    "prefix": "visits",
    "output_dir": "out",
    "bins": {"age": [0, 20, 40, 60]},
}
_CLUSTERS: list[Any] = [
    ["town", "age"],
    ["town", "income"],
    {"columns": ["age", "visited"], "owner": "left"},
    {"columns": ["smoker"], "owner": "right"},
]
_COLUMNS = VISITS_TREES["syndiffix"]["columns"]


def _clustered(name: str, vintage: str, **settings: Any) -> dict[str, Any]:
    return {"name": name, "vintage": vintage, "syndiffix": {"columns": _COLUMNS} | settings}


_BATCH = {
    "base_config": VISITS_TREES,
    "runs": {
        "clusters": [
            _clustered("none", "1", clustering="none"),
            _clustered("one", "6", clustering="one"),
            _clustered("target", "2", clustering={"target": "smoker"}, drop_non_features=True),
            _clustered("main", "3", main_column="age", value_safe_columns=["town"]),
            _clustered("own", "4", clustering=_CLUSTERS),
            _clustered("loose", "5", low_threshold=2, layer_sd=0.5, layer_noise_sd=0.5, max_weight=4.0),
        ]
    },
}

_SYNDIFFIX = "syndiffix visits.csv --aidcolumns person"
_FEW_CLUSTERS = {
    "InitialCluster": [0, 1],
    "DerivedClusters": [{"StitchOwner": "shared", "StitchColumns": [0], "DerivedColumns": [2]}],
}
_OWN = f"'{json.dumps(_FEW_CLUSTERS)}'"

SCENARIOS = {
    "trees_run": Scenario(
        {
            "visits.csv": VISITS_CSV,
            "visits.json": VISITS_TREES
            | {
                "syndiffix": VISITS_TREES["syndiffix"]
                | {"tables": [["age", "smoker"], ["town", "income", "age"]]},
                "evaluate_utility": {"target": "smoker", "group": "town"},
            },
        },
        ("check visits.json", "run visits.json", "run visits.json", "publish visits.json", "ledger visits"),
    ),
    "trees_batch": Scenario(
        {"visits.csv": VISITS_CSV, "batch.json": _BATCH},
        ("batch batch.json", "ledger", "compare out/clusters/0_none out/clusters/1_target --output side"),
    ),
    "trees_command": Scenario(
        {"visits.csv": VISITS_CSV, "visits.parquet": typed_visits(), "people.csv": text(people(), PEOPLE)},
        (
            f"{_SYNDIFFIX} --columns town age:i income:r visited smoker --output default.csv",
            f"{_SYNDIFFIX} --dataset visits --columns town age smoker",
            f"{_SYNDIFFIX} --no-clustering --columns town age smoker -o one.parquet",
            f"{_SYNDIFFIX} --columns town age smoker --clusters {_OWN} -o own.tsv",
            f"{_SYNDIFFIX} --columns town age:r income smoker ward --ml-target smoker --verbose",
            f"{_SYNDIFFIX} household --columns town age --debug -o debug.json",
            "syndiffix visits.parquet wrapped.csv --aid_columns person --ml_target age --ml_features_only "
            "--syndiffix_args '--lcf-low-threshold 2 --outlier-count 1 2'",
            "syndiffix people.csv --columns town age income sex --decimal income=, --thousands income=. "
            "--value-safe-columns sex --aidcolumns person",
            f"{_SYNDIFFIX} --columns town age --flow --output flow",
            "ledger",
        ),
    ),
    "trees_blob": Scenario(
        {"visits.csv": VISITS_CSV},
        (
            f"{_SYNDIFFIX} --columns town age smoker ward --blob visits.sdxblob.zip --verbose",
            "syndiffix visits.sdxblob.zip -o all.csv",
            "syndiffix visits.sdxblob.zip --columns age smoker ward -o three.csv",
            "syndiffix visits.sdxblob.zip --columns town age smoker --ml-target age",
            "syndiffix visits.sdxblob.zip --columns towns",
            "syndiffix visits.sdxblob.zip --verbose --debug -o debug.json",
        ),
    ),
}
