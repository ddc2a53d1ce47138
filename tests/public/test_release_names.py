"""Each key of a configuration, changed by itself: whether the release is another one, and if not, why."""

from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.flat_file import PLACES, PRIVACY_PLACES, from_flat
from tasks.configuration.protections import SynDiffix
from tasks.core.errors import ParameterError
from tasks.core.ledger.names import ReleaseName
from tasks.core.records.columns import Column, Schema
from tasks.core.syndiffix.settings import SETTINGS, Setting
from tasks.core.tables.header import Headers
from tasks.plan.describe import describe
from tasks.public.bundles import configured_digest
from tasks.sensitive.protect import release_name

Flat = dict[str, Any]

HEADER = ("person", "town", "age", "langs", "sex")
TABLE: Flat = {
    "sensitive_microdata_path": "people.csv",
    "dataset": "people",
    "vintage": "2026-11",
    "subject_id": "person",
}
COUNTED: Flat = TABLE | {
    "multi_value_columns": {"langs": ";"},
    "max_items": {"langs": 2},
    "bins": {"age": [0, 30, 60]},
    "domains": {"sex": ["f", "m"]},
    "reporting_length": 2,
}
PRIVATE: Flat = COUNTED | {"dp_aggregates": True, "noise_epsilon": 1.0}
BASES: dict[str, Flat] = {
    "lengths": PRIVATE | {"synthesis_mode": "aggregate_seeded"},
    "fitted": PRIVATE | {"synthesis_mode": "fitted"},
    "rows": COUNTED | {"synthesis_mode": "row_seeded"},
    "values": COUNTED | {"synthesis_mode": "value_seeded"},
    "counts": COUNTED | {"synthesis_mode": "aggregate_seeded"},
    "trees": TABLE | {"synthesis_mode": "syndiffix"},
}
DRAWN = ("lengths", "fitted")

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: people
name: people
version: 1.0.0
status: active
schema:
  - name: people
    properties:
      - name: town
        customProperties:
          - property: missingValues
            value: ["?"]
      - name: age
      - name: langs
{items}      - name: sex
"""
#: Of a column of several items, which SynDiffix does not take.
ITEMS = """\
        logicalType: array
        items: {logicalType: string}
        logicalTypeOptions: {maxItems: 2}
        customProperties:
          - property: delimiter
            value: ";"
