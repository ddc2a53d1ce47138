"""The template for Power BI: a package of the parts that Power BI Desktop writes, each of a known form."""

import io
import json
import re
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tasks.core.navigation.power_bi import power_bi_template

TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
PARTS = ("DataModelSchema", "DiagramLayout", "Report/Layout", "Settings", "Metadata")


@pytest.fixture(scope="module")
def package():
    with zipfile.ZipFile(io.BytesIO(power_bi_template())) as package:
        yield package


@pytest.fixture(scope="module")
def parts(package):
    return {name: json.loads(package.read(name).decode("utf-16-le")) for name in PARTS}


def unfolded(layout):
    """The layout with the JSON in place that it holds as text."""
    if isinstance(layout, dict):
        return {
            key: unfolded(json.loads(value) if key in {"config", "filters"} else value)
            for key, value in layout.items()
        }
    return [unfolded(each) for each in layout] if isinstance(layout, list) else layout


def test_every_part_has_a_content_type_and_stands_as_it_is(package):
    entries = package.infolist()
    types = ET.fromstring(package.read("[Content_Types].xml"))
    assert package.testzip() is None
    assert package.read("Version").decode("utf-16-le") == "1.28"
    assert [entry.filename for entry in entries] == ["Version", "[Content_Types].xml", *PARTS]
    named = {each.attrib["PartName"] for each in types.iter(f"{TYPES}Override")}
    assert named == {f"/{name}" for name in ("Version", *PARTS)}
    assert {(entry.date_time, entry.compress_type) for entry in entries} == {((1980, 1, 1, 0, 0, 0), 0)}
    assert all(package.read(name)[:2] == b"{\0" for name in PARTS), "no mark before the JSON"


def test_model_and_layout_are_of_their_form(parts):
    for part, file in {"DataModelSchema": "tabular_model", "Report/Layout": "report_layout"}.items():
        schema = json.loads((Path(__file__).parent / f"{file}.schema.json").read_text())
        Draft7Validator.check_schema(schema)
        errors = Draft7Validator(schema).iter_errors(unfolded(parts[part]))
        assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_relationships_visuals_and_measures_name_what_the_model_has(parts):
    model = parts["DataModelSchema"]["model"]
    columns = {(t["name"], c["name"]) for t in model["tables"] for c in t["columns"]}
    measures = {(t["name"], m["name"]) for t in model["tables"] for m in t.get("measures", [])}
    for each in model["relationships"]:
        assert {(each["fromTable"], each["fromColumn"]), (each["toTable"], each["toColumn"])} <= columns
    dax = " ".join(line for t in model["tables"] for m in t.get("measures", []) for line in m["expression"])
    assert set(re.findall(r"'([^']+)'\[([^]]+)\]", dax)) <= columns
    for section in unfolded(parts["Report/Layout"])["sections"]:
        for visual in (each["config"]["singleVisual"] for each in section["visualContainers"]):
            selected = visual.get("prototypeQuery", {"Select": []})["Select"]
            assert {each["Name"] for each in selected} <= {".".join(name) for name in columns | measures}
            shown = [each["queryRef"] for role in visual.get("projections", {}).values() for each in role]
            assert shown == [each["Name"] for each in selected]
    nodes = [each["nodeIndex"] for each in parts["DiagramLayout"]["diagrams"][0]["nodes"]]
    assert nodes == [table["name"] for table in model["tables"]]


def test_the_files_that_are_read_are_two_and_released(parts):
    """No table of what is rare or linkable in the raw data, as SDS's template reads them."""
    text = json.dumps(parts["DataModelSchema"])
    assert set(re.findall(r'"(_[a-z_]+\.tsv)', text.replace("\\", ""))) == {
        "_synthetic_microdata.tsv",
        "_reportable_aggregates.tsv",
    }
    assert not re.search(r"\b(Web|Sql|Odbc|OleDb|Excel|OData|Value)\.[A-Z]|(home|tmp|Users)/", text)
    assert re.search(r'"null meta \[IsParameterQuery = true', text), "it asks for the folder"


def test_visuals_lie_on_the_page_and_none_on_another(parts):
    (section,) = parts["Report/Layout"]["sections"]
    boxes = [
        (each["x"], each["y"], each["x"] + each["width"], each["y"] + each["height"])
        for each in section["visualContainers"]
    ]
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= 1280 and bottom <= 720
        assert all(right <= a or c <= left or bottom <= b or d <= top for a, b, c, d in boxes[:place])
