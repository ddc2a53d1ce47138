"""Boxes and arrows: what is made from another stands under it, and what a longer way shows is not drawn."""

import re
from xml.etree import ElementTree

from tasks.core.charts.layers import WIDTH, Box, layers

BOXES = {
    "table": Box(["the <table>"], "sensitive", "#fde2e2"),
    "drawn": Box(["measurement"], "epsilon 1", "#fff3cd", ["table"]),
    "records": Box(["a_very_long_prefix_of_somebody_synthetic_microdata.tsv"], "", "#dceaf6", ["drawn"]),
    "page": Box(["people_data_showcase.html"], "", "#dceaf6", ["table", "drawn", "records"]),
}


def test_each_box_is_below_its_parents_and_an_arrow_that_a_longer_way_shows_is_left_out():
    drawn = layers(BOXES, "Lineage", "of a test").as_file()
    root = ElementTree.fromstring(drawn)
    places = [
        {name: float(rect.get(name, "0")) for name in ("x", "y", "width", "height")}
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")
        if rect.get("rx")
    ]
    assert [place["y"] for place in places] == sorted({place["y"] for place in places})
    assert all(place["x"] >= 0 and place["x"] + place["width"] <= WIDTH for place in places)
    assert float(root.get("width", "0")) <= 600
    assert len(re.findall(r'<path d="M[^"]*C', drawn)) == 3
    assert "the &lt;table&gt;" in drawn


def test_a_fourth_box_goes_one_row_down():
    boxes = {str(place): Box([f"file {place}"], "", "#dceaf6") for place in range(4)}
    drawn = layers(boxes, "Lineage", "of a test").as_file()
    tops = re.findall(r'<rect x="[^"]*" y="([^"]*)"[^>]*rx="5"', drawn)
    assert len(tops) == 4 and len(set(tops)) == 2


def test_an_arrow_over_a_row_passes_beside_its_boxes():
    boxes = {key: box for key, box in BOXES.items() if key != "page"} | {
        "statement": Box(["privacy.json"], "", "#dceaf6", ["table"]),
        "page": Box(["people_data_showcase.html"], "", "#dceaf6", ["statement", "records"]),
    }
    root = ElementTree.fromstring(layers(boxes, "Lineage", "of a test").as_file())
    rects = [each for each in root.iter("{http://www.w3.org/2000/svg}rect") if each.get("rx")]
    lanes = [
        float(re.findall(r"([0-9.]+) [0-9.]+V", path.get("d", ""))[0])
        for path in root.iter("{http://www.w3.org/2000/svg}path")
        if "V" in path.get("d", "")
    ]
    (records,) = [
        each
        for each in rects
        if float(each.get("y", "0")) == sorted(float(r.get("y", "0")) for r in rects)[-2]
    ]
    left = float(records.get("x", "0"))
    assert len(lanes) == 1 and not left <= lanes[0] <= left + float(records.get("width", "0"))