"""

#: Another value of each key. A key of a section stands behind the section's name.
CHANGED: Flat = {
    "dataset": "others",
    "vintage": "2026-12",
    "reporting_length": 1,
    "sensitive_microdata_delimiter": ";",
    "sensitive_microdata_header": list(HEADER),
    "sensitive_microdata_quote": "'",
    "sensitive_microdata_escape": "\\",
    "sensitive_microdata_skip_lines": 1,
    "encoding": "latin-1",
    "subject_id": "town",
    "use_columns": ["age", "langs", "sex"],
    "multi_value_columns": {"langs": "|"},
    "max_items": {"langs": 3},
    "sensitive_zeros": ["town"],
    "record_limit": 50,
    "bins": {"age": [0, 40, 60]},
    "domains": {"sex": ["f", "m", "x"]},
    "decimal": {"age": ","},
    "thousands": {"age": " "},
    "negative": {"age": "bookkeeping"},
    "strip": {"town": "#"},
    "missing_values": {"town": ["n/a"]},
    "date_formats": {"town": ["%d.%m.%Y"]},
    "cut": {"town": 2},
    "contract": "contract.yaml",
    "contract_mode": {"strict": "repair", "repair": "strict"},
    "noise_epsilon": 2.0,
    "delta": 1e-7,
    "delta_factor": 5.0,
    "number_of_records_epsilon_proportion": 0.02,
    "sigma_proportions": [1, 0.5],
    "percentile_percentage": 95,
    "percentile_epsilon_proportion": 0.02,
    "noise_threshold_type": "adaptive",
    "noise_threshold_values": {"2": 0.5},
    "oversampling_ratio": 0.2,
    "oversampling_tries": 3,
    "aggregate_seeded_hold_resolution": True,
    "workload": "pairs",
    "allocation": "size",
    "target": "sex",
    "max_values": 10,
    "synthesis_mode": {"aggregate_seeded": "fitted", "fitted": "aggregate_seeded", "row_seeded": "unseeded"},
    "privacy.epsilon": 2.0,
    "privacy.delta": 1e-7,
    "privacy.delta_factor": 5.0,
    "privacy.accountant": "zcdp",
    "privacy.contribution": "profile",
    "privacy.thresholds": "minimize",
    "privacy.threshold_delta_share": 0.2,
}
#: What may keep the name under some or all protections, why, and another value.
KEEPS: dict[str, tuple[tuple[str, ...], str, object]] = {
    "sensitive_microdata_path": (tuple(BASES), "the input's place", "other.csv"),
    "drafted_from_table": (tuple(BASES), "said of the declarations, not part of them", True),
    "prefix": (tuple(BASES), "what files are called", "survey"),
    "output_dir": (tuple(BASES), "where all lies", "elsewhere"),
    "publish_to": (tuple(BASES), "where copies lie", "s3://bucket/folder"),
    "retention_days": (tuple(BASES), "how long sensitive files lie", 3),
    "on_unchanged": (tuple(BASES), "whether there is a release, not what it is", "skip"),
    "check_looks_at_lines": (tuple(BASES), "of a command that draws nothing", True),
    "evaluate_sensitive": (tuple(BASES), "measured beside the release", False),
    "evaluate_utility": (tuple(BASES), "measured beside the release", True),
    "synthetic_forms": (tuple(BASES), "released beside", ["long"]),
    "reporting_length": (("fitted",), "a workload is drawn, not lengths", 1),
    "reporting_resolution": (DRAWN, "of the evaluation that is kept in sensitive/", 20),
    "random_seed": (tuple(BASES), "after the draw; of a mode that reads records it is a secret", 7),
    "use_synthetic_counts": (("lengths", "counts"), "made after the draw, from what it gave", True),
    "weight_selection_percentile": (("lengths", "counts"), "made after the draw", 90),
    "aggregate_seeded_counts_scale_factor": (("lengths", "counts"), "made after the draw", 2.0),
    "aggregate_seeded_target_number_of_records": (("lengths", "counts"), "made after the draw", 5),
    "fitted_target_number_of_records": (("fitted",), "made after the draw", 5),
    "synthesis_mode": (("counts",), "made after the rounding", "fitted"),
    **{
        key: (tuple(BASES), "who does the work, and with what", value)
        for key, value in {
            "parallel_jobs": 2,
            "memory_limit_mb": 4000,
            "cache_max_size": 5,
            "engine": "dask",
            "dask_address": "tls://host:8786",
            "workers": 3,
            "partitions": 5,
            "shared_storage": "s3://bucket/parts",
        }.items()
    },
    **{
        key: (tuple(BASES), "what readers are told", value)
        for key, value in {
            "report_title": "People",
            "report_visuals": {"a": ["town:Ely"]},
            "report_pages": {"a": ["town"]},
            "unit": "patient",
            "units": "patients",
            "value_names": {"sex": {"f": "women"}},
            "publisher": "a",
            "contact": "a@b.org",
            "purpose": "a",
            "description": "a",
            "region": "a",
            "sector": "Healthcare",
            "rationale": "a",
            "data_source": "static",
            "first_published": "2026-01-01",
            "license": "MIT",
            "url": "https://a.org",
        }.items()
    },
    "privacy.cap": (DRAWN, "the ledger's", {"epsilon": 4, "delta": 1e-5}),
    "privacy.releases": (DRAWN, "the ledger's", 3),
    "privacy.low_budget": (DRAWN, "when somebody is told", 5),
    "privacy.population": (DRAWN, "stated beside the claim", "all of Ely"),
}
#: What a key needs beside it to mean anything.
WITH: dict[str, Flat] = {
    "contract_mode": {"contract": "contract.yaml"},
    "oversampling_tries": {"oversampling_ratio": 0.1},
    "units": {"unit": "patient"},
    "report_pages": {"report_visuals": {"a": ["town:Ely"]}},
    "dask_address": {"engine": "dask"},
    "shared_storage": {"engine": "dask"},
    "workers": {"engine": "dask"},
    "partitions": {"engine": "dask"},
}
KEYS = (*PLACES, *(f"privacy.{key}" for key in PRIVACY_PLACES))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written("contract.yaml")
    written("trees.yaml", items="")


def written(path: str, missing: str = "?", items: str = ITEMS) -> None:
    Path(path).write_text(CONTRACT.format(items=items).replace('"?"', f'"{missing}"'))


def name(flat: Flat) -> ReleaseName | None:
    """The release that a file names; None of a key that the file's protection refuses or does not read."""
    try:
        configuration = from_flat(flat)
        return release_name(configuration, describe(configuration, headers=Headers(HEADER)))
    except ParameterError:
        return None


