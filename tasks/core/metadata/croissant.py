"""A release described for machines: ``croissant.json``, in MLCommons' Croissant 1.1.

Every file that is released is a FileObject with its hash, every table a RecordSet whose fields are read off
the released file's own header. Where a table is there in two formats, the RecordSet is of the Parquet file.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.arrays import Json
from tasks.core.metadata.methods import protection_line
from tasks.core.metadata.release_facts import DescribedRelease
from tasks.core.sentences import sentences_of
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tasks.core.tables.writing import first_row

_TEXT = sentences_of("croissant")

#: As the standard gives it (docs.mlcommons.org/croissant, version 1.1).
_CONTEXT: Json = json.loads(Path(__file__).with_name("croissant_context.json").read_text(encoding="utf-8"))
_FORMATS = {
    ".json": "application/json",
    ".parquet": "application/x-parquet",
    ".tsv": "text/tab-separated-values",
    ".html": "text/html",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
    ".cff": "application/yaml",
}
#: Columns of counts in a text file, where a header says no type.
_COUNTS = frozenset({"protected_count", "count", "noisy_count", "least_squares", "at_least", "at_most", "Id"})


def croissant_json(release: DescribedRelease, bibtex: str) -> str:
    """The text of ``croissant.json``."""
    said, kind = release.said, protection_line(release)
    told = _TEXT.say(
        "dataset.description", dataset=release.statement["dataset"], vintage=release.vintage, kind=kind
    )
    body: Json = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": release.name,
        "description": " ".join(filter(None, (said.description, told))),
        "version": release.vintage,
        "citeAs": bibtex,
        "rai:personalSensitiveInformation": _TEXT.say("dataset.sensitive", kind=kind),
        "rai:dataLimitations": " ".join(_limitations(release.statement)),
    }
    if said.publisher:
        organisation: Json = {"@type": "sc:Organization", "name": said.publisher}
        body |= {"creator": organisation, "publisher": organisation}
    named = {"license": said.license, "url": said.url, "rai:dataUseCases": said.purpose}
    body |= {key: value for key, value in named.items() if value}
    body["distribution"] = [_file_object(entry) for entry in release.files]
    body["recordSet"] = list(_record_sets(release))
    check_released_json(body, RELEASED_KEYS["croissant"])
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _limitations(stated: Json) -> list[str]:
    """What a count does not count, where that is said, and what is not protected."""
    meaning = stated.get("contribution", {}).get("meaning")
    return [*([meaning] if meaning else []), *stated["not_covered"]]


def _file_object(entry: Json) -> Json:
    name = str(entry["file"])
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": f"{entry['made_from']}; {entry['protection']}",
        "contentUrl": name,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": _FORMATS.get(Path(name).suffix, "application/octet-stream"),
        "sha256": entry["sha256"],
    }


def _record_sets(release: DescribedRelease) -> Iterator[Json]:
    names = [str(entry["file"]) for entry in release.files]
    for name in names:
        path = Path(name)
        twin = str(path.with_suffix(".parquet"))
        if path.suffix == ".parquet" or (path.suffix == ".tsv" and twin not in names):
            columns = list(_columns(release.folder / name))
            if columns:
                yield _record_set(name, path.stem, _told(path.stem, release.prefix), columns)


def _told(stem: str, prefix: str) -> str:
    kind = stem.removeprefix(f"{prefix}_")
    known = f"table.{kind}" in _TEXT.texts
    return _TEXT.say(f"table.{kind if known else 'answer'}")


def _record_set(file: str, name: str, told: str, columns: list[tuple[str, Json]]) -> Json:
    place = str(Path(file).with_suffix(""))
    return {
        "@type": "cr:RecordSet",
        "@id": f"table/{place}",
        "name": name,
        "description": told,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"table/{place}/{number}",
                "name": column,
                **kind,
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }
            for number, (column, kind) in enumerate(columns)
        ],
    }


def _columns(path: Path) -> Iterator[tuple[str, Json]]:
    if path.suffix == ".parquet":
        for field in pq.read_schema(path):
            yield field.name, _type(field.type)
        return
    for name in first_row(path):
        yield name, {"dataType": "sc:Integer" if name in _COUNTS else "sc:Text"}


def _type(kind: pa.DataType) -> Json:
    if pa.types.is_list(kind):
        return {**_type(kind.value_type), "isArray": True, "arrayShape": "-1"}
    for is_it, name in (
        (pa.types.is_integer, "sc:Integer"),
        (pa.types.is_floating, "sc:Float"),
        (pa.types.is_boolean, "sc:Boolean"),
        (pa.types.is_date, "sc:Date"),
        (pa.types.is_timestamp, "sc:DateTime"),
    ):
        if is_it(kind):
            return {"dataType": name}
    return {"dataType": "sc:Text"}
