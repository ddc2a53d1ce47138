"""Listings of all combinations, which no run writes: a run's tables in, SDS's files out, not to leave.

True counts lie in ``sensitive/`` as Parquet, and what synthetic records combine follows from them. As text
both are a hundred times as large, so a run writes the short combinations and whoever wants the rest asks.
"""

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tasks.core.aggregates.sensitive_text import write_sensitive_json, write_true_counts
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.arrays import Json, StageDone
from tasks.core.errors import ParameterError, ResourceLimit
from tasks.core.evaluation.raw import list_combinations
from tasks.core.queries import QueryResources
from tasks.core.records.table import RecordTable
from tasks.core.synthesis.records import ATTRIBUTES, RECORDS, open_synthetic_records
from tasks.storage import (
    FULL,
    INTERMEDIATE,
    MEASUREMENT,
    RELEASE,
    SENSITIVE,
    StoredTable,
    Workspace,
    load_json,
    write_whole,
)

#: The files by the stage whose folder they are made from, without the prefix of their names.
FILES = {
    "aggregate": ("sensitive_aggregates.tsv", "sensitive_aggregated_data.json"),
    "evaluation": ("synthetic_aggregates.tsv", "synthetic_rare_combos_by_length.tsv"),
}
_SOURCES = "sources.json"
_SYNTHETIC = "synthetic_records"


def write_sources(
    folder: Path,
    prefix: str,
    resolution: int,
    records: StoredTable,
    marginals: StoredTable,
    synthetic: Path | None = None,
) -> None:
    """Write what the listings of a stage are made from, and copy the synthetic records that it judged.

    In ``intermediate/`` these go when nobody has used them for a week.
    """
    tables = {"records": records.to_json(), "marginals": marginals.to_json()}
    text = json.dumps({"prefix": prefix, "resolution": resolution, **tables}, indent=1, ensure_ascii=False)
    (folder / _SOURCES).write_text(text + "\n", encoding="utf-8")
    if synthetic is not None:
        (folder / _SYNTHETIC).mkdir()
        for name in (ATTRIBUTES, RECORDS):
            shutil.copyfile(synthetic / name, folder / _SYNTHETIC / name)


def export(place: Path, names: Sequence[str], output: Path | None, report: StageDone) -> list[Path]:
    """Write listings of a run; return the files, each closed to everybody but their owner.

    Args:
        place: the run's folder in ``sensitive/``, or the dataset's, which stands for its newest runs.
        names: of `FILES`; empty: all that the run can give.
        output: the folder to write to; None: ``export`` in the place.

    Raises:
        ParameterError: there is nothing to export, or the output is a place that it must not go to.
    """
    home = (output or place / "export").resolve()
    if SENSITIVE not in place.resolve().parts or not home.is_relative_to(place.resolve()):
        _require_closed_place(home)
    if not place.is_dir() or SENSITIVE not in place.resolve().parts:
        raise ParameterError(_nothing(place, ()))
    stages = {stage: found for stage in FILES if (found := _stage(place.resolve(), stage)) is not None}
    wanted = names or [name for stage in stages for name in FILES[stage]]
    missing = [name for name in wanted if not any(name in FILES[stage] for stage in stages)]
    if missing or not wanted:
        raise ParameterError(_nothing(place, missing))
    written: list[Path] = []
    with _writing(home) as scratch:
        for stage, folder in stages.items():
            own = [name for name in FILES[stage] if name in wanted]
            sources = load_json(folder / _SOURCES)
            writers = _listing_writers(folder, sources, QueryResources(scratch), report) if own else {}
            written += [_write_closed(home / f"{sources['prefix']}_{name}", writers[name]) for name in own]
    return written


def _listing_writers(
    folder: Path, sources: Json, resources: QueryResources, report: StageDone
) -> dict[str, Callable[[Path], None]]:
    marginals = read_marginals(_stored_path(folder, sources["marginals"]))
    if folder.name == "aggregate":
        text, document = FILES["aggregate"]
        return {
            text: lambda path: write_true_counts(marginals, path, resources, progress=partial(report, text)),
            document: lambda path: write_sensitive_json(marginals, path, partial(report, document)),
        }
    synthetic = open_synthetic_records(folder / _SYNTHETIC)
    combinations = list_combinations(
        RecordTable.in_folder(_stored_path(folder, sources["records"])),
        synthetic,
        max(marginals.lengths, default=0),
        sources["resolution"],
        resources,
        partial(report, "combinations of the synthetic records"),
    )
    counts, rare = FILES["evaluation"]
    number = synthetic.number_of_records
    return {
        counts: lambda path: combinations.write_aggregates(number, path, resources),
        rare: combinations.write_rare,
    }


def _stored_path(folder: Path, reference: dict[str, str]) -> Path:
    # The root is that of sensitive/DATASET/RUN/stage: a dataset may have any name.
    table, workspace = StoredTable(**reference), Workspace(folder.parents[3])
    if not (workspace.root / table.key).is_dir():
        raise ParameterError(
            f"Exporting needs the stored table {table.key}, which is gone. Delete {folder} and run "
            "the configuration again: both are made anew."
        )
    return workspace.path(table)


def _stage(place: Path, stage: str) -> Path | None:
    """The folder of a stage in a run's folder, or in the newest of a dataset's runs that has one."""
    runs = [place, *sorted((each for each in place.iterdir() if each.is_dir()), reverse=True)]
    folders = (run / stage for run in runs)
    return next((folder for folder in folders if (folder / _SOURCES).is_file()), None)


def _nothing(place: Path, missing: Sequence[str]) -> str:
    what = f"{place} does not give {', '.join(missing)}" if missing else f"{place} is none"
    return (
        f"Exporting needs the folder of a run, OUTPUT_DIR/sensitive/DATASET/RUN; {what}. The sensitive_ "
        "files need the aggregate stage, the synthetic_ files the evaluate stage; runs of SynDiffix "
        "give none. Run these stages (marginalia run CONFIG.json), or give another folder."
    )


def _require_closed_place(home: Path) -> None:
    zone = next((zone for zone in (RELEASE, INTERMEDIATE, MEASUREMENT) if zone in home.parts), None)
    if zone:
        raise ParameterError(
            "Listings hold true counts and must stay on this machine, so --output must not be in "
            f"{zone}/; {home} is. Give another folder."
        )


@contextlib.contextmanager
def _writing(home: Path) -> Iterator[Path]:
    with contextlib.ExitStack() as stack:
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            waiting = tempfile.TemporaryDirectory(dir=home, prefix=".export-")
        except OSError as error:
            raise ParameterError(
                f"--output must be a folder that you can write; {home} is not ({error.strerror}). "
                "Give another."
            ) from None
        scratch = Path(stack.enter_context(waiting))
        try:
            yield scratch
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise ResourceLimit(
                f"Exporting needs room for the files, but the disk that holds {home} is full. Free some "
                "space, or give another --output. A listing may be a hundred times as large as its source."
            ) from None


def _write_closed(path: Path, write: Callable[[Path], None]) -> Path:
    """Let ``write`` fill a file that nobody else may ever read."""

    def fill(part: Path) -> None:
        part.touch(mode=0o600, exist_ok=False)
        write(part)

    write_whole(path, fill)
    return path
