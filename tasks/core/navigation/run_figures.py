"""The figures of one run: a folder of a release or of a sensitive evaluation goes in, `RunFigures` comes out.

A release folder holds ``MANIFEST.json``, ``privacy.json``, ``configuration.json`` and, from the evaluate
stage, ``evaluation.json``; a sensitive one the ``evaluation.json`` of the comparison with the raw table.
What an older or shorter run did not record is left blank.
"""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, cast

from tasks.core.arrays import Json
from tasks.core.errors import ParameterError
from tasks.core.metadata.errata import read_errata, status_of

Better = Literal["lower", "higher", ""]

#: Which counts were held against which: the first part of a figure's key, and its words.
GROUPS = {
    "size": "Size",
    "fitted": "Fitted records: estimated from noise alone, without the table",
    "released": "Synthetic records against the reported counts",
    "raw": "Synthetic records against the raw table",
    "reported": "Reported counts against the raw table",
}


class Metric(NamedTuple):
    """One figure of a run.

    Attributes:
        key: ``group.name``, the group one of `GROUPS`.
        better: which end is better; empty where neither is.
    """

    key: str
    words: str
    better: Better
    about: str = ""

    @property
    def group(self) -> str:
        return GROUPS[self.key.split(".", 1)[0]]


def _read_metrics() -> tuple[Metric, ...]:
    """Group by group, in the file's order; a line is of each group that it names."""
    with Path(__file__).with_name("metrics.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple(
        Metric(f"{group}.{row['name']}", row["words"], cast(Better, row["better"].strip("-")), row["about"])
        for group in GROUPS
        for row in rows
        if group in row["groups"].split()
    )


METRICS = _read_metrics()


FigureRows = tuple[Json, ...]

#: Settings that don't make runs differ: where they ran, what they are called, how the page looks.
_NOT_COMPARED = (
    "dataset",
    "dataset_is_named",
    "vintage",
    "prefix",
    "output_dir",
    "publication",
    "report",
    "resources",
    "unused_keys",
    "input.path",
    "input.contract",
    "protection.regime",
)

#: Settings that are shown under the key that whoever runs a job writes.
_OWN_KEYS = {"synthesis.mode": "synthesis_mode"}


@dataclass(frozen=True)
class RunFigures:
    """One run; what is not recorded is empty.

    Attributes:
        label: what it is called beside others.
        settings: (name, text) of the public configuration, in its own order.
        figures: by a metric's key (`METRICS`); None where it was not measured.
        by_length: a row a length (``length`` and figures), ascending.
        by_count: a row a bin of the synthetic count (``bin`` and figures), ascending.
        is_raw: whether figures are measured against the raw table: sensitive.
        is_test: whether it was drawn by the seeded test engine.
        has_failed: whether it came to no figures because it ended with an error.
        status: ``published``, ``corrected`` or ``withdrawn``.
    """

    label: str
    dataset: str = ""
    vintage: str = ""
    regime: str = ""
    mode: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    figures: Mapping[str, float | None] = field(default_factory=dict)
    by_length: FigureRows = ()
    by_count: FigureRows = ()
    is_raw: bool = False
    is_test: bool = False
    has_failed: bool = False
    status: str = "published"


def read_run(folder: Path, label: str | None = None) -> RunFigures:
    """The figures of a release or of a sensitive evaluation; without a label the folder's name is taken.

    Raises:
        ParameterError: the folder holds no evaluation, or one that can't be read.
    """
    path = folder / "evaluation.json"
    if not path.is_file():
        raise ParameterError(
            f"Comparing needs runs that were evaluated; {folder} holds no evaluation.json. Give the folder "
            "of a release, or of an evaluation in sensitive/; the evaluate stage writes both: marginalia run "
            "with --evaluate."
        )
    evaluation = _read_object(path)
    statement, manifest = _read_if_there(folder, "privacy.json"), _read_if_there(folder, "MANIFEST.json")
    is_raw = isinstance(evaluation.get("synthetic"), dict)
    configuration = _read_if_there(folder, "configuration.json")
    if is_raw and not configuration:
        configuration = _read_if_there(folder.parent, "configuration.json")
    mode = _part(statement, "synthesis").get("mode") or _part(configuration, "synthesis").get("mode")
    regime = _text(statement.get("regime") or _part(configuration, "protection").get("regime"))
    found = _raw_figures(evaluation) if is_raw else _released_figures(evaluation)
    named = {
        key: _text(manifest.get(key) or statement.get(key) or configuration.get(key))
        for key in ("dataset", "vintage")
    }
    return RunFigures(
        label=label or folder.name,
        dataset=named["dataset"],
        vintage=named["vintage"],
        regime=regime,
        mode=_text(mode),
        settings=_settings(configuration, is_raw),
        figures={metric.key: (found[0] | _sizes(manifest)).get(metric.key) for metric in METRICS},
        by_length=found[1],
        by_count=found[2],
        is_raw=is_raw,
        is_test=regime == "differential_privacy" and statement.get("private") is False,
        status=status_of(read_errata(folder)),
    )


