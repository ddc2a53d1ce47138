"""The file and its parts: a zip package of the parts that Power BI Desktop writes, each of a known form."""

import io
import json
import re
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tasks.core.navigation.power_bi.package import power_bi_template
from tasks.core.records.columns import Column, Schema
from tests.oracles.dax import read_measure
from tests.oracles.power_query import read_query
from tests.oracles.showcases import (
    PARTS,
    PRIVATE,
    hostile_schema,
    made_release,
    parts_of,
    template_of,
    visuals_of,
)

HERE = Path(__file__).parent
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
#: Values that only the data has: none may be in a template.
SECRET = ("Zanzibar", "Quetzal")
PEOPLE = [
    {"sex": SECRET[0], "Sex": "F", "langs": frozenset({"fr"}), 'it\'s [odd] "so" #(lf) $rows': SECRET[1]},
    {"sex": "m", "Record": "a]b", "langs": frozenset({"'"})},
]


@pytest.fixture(params=["hostile", "plain", "wide", "nothing chosen"])
def template(request, tmp_path):
    schemas = {
        "plain": Schema((Column("sex"), Column("town"))),
        "wide": Schema(tuple(Column(f"column {number}") for number in range(70))),
    }
    layouts = {
        "hostile": {
            "title": "<b>'Title'</b>\n\"; $x #(lf)",
            "visuals": {"it's ]'[\n": ("sex:a'b", 'sex:"', "langs_':1"), "Measure": ("Sex:F",)},
            "pages": {"'1'\t": ("it's ]'[\n", "sex", "langs"), "2": ("Measure", "SEX"), "3": ()},
        },
        "wide": {"statement": PRIVATE},
    }
    schema = schemas.get(request.param, hostile_schema())
    return template_of(made_release(tmp_path, schema, PEOPLE, PEOPLE, **layouts.get(request.param, {})))


def unfolded(layout):
    """The layout with the JSON in place that it holds as text."""
    texts = {"config", "filters"}
    if isinstance(layout, dict):
        return {key: unfolded(json.loads(value) if key in texts else value) for key, value in layout.items()}
    return [unfolded(each) for each in layout] if isinstance(layout, list) else layout


def check(body, schema: str) -> None:
    schema = json.loads((HERE / schema).read_text())
    Draft7Validator.check_schema(schema)
    assert [
        f"{error.json_path}: {error.message}" for error in Draft7Validator(schema).iter_errors(body)
    ] == []


def test_every_part_has_a_content_type_and_stands_as_it_is(template):
    with zipfile.ZipFile(io.BytesIO(template)) as package:
        assert package.testzip() is None
        entries = package.infolist()
        types = ET.fromstring(package.read("[Content_Types].xml"))
        assert package.read("Version").decode("utf-16-le") == "1.28"
    assert [entry.filename for entry in entries] == ["Version", "[Content_Types].xml", *PARTS]
    named = {each.attrib["PartName"] for each in types.iter(f"{TYPES}Override")}
    assert named == {f"/{name}" for name in ("Version", *PARTS)}
    assert {(entry.date_time, entry.compress_type) for entry in entries} == {((1980, 1, 1, 0, 0, 0), 0)}


def test_the_json_of_parts_has_no_mark_before_it(template):
    with zipfile.ZipFile(io.BytesIO(template)) as package:
        assert all(package.read(name)[:2] == b"{\0" for name in PARTS)


def test_model_and_layout_are_of_their_form(template):
    parts = parts_of(template)
    check(parts["DataModelSchema"], "tabular_model.schema.json")
    check(unfolded(parts["Report/Layout"]), "report_layout.schema.json")


def test_names_are_unique_whatever_their_case(template):
    model = parts_of(template)["DataModelSchema"]["model"]
    tables, queries = ([each["name"].casefold() for each in model[key]] for key in ("tables", "expressions"))
    assert len({*tables, *queries}) == len(tables) + len(queries)
    for table in model["tables"]:
        names = [each["name"].casefold() for each in (*table["columns"], *table.get("measures", []))]
        assert len(set(names)) == len(names)
    relationships = [each["name"].casefold() for each in model["relationships"]]
    assert len(set(relationships)) == len(relationships)