def with_key(flat: Flat, key: str, value: object) -> Flat:
    section, _, inner = key.rpartition(".")
    return flat | ({section: {inner: value}} if section else {key: value})


def reads(flat: Flat, key: str) -> bool:
    return key not in from_flat(flat).unused_keys


def test_every_key_is_said_to_change_the_name_or_why_it_does_not():
    assert set(KEYS) == {*CHANGED, *KEEPS}


@pytest.mark.parametrize("key", KEYS)
def test_a_changed_key_gives_another_name_or_is_listed_with_the_reason(key):
    kept, _, other = KEEPS.get(key, ((), "", None))
    were_read = []
    for protection, flat in BASES.items():
        base = flat | WITH.get(key, {})
        value = other if protection in kept else CHANGED.get(key)
        if isinstance(value, dict) and key in ("contract_mode", "synthesis_mode"):
            value = value.get(str(flat.get(key, "repair" if protection in DRAWN else "strict")))
        changed = with_key(base, key, value)
        if key in ("noise_epsilon", "privacy.epsilon"):
            changed |= {"noise_epsilon": 2.0} if key == "noise_epsilon" else {"noise_epsilon": None}
        before, after = name(base), name(changed)
        if before is None or value is None or after is None:
            continue
        if protection not in kept and not reads(changed, key.rpartition(".")[2]):
            continue
        were_read.append(protection)
        assert (after == before) == (protection in kept), protection
    assert were_read, "no protection takes the value"


def _another(setting: Setting) -> object:
    match setting.kind:
        case "whole" | "number":
            return setting.default + 1  # type: ignore[operator]
        case "flag":
            return not setting.default
        case "interval":
            low, high = setting.default  # type: ignore[misc]
            return (low, high + 1)
        case "column":
            return "town"
        case _:
            return ("town",)


def test_every_setting_of_syndiffix_gives_another_name():
    configuration = from_flat(BASES["trees"])
    schema = Schema((Column("town"), Column("age")))
    others: Flat = {name: _another(setting) for name, setting in SETTINGS.items()} | {
        "further_ids": ("household",),
        "types": {"age": "i"},
        "clustering": "one",
        "tables": (("town", "age"),),
    }
    assert set(others) == set(SynDiffix.model_fields) - {"regime"}
    names = {configured_digest(configuration, schema)}
    for setting, value in others.items():
        protection = configuration.protection.model_copy(update={setting: value})
        names.add(configured_digest(configuration.model_copy(update={"protection": protection}), schema))
    assert len(names) == 1 + len(others)


@pytest.mark.parametrize("protection", BASES)
def test_a_default_that_is_spelled_out_gives_the_same_name(protection):
    spelled: Flat = {
        "sensitive_microdata_delimiter": ",",
        "sensitive_microdata_quote": '"',
        "sensitive_microdata_skip_lines": 0,
        "sensitive_microdata_header": [],
        "encoding": "UTF8",
        "use_columns": [],
        "decimal": {},
        "missing_values": {},
        "cut": {},
        "drafted_from_table": False,
        "engine": "in_process",
    }
    flat = BASES[protection]
    if protection in DRAWN:
        spelled |= {"delta": 1e-6, "contract_mode": "strict", "privacy": {"threshold_delta_share": 0.1}}
    assert name(flat | spelled) == name(flat)
    assert name(flat) is not None


def test_columns_that_change_places_in_the_header_are_another_release():
    """The columns that are used keep their names and their order, but one of them is read elsewhere."""
    flat = BASES["lengths"] | {"use_columns": ["town", "age"], "multi_value_columns": {}, "max_items": {}}
    flat |= {"domains": {}}
    orders = (HEADER, ("person", "langs", "town", "age", "sex"))
    names = {name(flat | {"sensitive_microdata_header": list(order)}) for order in orders}
    assert len(names) == 2 and None not in names


def test_a_contract_that_reads_a_cell_otherwise_is_another_release_and_one_that_moves_is_not():
    for protection, flat in BASES.items():
        place, items = ("trees.yaml", "") if protection == "trees" else ("contract.yaml", ITEMS)
        before = name(flat | {"contract": place})
        written("moved.yaml", items=items)
        with Path("moved.yaml").open("a") as file:
            file.write("# a comment\n")
        assert name(flat | {"contract": "moved.yaml"}) == before
        written("moved.yaml", missing="!", items=items)
        assert name(flat | {"contract": "moved.yaml"}) not in (before, None)
