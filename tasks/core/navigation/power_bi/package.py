"""A template as one file: what it is made of goes in, the bytes of a ``.pbit`` come out.

The file is an Open Packaging (zip) package of the parts that Power BI Desktop writes. Equal inputs give equal
bytes: parts stand in a fixed order, at zip's first moment, and are stored as they are, since another version
of zlib would compress them to other bytes.
"""

import io
import json
import zipfile
from typing import Any

from tasks.core.navigation.power_bi.layout import about, report_layout
from tasks.core.navigation.power_bi.model import TabularModel
from tasks.core.navigation.power_bi.showcase import ShowcaseInputs, plan_showcase
from tasks.core.navigation.power_bi.texts import filled_json, json_template, read_template

#: The first moment that a zip file can name.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
#: Of the package as a whole, not of the model or the layout.
_VERSION = "1.28"


def power_bi_template(inputs: ShowcaseInputs) -> tuple[bytes, tuple[str, ...]]:
    """The template, and what of the configuration it leaves out, a sentence each."""
    model = TabularModel(inputs, plan_showcase(inputs))
    return _package(_parts(model)), model.showcase.left_out


def _parts(model: TabularModel) -> dict[str, bytes]:
    """The package's parts by name, in the order in which Power BI Desktop writes them."""
    body = model.to_json()
    tables = [table["name"] for table in body["model"]["tables"]]
    description = " ".join([model.inputs.title, model.inputs.protection, *about(model)])
    return {
        "Version": _utf_16(_VERSION),
        "[Content_Types].xml": read_template("content_types.xml").encode(),
        "DataModelSchema": _utf_16(_json(body)),
        "DiagramLayout": _utf_16(_json(filled_json(json_template("diagram.json"), nodes=_nodes(tables)))),
        "Report/Layout": _utf_16(_json(report_layout(model))),
        "Settings": _utf_16(_json(json_template("settings.json"))),
        "Metadata": _utf_16(_json(filled_json(json_template("metadata.json"), description=description))),
    }


def _nodes(tables: list[str]) -> list[dict[str, Any]]:
    """The tables in the view of the model, some in a row."""
    across, width, height = 5, 234, 224
    return [
        {
            "location": {"x": place % across * (width + 46), "y": place // across * (height + 46)},
            "nodeIndex": name,
            "size": {"height": height, "width": width},
            "zIndex": place,
        }
        for place, name in enumerate(tables)
    ]


def _package(parts: dict[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as package:
        for name, content in parts.items():
            about_part = zipfile.ZipInfo(name, _NO_TIME)
            about_part.create_system = 0  # wherever it is made
            package.writestr(about_part, content)
    return whole.getvalue()


def _json(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, indent=1)


def _utf_16(text: str) -> bytes:
    """As Power BI Desktop reads its parts: little-endian, without a mark."""
    return text.encode("utf-16-le")
