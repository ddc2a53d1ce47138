"""Marginalia in a notebook: a table in memory goes in, a release of it comes out.

    protect      makes a release, as ``marginalia run`` does
    synthesize   the same, for its synthetic records alone
    syndiffix    a synthetic table by SynDiffix, as ``marginalia syndiffix`` makes it
    build_blob   a file that answers questions about any columns later
    open_blob    such a file
    stitch       two synthetic tables as one
    evaluate     what a release is worth against the raw table: not to be shared
    open_release a release that somebody gave you

A table is a DataFrame of pandas or a table of Arrow, and what comes out is like what went in. Ledger, salts
and refusals are the command's. An error says what to do, and holds nothing of the table.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginalia.errors import (
    BudgetExhausted,
    ContractViolation,
    InputError,
    InternalError,
    LedgerError,
    MarginaliaError,
    MeasurementLost,
    ParameterError,
    ResourceLimit,
    StorageError,
    StoredTableMismatch,
    guard_call,
    name_misspelt,
)
from marginalia.process import CallDisplay, ask
from marginalia.release import Evaluation, ask_for_table, open_folder, records_file
from marginalia.release import OpenedBlob as Blob
from marginalia.release import OpenedRelease as Release

if TYPE_CHECKING:
    from marginalia.tables import AnyTable, TableForm

__all__ = [
    "Blob",
    "BudgetExhausted",
    "ContractViolation",
    "Evaluation",
    "InputError",
    "InternalError",
    "LedgerError",
    "MarginaliaError",
    "MeasurementLost",
    "ParameterError",
    "Release",
    "ResourceLimit",
    "StorageError",
    "StoredTableMismatch",
    "build_blob",
    "evaluate",
    "open_blob",
    "open_release",
    "protect",
    "stitch",
    "syndiffix",
    "synthesize",
]


@guard_call
def protect(
    df: "AnyTable",
    *,
    dataset: str,
    vintage: str,
    subject_id: str | Sequence[str] | None = None,
    epsilon: float | None = None,
    releases: int | None = None,
    k: int | None = None,
    contract: str | Path | None = None,
    output_dir: str | Path = ".",
    **settings: Any,
) -> Release:
    """Make a release of a table, or return the one that was made under the same name.

    >>> release = protect(people, dataset="people", vintage="2026-11", subject_id="person", epsilon=1,
    ...                   releases=12, bins={"age": [0, 18, 40, 65]}, output_dir="out")
    >>> release.vintage, list(release.records.columns), release.page.suffix
    ('2026-11', ['age', 'sex', 'smoker'], '.html')

    Under differential privacy a release is drawn once: the same dataset, vintage and settings of what is
    drawn give the same release, and cost nothing more. Another vintage is drawn anew and is charged. So is
    the same vintage with another epsilon, other columns, bins, domains or other settings that touch what is
    drawn: it is another release, under the next number (2026-11-2). The ledger refuses what the dataset's
    budget does not cover.

    Args:
        df: the table; the index of a DataFrame is no column of it.
        dataset: the name of the budget. All tables about the same people share it.
        vintage: the label of this release, such as 2026-11.
        subject_id: the column that says whose row it is; None only if each row is another person.
        epsilon: the price of this release under differential privacy: lower is safer and noisier.
        releases: how many releases of the dataset you plan; the first one sets its budget by it.
        k: in place of epsilon, for k-anonymity: counts are rounded down to its multiples.
        contract: the data contract: what you know of the columns.
        output_dir: the workspace; the release is in ``release/`` in it.
        settings: further keys of a configuration (docs/configuration.md), such as ``bins`` and ``domains``.
            A 0 is a value in every column, unless ``sensitive_zeros`` names those in which it is one.

    Raises:
        BudgetExhausted: the dataset's budget does not cover this release.
        ContractViolation: the table breaks a strict contract.
        ParameterError: the settings, or the table, can't be used as they are.
        MarginaliaError: anything else that stops it.
    """
    from marginalia import tables

    for name, label in (("dataset", dataset), ("vintage", vintage)):
        if not isinstance(label, str):
            raise ParameterError(f"{name} must be a text, not {type(label).__name__}.")
    flat: dict[str, Any] = {"dataset": dataset, "prefix": dataset, "vintage": vintage}
    flat |= {"subject_id": subject_id, "output_dir": str(output_dir)}
    if contract is not None:
        flat["contract"] = str(contract)
    flat |= _protection(epsilon, releases, k, settings)
    file, form = tables.to_parquet(df)
    with CallDisplay() as display:
        answer = ask({"do": "protect", "settings": flat}, display, file)
        folder = Path(answer["release"])
        records = tables.restore_dtypes(
            tables.read_released(records_file(folder)),
            form,
            answer["names"],
            settings.get("multi_value_columns"),
        )
        old = answer["unchanged"]
        done = "Released" if old is None else f"Nothing new was released: the table is that of vintage {old}"
        display.close(f"{done}: {folder}")
    return Release(folder, records, tuple(display.notes), flat.get("contract"))


#: Keys of a configuration that are arguments of `protect` by another name.
_ARGUMENTS_INSTEAD = {
    "sensitive_microdata_path": "The table is the first argument",
    "noise_epsilon": "The price of a release is given as epsilon",
    "reporting_resolution": "The least number of people is given as k",
    "dp_aggregates": "epsilon says differential privacy, and k says k-anonymity",
}


def _protection(
    epsilon: float | None, releases: int | None, k: int | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The keys of a configuration that these arguments of `protect` stand for, and the further ones."""
    is_syndiffix = settings.get("synthesis_mode") == "syndiffix"
    for key, instead in _ARGUMENTS_INSTEAD.items():
        if key in settings:
            raise ParameterError(f"{instead}: leave {key} out.")
    if releases is not None and (k is not None or is_syndiffix):
        raise ParameterError("releases is about the budget of differential privacy: leave it out here.")
    number = (epsilon is not None) + (k is not None) + is_syndiffix
    if number > 1 or (number == 0 and "privacy" not in settings):
        raise ParameterError(
            "A release needs one protection: give epsilon, such as epsilon=1, for differential privacy, "
            'or k, such as k=10, for k-anonymity, or synthesis_mode="syndiffix".'
            + name_misspelt(settings, ("epsilon", "k", "synthesis_mode"))
        )
    flat: dict[str, Any] = {} if is_syndiffix else {"sensitive_zeros": ["*"]}  # there every 0 is a value
    if "multi_value_columns" in settings:  # whose columns come out as they were
        flat["synthetic_forms"] = ["condensed"]
    if epsilon is not None:
        flat |= {"dp_aggregates": True, "noise_epsilon": epsilon}
    if k is not None:
        flat |= {"dp_aggregates": False, "reporting_resolution": k}
    flat |= settings
    privacy = settings.get("privacy", {})
    if releases is not None and isinstance(privacy, Mapping):
        flat["privacy"] = {"releases": releases, **privacy}
    return flat


