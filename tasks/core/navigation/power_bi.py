"""The Power BI template of a release: nothing goes in, the bytes of a ``.pbit`` come out, always the same.

It holds no data. Opened, it asks for the folder of a release, reads the synthetic records and the reportable
aggregates there, and shows them in long form: attribute, value, count, record.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

#: The package's parts by name, in the order in which Power BI Desktop writes them.
_PARTS = Path(__file__).parent / "templates" / "power_bi.json"
#: The first moment that a zip file can name.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
#: What the layout holds as JSON within JSON.
_TEXTS = {"config", "filters"}


def power_bi_template() -> bytes:
    """A zip package, stored as it is: another version of zlib would compress to other bytes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as package:
        for name, body in json.loads(_PARTS.read_text(encoding="utf-8")).items():
            about = zipfile.ZipInfo(name, _NO_TIME)
            about.create_system = 0  # wherever it is made
            text = body if isinstance(body, str) else json.dumps(_with_texts(body), ensure_ascii=False)
            # Power BI Desktop reads its parts as little-endian UTF-16 without a mark.
            package.writestr(about, text.encode("utf-8" if name.endswith(".xml") else "utf-16-le"))
    return whole.getvalue()


def _with_texts(body: Any) -> Any:
    if isinstance(body, dict):
        return {
            key: json.dumps(value, ensure_ascii=False) if key in _TEXTS else _with_texts(value)
            for key, value in body.items()
        }
    return [_with_texts(each) for each in body] if isinstance(body, list) else body
