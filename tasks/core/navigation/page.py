"""The page's text: figures and sentences go in, one self-contained HTML document comes out.

Everything is escaped on its way in; only our own charts and symbols enter as markup.
"""

import base64
import hashlib
import json
import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tasks.core.arrays import Json
from tasks.core.charts import svg, theme
from tasks.core.figures import format_down, format_near, format_percent_up, format_up, format_whole
from tasks.core.navigation.payload.release import Payload
from tasks.core.sentences import sentences_in

#: So many columns are named.
_COLUMNS_NAMED = 6
_TEXTS = sentences_in(Path(__file__).with_name("answers.toml")).texts


def page_sentence(key: str, **values: Any) -> Markup:
    """A sentence of ``answers.toml``; everything put in is escaped, whole numbers are written with commas.

    >>> page_sentence("exact.half", n=2, half="3.5"), page_sentence("columns.number", n=1832)
    (Markup('± 3.5 for 2 values'), Markup('1,832 columns'))
    """
    text = _TEXTS.get(key) or _TEXTS[f"{key}.{'one' if values['n'] == 1 else 'other'}"]
    return Markup(text).format(**{name: _format_value(value) for name, value in values.items()})


def _format_value(value: Any) -> str:
    if isinstance(value, Markup):
        return value
    return format_whole(value) if isinstance(value, int) else svg.clean(str(value))


def list_columns(names: Sequence[str], ages: Collection[str] = ()) -> Markup:
    """How many columns there are, and the first of them. Args: ages: those of ages, named after dates.

    >>> print(list_columns(["sex"]), list_columns(["birth_date", "sex"], {"birth_date"}), sep=" / ")
    1 column: sex / 2 columns: age (from birth_date) and sex
    """
    number, rest = page_sentence("columns.number", n=len(names)), len(names) - _COLUMNS_NAMED
    if not names:
        return number
    shown = [page_sentence("columns.age_from", column=name) if name in ages else name for name in names]
    named = [*shown[:_COLUMNS_NAMED], page_sentence("columns.more", n=rest)] if rest > 1 else shown
    return page_sentence("columns.named", columns=number, names=join_words(named))


def join_words(parts: Sequence[str]) -> Markup:
    texts = [each if isinstance(each, Markup) else Markup.escape(svg.clean(each)) for each in parts]
    last = [Markup(", ").join(texts[:-1])] if texts[:-1] else []
    return Markup(" and ").join([*last, *texts[-1:]])


_FOLDER = Path(__file__).parent

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


def _format_decimal(value: float) -> str:
    """A figure that is a short decimal, such as a multiple of 1/64, in full."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _clean_text(value: Any) -> Any:
    """Text without control characters; everything else as it is."""
    return svg.clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def html(template: str, context: Json, sheets: Sequence[str] = (), explorer: Payload | None = None) -> str:
    """The document for one context of a template.

    Args:
        sheets: style sheets of this kind of page, behind that of all pages.
        explorer: the data of the program by which readers explore the release; None: there is none.

    A browser runs and applies what the document's policy names by its hash: our own sheets and programs, read
    from their files. No text of a table, however it is spelt, is one of them.
    """
    environment = _environment()
    names = ("page.css", *sheets, "dark.css.j2")
    style = "".join(environment.get_template(name).render() for name in names)
    programs = [environment.get_template("page.js").render()]
    if explorer is not None:
        style += _read_bundle("explorer.css")
        programs.append(_read_bundle("explorer.js"))
    embedded = {
        "style": Markup(style),
        "programs": [Markup(program) for program in programs],
        "policy": _security_policy(style, programs),
        "release": None if explorer is None else Markup(json_in_page(explorer.meta)),
        "data": None if explorer is None else Markup(explorer.data),
    }
    return environment.get_template(template).render(context | embedded)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean_text,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "near": format_near,
        "up": format_up,
        "down": format_down,
        "whole": format_whole,
        "percent_up": format_percent_up,
        "exact": _format_decimal,
        "symbols": symbols,
    }
    environment.globals |= {
        "dark_colours": theme.DARK,
        "series": theme.SERIES,
        "say": page_sentence,
        "list_columns": list_columns,
        "join_words": join_words,
    }
    return environment


def _read_bundle(name: str) -> str:
    """A file of the explorer's bundle, which must not end the element that it stands in."""
    text = (_FOLDER / "explorer" / "bundle" / name).read_text(encoding="utf-8")
    assert not re.search("</(script|style)|<!--", text, re.IGNORECASE), f"{name} would end its element"
    return text


def _security_policy(style: str, programs: Sequence[str]) -> str:
    """The content security policy: this sheet and these programs, pictures of our own, and nothing else."""
    return (
        f"default-src 'none'; script-src {' '.join(map(_hash, programs))}; style-src {_hash(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def json_in_page(body: Json) -> str:
    r"""JSON that no text in it can end the element of, or be taken for markup in.

    >>> json_in_page({"title": "</script>"})
    '{"title":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def headed(sentence: str) -> tuple[str, str]:
    """A statement's sentence as a heading, the words before its colon, and the rest as a sentence."""
    name, said = sentence.split(": ", 1)
    return name, said[0].upper() + said[1:]
