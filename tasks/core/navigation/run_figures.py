"""The figures of one run: a folder of a release or of a sensitive evaluation goes in, `RunFigures` comes out.

A release folder holds ``MANIFEST.json``, ``privacy.json``, ``configuration.json`` and, from the evaluate
stage, ``evaluation.json``; a sensitive one the ``evaluation.json`` of the comparison with the raw table.
What an older or shorter run did not record is left blank.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tasks.core.arrays import Json
from tasks.core.errors import ParameterError
from tasks.core.evaluation.release import name_sides
from tasks.core.metadata.errata import read_errata, status_of
from tasks.core.tables.writing import read_rows

#: Which counts were held against which: the first part of a figure's key, and its words.
GROUPS = {
    "size": "Size",
    "fitted": "Fitted records: estimated from noise alone, without the table",
    "released": "Synthetic records against the reported counts",
    "raw": "Synthetic records against the raw table",
    "reported": "Reported counts against the raw table",
}


class Metric(NamedTuple):
    """One figure of a run. Attributes: key: ``group.name``, the group one of `GROUPS`."""

    key: str
    words: str
    better: str
    about: str = ""

    @property
    def group(self) -> str:
        return GROUPS[self.key.split(".", 1)[0]]


def _read_metrics() -> tuple[Metric, ...]:
    """Group by group, in the file's order; a line is of each group that it names."""
    lines = read_rows(Path(__file__).with_name("metrics.tsv"))[1:]
    return tuple(
        Metric(f"{group}.{name}", words, better.strip("-"), about)
        for group in GROUPS
        for groups, name, better, words, about in lines
        if group in groups.split()
    )


METRICS = _read_metrics()


#: By a metric's key; None where it was not measured.
Figures = dict[str, float | None]
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
        settings: (name, text) of the public configuration, in its own order.
        by_length, by_count: a row a ``length`` and a ``bin`` of the synthetic count, with figures, ascending.
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
    is_raw = "synthetic" in evaluation
    configuration = _read_if_there(folder, "configuration.json")
    if is_raw and not configuration:
        configuration = _read_if_there(folder.parent, "configuration.json")
    mode = _part(statement, "synthesis").get("mode") or _part(configuration, "synthesis").get("mode")
    regime = statement.get("regime") or _part(configuration, "protection").get("regime") or ""
    figures, by_length, by_count = (_raw_figures if is_raw else _released_figures)(evaluation)
    figures |= _sizes(manifest)
    dataset, vintage = (
        manifest.get(key) or statement.get(key) or configuration.get(key) or ""
        for key in ("dataset", "vintage")
    )
    return RunFigures(
        label=label or folder.name,
        dataset=dataset,
        vintage=vintage,
        regime=regime,
        mode=mode or "",
        settings=_settings(configuration, is_raw),
        figures={metric.key: figures.get(metric.key) for metric in METRICS},
        by_length=by_length,
        by_count=by_count,
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
    return body.get(name) or {}


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


def _sizes(manifest: Json) -> Figures:
    rows = {entry["file"]: entry.get("rows") for entry in manifest.get("files", [])}

    def of(ending: str) -> float | None:
        return next((count for file, count in rows.items() if file.endswith(ending)), None)

    return {
        "size.synthetic_records": of("_synthetic_microdata.tsv"),
        "size.reported_combinations": of("_reportable_aggregates.tsv"),
    }


def _figures_of_group(group: str, *bodies: Json) -> Figures:
    return {f"{group}.{name}": value for body in bodies for name, value in body.items()}


def _released_figures(evaluation: Json) -> tuple[Figures, FigureRows, FigureRows]:
    """Of a release's evaluation (`tasks.core.evaluation.release`)."""
    figures = _figures_of_group("released", _part(evaluation, "summary"))
    figures |= _figures_of_group("fitted", _part(evaluation, "fit"))
    return figures, _rows(evaluation, "by_length", "length"), _rows(evaluation, "by_count", "bin")


def _raw_figures(evaluation: Json) -> tuple[Figures, FigureRows, FigureRows]:
    """Of a sensitive evaluation (`tasks.core.evaluation.raw`)."""
    synthetic, reportable = _part(evaluation, "synthetic"), _part(evaluation, "reportable")
    released = _part(_part(evaluation, "synthetic_against_reportable"), "summary")
    figures = {
        **_figures_of_group("released", name_sides(released)),
        **_figures_of_group("raw", _part(synthetic, "summary"), _part(synthetic, "leakage")),
        **_figures_of_group("reported", _part(reportable, "summary")),
        **{
            f"raw.total_variation_{row['length']}": row["mean"]
            for row in evaluation.get("total_variation", [])
        },
    }
    by_length: dict[int, Json] = {}
    for name in ("by_length", "preservation_by_length", "leakage_by_length"):
        for row in synthetic.get(name, []):
            by_length.setdefault(row["length"], {}).update(row)
    ordered = tuple(by_length[length] for length in sorted(by_length))
    return figures, ordered, _rows(synthetic, "preservation_by_count", "bin")


def _rows(body: Json, name: str, key: str) -> FigureRows:
    return tuple(sorted(body.get(name, []), key=lambda row: float(row[key])))