def public_settings(release: Path) -> tuple[tuple[str, str], ...]:
    """Name and text of each setting of a release's public configuration, but for those of no account."""
    return _settings(_read_if_there(release, "configuration.json"), is_raw=False)


def _read_object(path: Path) -> Json:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParameterError(f"{path} must be readable JSON, and is not: make the run again.") from error
    if not isinstance(found, dict):
        raise ParameterError(f"{path} must hold a JSON object, and does not: make the run again.")
    return found


def _read_if_there(folder: Path, name: str) -> Json:
    return _read_object(folder / name) if (folder / name).is_file() else {}


def _part(body: Json, name: str) -> Json:
    found = body.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _settings(configuration: Json, is_raw: bool) -> tuple[tuple[str, str], ...]:
    """The public configuration, flat; a seed only where the release itself holds it."""
    found = []
    table = _part(configuration, "input")
    if table.get("contract", "") is None:  # of a full record: without a contract its mode is none either
        configuration = configuration | {"input": {k: v for k, v in table.items() if k != "contract_mode"}}
    for name, text in _flatten(configuration):
        hidden = name.endswith("random_seed") and (is_raw or not text.isdecimal())
        if not hidden and not name.startswith(tuple(f"{each}." for each in _NOT_COMPARED)):
            found.append((name, text))
    return tuple((_OWN_KEYS.get(name, name), text) for name, text in found if name not in _NOT_COMPARED)


def _flatten(body: Json, above: str = "") -> list[tuple[str, str]]:
    found = []
    for key, value in body.items():
        if isinstance(value, dict) and value:
            found += _flatten(value, f"{above}{key}.")
        else:
            found.append((f"{above}{key}", _format_setting(value)))
    return found


def _format_setting(value: object) -> str:
    """A setting's text: words for what JSON has signs for."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _sizes(manifest: Json) -> dict[str, float | None]:
    rows = {
        _text(entry.get("file")): entry.get("rows")
        for entry in manifest.get("files", [])
        if isinstance(entry, dict)
    }

    def of(ending: str) -> float | None:
        return next((number_or_none(count) for file, count in rows.items() if file.endswith(ending)), None)

    return {
        "size.synthetic_records": of("_synthetic_microdata.tsv"),
        "size.reported_combinations": of("_reportable_aggregates.tsv"),
    }


def number_or_none(value: object) -> float | None:
    """A recorded number; None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _figures_of_group(group: str, *bodies: Json) -> dict[str, float | None]:
    return {f"{group}.{name}": number_or_none(value) for body in bodies for name, value in body.items()}


def _released_figures(evaluation: Json) -> tuple[dict[str, float | None], FigureRows, FigureRows]:
    """Of a release's evaluation (`tasks.core.evaluation.release`)."""
    figures = _figures_of_group("released", _part(evaluation, "summary"))
    figures |= _figures_of_group("fitted", _part(evaluation, "fit"))
    return figures, _rows(evaluation.get("by_length"), "length"), _rows(evaluation.get("by_count"), "bin")


def _raw_figures(evaluation: Json) -> tuple[dict[str, float | None], FigureRows, FigureRows]:
    """Of a sensitive evaluation (`tasks.core.evaluation.raw`)."""
    synthetic, reportable = _part(evaluation, "synthetic"), _part(evaluation, "reportable")
    released = _part(_part(evaluation, "synthetic_against_reportable"), "summary")
    words = {
        "suppressed_pct": "missed_pct",
        "fabricated_pct": "unreported_pct",
        "fabricated_pct_of_compared": "unreported_pct_of_synthetic",
    }
    figures = {
        **_figures_of_group("released", {words.get(name, name): value for name, value in released.items()}),
        **_figures_of_group("raw", _part(synthetic, "summary"), _part(synthetic, "leakage")),
        **_figures_of_group("reported", _part(reportable, "summary")),
        **{
            f"raw.total_variation_{int(row['length'])}": number_or_none(row.get("mean"))
            for row in _rows(evaluation.get("total_variation"), "length")
        },
    }
    by_length: dict[float, Json] = {}
    for name in ("by_length", "preservation_by_length", "leakage_by_length"):
        for row in _rows(synthetic.get(name), "length"):
            by_length.setdefault(row["length"], {}).update(row)
    ordered = tuple(by_length[length] for length in sorted(by_length))
    return figures, ordered, _rows(synthetic.get("preservation_by_count"), "bin")


def _rows(value: object, key: str) -> FigureRows:
    """Rows with a number under the key, ascending by it."""
    found = (
        [row for row in value if isinstance(row, dict) and number_or_none(row.get(key)) is not None]
        if isinstance(value, list)
        else []
    )
    return tuple(sorted(found, key=lambda row: float(row[key])))
