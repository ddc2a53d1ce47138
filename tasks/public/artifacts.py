"""What the artifacts of a run are made of: keys, pictures and words of Markdown that both interfaces show."""

import base64
import re
from collections.abc import Sequence
from pathlib import Path

from tasks.core.charts.chart import Chart
from tasks.core.markdown import escaped


def artifact_key(kind: str, dataset: str) -> str:
    """The key of an artifact. Args: kind: such as ``lineage``. dataset: whose."""
    name = re.sub(r"[^a-z0-9]+", "-", dataset.lower()).strip("-")
    return f"{kind}-{name}"


def picture(chart: Chart) -> str:
    """A chart in Markdown: the only form that both interfaces draw, and nothing is fetched for it."""
    encoded = base64.b64encode(chart.as_file().encode()).decode()
    return f"![{chart.title}](data:image/svg+xml;base64,{encoded})"


def file_link(path: Path) -> str:
    """A link to a file, and its path as a text: browsers refuse to follow such links from a server's page."""
    return f"[{escaped(path.name)}]({path.as_uri()}) `{path}`"


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A table. Args: header, rows: cells, already escaped."""
    lines = [header, ("---",) * len(header), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