@guard_call
def synthesize(df: "AnyTable", **settings: Any) -> "AnyTable":
    """Synthetic records like a table's: those of the release that `protect` makes.

    >>> records = synthesize(people, dataset="people", vintage="2026-11", subject_id="person", epsilon=1,
    ...                      releases=12, bins={"age": [0, 18, 40, 65]}, output_dir="out")
    >>> str(records["age"].dtype), records["age"].cat.ordered
    ('category', True)

    Args:
        df: the table.
        settings: as of `protect`.

    Raises:
        MarginaliaError: see `protect`.
    """
    return protect(df, **settings).records


@guard_call
def syndiffix(
    df: "AnyTable",
    *,
    ids: str | Sequence[str] = (),
    columns: str | Sequence[str] | None = None,
    dataset: str | None = None,
    date_formats: Mapping[str, str | Sequence[str]] | None = None,
    clustering: str | Mapping[str, str] | Sequence[Any] = "default",
    **settings: Any,
) -> "AnyTable":
    """A synthetic table by SynDiffix, which is not differentially private.

    >>> table = syndiffix(people, ids=["person"], columns=["age", "smoker"])
    >>> dict(table.dtypes.astype(str))
    {'age': 'int64', 'smoker': 'bool'}

    The noise stays the same however often you call it: its salt is kept with the ledger.

    Args:
        df: the table.
        ids: the columns that say whose row it is; none only if each row is another person.
        columns: those to synthesize: all but the ids. Fewer are more accurate.
        dataset: the name that the salt is kept under, for ever the same; None: the command's own.
        date_formats: how dates are written in columns of texts, such as {"visit": "%d/%m/%Y"}, or several
            formats of which the first that fits is taken. Such columns come out as dates.
        clustering: which columns are synthesized together: "default" (found out), "one" (all), "none" (each
            alone), {"target": "smoker"} (the target with what predicts it), or lists of columns, such as
            [["age", "sex"], ["sex", "smoker"]]: each further list is stitched to the table of those before by
            the columns that both have.
        settings: further ones (docs/syndiffix.md), such as ``main_column`` and ``low_threshold``.
            ``value_safe_columns`` takes names, or positions among the columns to synthesize, from 0.

    Raises:
        MarginaliaError: what the command ``marginalia syndiffix`` refuses.
    """
    from marginalia import tables

    file, form = tables.to_parquet(df)
    options = _syndiffix_options(
        form,
        ids=ids,
        columns=columns,
        dataset=dataset,
        date_formats=date_formats,
        clustering=clustering,
        **settings,
    )
    with CallDisplay() as display:
        synthetic = ask_for_table({"do": "syndiffix", "options": options}, display, file)
    own_names = {_bare(name): name for name in form.columns}
    names = {name: own_names.get(_bare(name), name) for name in synthetic.column_names}
    dated = set(map(_bare, date_formats or ()))  # which come out as they are found
    kept = {name: field for name, field in form.columns.items() if _bare(name) not in dated}
    return tables.restore_dtypes(synthetic, replace(form, columns=kept), names)