def test_relationships_and_visuals_name_what_the_model_has(template):
    parts = parts_of(template)
    model, pages = parts["DataModelSchema"]["model"], visuals_of(parts["Report/Layout"])
    columns = {(t["name"], c["name"]) for t in model["tables"] for c in t["columns"]}
    measures = {(t["name"], m["name"]) for t in model["tables"] for m in t.get("measures", [])}
    for each in model["relationships"]:
        assert {(each["fromTable"], each["fromColumn"]), (each["toTable"], each["toColumn"])} <= columns
    for visual in (each["singleVisual"] for page in pages for each in page):
        if visual["visualType"] == "textbox":
            continue
        query = visual["prototypeQuery"]
        tables = {each["Name"]: each["Entity"] for each in query["From"]}
        for each in query["Select"]:
            (kind,) = {"Column", "Measure"} & set(each)
            table = tables[each[kind]["Expression"]["SourceRef"]["Source"]]
            known = columns if kind == "Column" else measures
            assert (table, each[kind]["Property"]) in known
            assert each["Name"] == f"{table}.{each[kind]['Property']}"
        shown = [each["queryRef"] for role in visual["projections"].values() for each in role]
        assert shown == [each["Name"] for each in query["Select"]]
    nodes = [each["nodeIndex"] for each in parts["DiagramLayout"]["diagrams"][0]["nodes"]]
    assert nodes == [table["name"] for table in model["tables"]]


def test_visuals_lie_on_the_page_and_none_on_another(template):
    for section in parts_of(template)["Report/Layout"]["sections"]:
        boxes = [
            (each["x"], each["y"], each["x"] + each["width"], each["y"] + each["height"])
            for each in section["visualContainers"]
        ]
        for place, (left, top, right, bottom) in enumerate(boxes):
            assert left >= 0 and top >= 0 and right <= 1280 and bottom <= 720
            assert right - left >= 100 and bottom - top >= 60
            for a, b, c, d in boxes[:place]:
                assert right <= a or c <= left or bottom <= b or d <= top


def test_queries_and_measures_are_read_to_their_end(template):
    model = parts_of(template)["DataModelSchema"]["model"]
    for each in model["expressions"]:
        read_query("\n".join(each["expression"]))
    for table in model["tables"]:
        read_query("\n".join(table["partitions"][0]["source"]["expression"]))
        for measure in table.get("measures", []):
            read_measure("\n".join(measure["expression"]))


def test_a_template_has_no_value_and_no_count_of_the_data(template):
    text = " ".join(map(str, parts_of(template).values()))
    assert not any(secret in text for secret in SECRET)


def test_the_files_that_are_read_are_two_and_released(template):
    """No table of what is rare or linkable in the raw data, as SDS's template reads them (sds.md 6.2)."""
    model = parts_of(template)["DataModelSchema"]["model"]
    texts = ["\n".join(each["expression"]) for each in model["expressions"]]
    texts += ["\n".join(table["partitions"][0]["source"]["expression"]) for table in model["tables"]]
    endings = {found for text in texts for found in re.findall(r'"(_[a-z_]+\.tsv)"', text)}
    assert endings == {"_synthetic_microdata.tsv", "_reportable_aggregates.tsv"}
    reading = [text for text in texts if "File.Contents" in text or "Csv.Document" in text]
    assert len(reading) == 2
    assert all("Encoding = 65001" in text for text in reading)
    # Nothing else reaches out, and no path of a machine stands anywhere.
    assert not any(
        re.search(r"\b(Web|Sql|Odbc|OleDb|Folder|Excel|OData|Value)\.[A-Z]", text) for text in texts
    )
    assert not any(re.search(r"[A-Za-z]:\\|/(home|tmp|Users)/", text) for text in texts)


def test_equal_inputs_give_equal_bytes(tmp_path):
    release = made_release(tmp_path, hostile_schema(), PEOPLE, PEOPLE)
    assert power_bi_template(release.inputs) == power_bi_template(release.inputs)
    again = made_release(tmp_path, hostile_schema(), PEOPLE[::-1], PEOPLE)
    assert template_of(again) == template_of(release)


def test_it_asks_for_the_folder_and_knows_the_prefix(template):
    expressions = parts_of(template)["DataModelSchema"]["model"]["expressions"]
    asked = [each for each in expressions if "IsParameterQuery" in each["expression"][0]]
    assert {each["name"]: each["expression"][0].split(" meta ")[0] for each in asked} == {
        "Folder of the release": "null",
        "Prefix of its files": '"p"',
    }
