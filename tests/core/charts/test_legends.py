"""Legends: every entry has room."""

import itertools
import xml.etree.ElementTree as ET

from tasks.core.charts import svg
from tasks.core.charts.legend import LegendEntry, legend


def texts(markup):
    return [
        (float(t.get("x")), float(t.get("y")), t.text) for t in ET.fromstring(f"<g>{markup}</g>").iter("text")
    ]


def test_entries_stand_beside_each_other_without_touching_and_go_on_on_the_next_line():
    markup, height = legend([LegendEntry(f"the meaning of {i}", "#000000", "line") for i in range(6)])
    found = texts(markup)
    assert len({y for _, y, _ in found}) > 1
    assert all(x + svg.text_width(words, 11.5) <= 400 for x, _, words in found)
    for (x, y, words), (after, same, _) in itertools.pairwise(found):
        assert y != same or after >= x + svg.text_width(words, 11.5)
    assert height > max(y for _, y, _ in found)


def test_nothing_to_tell_takes_no_room():
    assert legend([]) == ("", 0.0)