def _syndiffix_options(
    form: "TableForm",
    *,
    ids: str | Sequence[str] = (),
    columns: str | Sequence[str] | None = None,
    dataset: str | None = None,
    date_formats: Mapping[str, str | Sequence[str]] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    if "aidcolumns" in settings:
        raise ParameterError("The columns that say whose row it is are given as ids: leave aidcolumns out.")
    options: dict[str, Any] = {
        "aidcolumns": [ids] if isinstance(ids, str) else ids,
        "columns": [columns] if isinstance(columns, str) else columns,
        "dataset": dataset,
        "date_formats": dict(date_formats) if isinstance(date_formats, Mapping) else date_formats,
    }
    id_names = {_bare(name) for name in options["aidcolumns"] if isinstance(name, str)}
    synthesized = options["columns"] or [name for name in form.columns if _bare(name) not in id_names]
    options = {name: value for name, value in options.items() if value is not None} | settings
    safe = settings.get("value_safe_columns")
    if isinstance(safe, str):
        options["value_safe_columns"] = [safe]
    elif isinstance(safe, list | tuple):
        options["value_safe_columns"] = [_column_at(column, synthesized) for column in safe]
    return options


def _column_at(column: Any, synthesized: Sequence[str]) -> Any:
    """A column's name, also of its position among those that are synthesized."""
    if not isinstance(column, int) or isinstance(column, bool):
        return column
    if not 0 <= column < len(synthesized):
        raise ParameterError(
            f"value_safe_columns must name columns, or count those that are synthesized from 0 to "
            f"{len(synthesized) - 1}, but has {column}: name the column."
        )
    return synthesized[column]


def _bare(name: str) -> str:
    """A name without the blanks and quotes that the command takes off, in small letters."""
    return name.strip(" \t\r\n'\"").lower()


@guard_call
def build_blob(df: "AnyTable", path: str | Path, *, largest: int | None = None, **settings: Any) -> Blob:
    """Build a file that answers questions about any columns later, without the table and without the salt.

    >>> blob = build_blob(people, "people.sdxblob.zip", ids=["person"], columns=["age", "sex", "smoker"])
    >>> blob.columns
    ('age', 'sex', 'smoker')
    >>> blob.read(["smoker", "age"]).columns.tolist()
    ['smoker', 'age']

    It holds a synthetic table of every set of one, two and three columns, and of each cluster of all. It is
    as public as all of these together, and not differentially private.

    Args:
        df: the table.
        path: of the file, which ends in ``.sdxblob.zip``; one that is there is replaced.
        largest: columns of its largest table (10); 2 leaves out sets of more than two, of which many columns
            have too many.
        settings: as of `syndiffix`, such as ``ids``, ``columns`` and ``max_weight``; a target is named when
            it is read.

    Raises:
        MarginaliaError: what the command ``marginalia syndiffix --blob`` refuses.
    """
    from marginalia import tables

    file, form = tables.to_parquet(df)
    options = _syndiffix_options(form, **settings)
    place = str(_path(path, "file").expanduser().absolute())
    request = {"do": "build_blob", "options": options, "path": place, "largest": largest}
    if largest is not None and (isinstance(largest, bool) or not isinstance(largest, int)):
        raise ParameterError(f"largest must be a whole number, not {type(largest).__name__}.")
    with CallDisplay() as display:
        return Blob.of(ask(request, display, file))


@guard_call
def open_blob(path: str | Path) -> Blob:
    """A blob in a file, such as somebody gave you; no ledger and no table is needed.

    >>> blob = open_blob("people.sdxblob.zip")
    >>> blob.read(["age", "sex", "smoker"], target="smoker").columns.tolist()
    ['age', 'sex', 'smoker']

    Args:
        path: of the file.

    Raises:
        InputError: there is none, or it is no blob.
    """
    with CallDisplay() as display:
        place = str(_path(path, "file").expanduser().absolute())
        return Blob.of(ask({"do": "open_blob", "path": place}, display))


def _path(path: object, what: str) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"path must be the path of a {what}, not {type(path).__name__}.")
    return Path(path)


