"""The page's text: figures and sentences go in, one self-contained HTML document comes out.

Everything is escaped on its way in; only our own charts and symbols enter as markup.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tasks.core.arrays import Json
from tasks.core.charts import svg, theme
from tasks.core.figures import down, near, percent_up, up, whole

_SYMBOLS = {
    "epsilon": "ε", "delta": "δ", "Delta": "Δ", "mu": "μ", "sigma": "σ", "tau": "τ", "rho": "ρ", "eta": "η",
    "Phi": "Φ", "sqrt": "√", "sum": "Σ", "prod": "Π", "n-hat": "n̂",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?<!')\b(n-hat|epsilon|delta|Delta|mu|sigma|tau|rho|eta|Phi|sqrt|sum(?! of )|prod|"
    r"[fszpwkVSLmDRTW]|[a-zA-Z](?=_))(?:_(\(k-1\)|[A-Za-z0-9]+))?"
    r"(\^-?\d+)?(?![A-Za-z0-9_])"
)

#: A power of what is no symbol, and one that is itself a formula: ``^( ... )`` without brackets inside.
_POWER = re.compile(r"\^(?:\(([^()]*)\)|(-?\d+))")


def symbols(formula: str) -> Markup:
    """A formula of the statement in Greek letters, with its indices and powers set small."""
    parts, place = [], 0
    for found in _TOKEN.finditer(formula):
        parts.append(svg.escape(formula[place : found.start()]))
        name, index, power = found.groups()
        index = {"threshold": "t", "noise": "g"}.get(index, index)
        parts.append(_SYMBOLS.get(name, f"<i>{name}</i>"))
        parts.append(f"<sub>{svg.escape(index)}</sub>" if index else "")
        parts.append(f"<sup>{power[1:].replace('-', '−')}</sup>" if power else "")
        place = found.end()
    parts.append(svg.escape(formula[place:]))
    text = _POWER.sub(lambda power: f"<sup>{power[1] or power[2].replace('-', '−')}</sup>", "".join(parts))
    return Markup(text.replace("&lt;=", "≤").replace("&gt;=", "≥").replace(" * ", "·").replace(" - ", " − "))


def _exact(value: float) -> str:
    """A figure that is a short decimal, such as a multiple of 1/64, in full."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _shown(value: Any) -> Any:
    """Text without control characters; everything else as it is."""
    return svg.clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def html(context: dict[str, Any], template: str) -> str:
    """The document for one context of a template."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "near": near,
        "up": up,
        "down": down,
        "whole": whole,
        "percent_up": percent_up,
        "exact": _exact,
        "symbols": symbols,
    }
    environment.globals |= {"dark_colours": theme.DARK, "series": theme.SERIES}
    return environment.get_template(template).render(context)


def in_groups(
    columns: Mapping[str, Json], visuals: Mapping[str, Json], pages: Mapping[str, Sequence[str]]
) -> list[Json]:
    """Columns and visuals under the configured pages; where there is none, the visuals first.

    Args:
        columns: by name, what the template needs of each.
        visuals: likewise; they stand before a column of the same name.
        pages: the names on each page, in order.
    """
    drawn = {**columns, **visuals}
    chosen = pages or ({"": list(visuals)} if visuals else {})
    groups = [(title, [name for name in names if name in drawn]) for title, names in chosen.items()]
    placed = {name for _, names in groups for name in names}
    if rest := [name for name in columns if name not in placed]:
        groups.append(("Other columns" if groups and groups[0][0] else "", rest))
    return [
        {"name": title, "columns": [drawn[name] | {"id": f"column-{g}-{i}"} for i, name in enumerate(names)]}
        for g, (title, names) in enumerate(groups)
    ]


def headed(sentence: str) -> tuple[str, str]:
    """A statement's sentence as a heading, the words before its colon, and the rest as a sentence."""
    name, said = sentence.split(": ", 1)
    return name, said[0].upper() + said[1:]