@guard_call
def stitch(left: "AnyTable", right: "AnyTable", *, shared: bool = True) -> "AnyTable":
    """Two synthetic tables as one: rows with like values of the columns that both have become one row.

    >>> left = syndiffix(people, ids=["person"], columns=["age", "sex"])
    >>> right = syndiffix(people, ids=["person"], columns=["age", "smoker"])
    >>> stitch(left, right).columns.tolist()
    ['age', 'sex', 'smoker']

    It reads no raw table and draws nothing that is secret. So what comes out tells no more than the two
    tables together, and is no better protected: give it synthetic tables alone. Relations between columns of
    one table stay. Those between the two are kept only as far as the shared columns carry them.

    Args:
        left: a synthetic table.
        right: another one, with at least one column of the same name.
        shared: True: as many rows as both have on average, the shared columns' values by turns. False: each
            row of the left one once, with its own values; to keep the right one's, swap them.

    Raises:
        ParameterError: they share no column, or one whose values are of another kind.
    """
    if not isinstance(shared, bool):
        raise ParameterError(
            "shared must be True or False: the tables are stitched by all columns that both have, so leave a "
            "column out of one of them if it is not to count."
        )
    from marginalia import tables

    (first, form), (second, right_form) = tables.to_parquet(left), tables.to_parquet(right)
    request = {"do": "stitch", "left_bytes": len(first), "owner": "shared" if shared else "left"}
    with CallDisplay() as display:
        stitched = ask_for_table(request, display, first, second)
    return tables.restore_dtypes(stitched, form.beside(right_form), {})


@guard_call
def evaluate(
    df: "AnyTable",
    release: Release,
    *,
    target: str | None = None,
    group: str | None = None,
    contract: str | Path | None = None,
    output_dir: str | Path | None = None,
) -> Evaluation:
    """Measure what a release is worth, against the raw table. The figures are not to be shared.

    >>> release = open_release("out/release/people")
    >>> evaluation = evaluate(people, release, target="smoker")
    >>> "sensitive" in evaluation.place.parts, sorted(evaluation.figures)[:2]
    (True, ['discriminator', 'features'])

    Nothing is drawn and nothing is charged. docs/releases.md explains the measures.

    Args:
        df: the raw table.
        release: of `protect` or `open_release`.
        target: a column that a learner predicts for raw records after it saw synthetic ones alone.
        group: a column in every set of the k-marginal score.
        contract: the release's data contract, where it has one and `protect` did not make it here.
        output_dir: the workspace whose ``sensitive/`` takes the figures: that of the release.

    Raises:
        ParameterError: the table is not of the release's columns, or the workspace is not known.
        MarginaliaError: anything else that stops it.
    """
    if not isinstance(release, Release):
        raise ParameterError("release must be what protect or open_release gave: open a folder first.")
    request = {
        "do": "evaluate",
        "release": str(release.folder),
        "output_dir": str(_workspace_of(release) if output_dir is None else output_dir),
        "contract": release.contract if contract is None else str(contract),
        "target": target,
        "group": group,
    }
    from marginalia import tables

    file, _ = tables.to_parquet(df)
    with CallDisplay() as display:
        answer = ask(request, display, file)
        display.close("Evaluated against the raw table. The figures are not to be shared.")
    return Evaluation(Path(answer["place"]))


def _workspace_of(release: Release) -> Path:
    *_, root = release.folder.parents[:3]
    if (root / "sensitive").is_dir():
        return root
    raise ParameterError(
        "The figures must stay in the folder sensitive/ of a workspace, and this release is in none: name "
        "one as output_dir."
    )


@guard_call
def open_release(path: str | Path, *, withdrawn: bool = False) -> Release:
    """A release in a folder, such as somebody gave you; no ledger and no table is needed.

    >>> release = open_release("out/release/people/latest")
    >>> release.vintage, release.statement["private"]
    ('2026-11', True)

    Texts become numbers and truth values where nothing is lost by it.

    Args:
        path: its folder, or the dataset's, whose latest release is meant.
        withdrawn: open a release that was withdrawn, too.

    Raises:
        ParameterError: there is no release, or nobody should use it any more.
        StoredTableMismatch: a file is missing, or was changed after the release.
    """
    return open_folder(_path(path, "folder"), withdrawn=withdrawn)
