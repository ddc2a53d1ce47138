"""How a release is cited: ``CITATION.cff`` (Citation File Format 1.2.0), and the same as BibTeX.

The author is the publisher that the operator named. Where none was named, the citation says so.
"""

import math
import re

import yaml
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from tasks.core.arrays import Json
from tasks.core.metadata.described import Described
from tasks.core.metadata.methods import protection_told
from tasks.core.sentences import sentences_of

_TEXT = sentences_of("methods")


def citation_cff(release: Described) -> str:
    """The text of ``CITATION.cff``."""
    said, stated = release.said, release.statement
    body: Json = {
        "cff-version": "1.2.0",
        "message": _TEXT.say("citation.message"),
        "type": "dataset",
        "title": release.name,
        "version": release.vintage,
        "authors": [{"name": _author(release)}],
        "abstract": " ".join(filter(None, (said.description, protection_told(release)))),
        "identifiers": [
            {
                "type": "other",
                "value": f"sha256:{stated['measurement_sha256']}",
                "description": _TEXT.say("citation.measurement"),
            }
        ],
    }
    if said.publisher and re.fullmatch(r"[^@\s]+@[^@\s]+", said.contact):
        body["contact"] = [{"name": said.publisher, "email": said.contact}]
    body |= _license(said.license)
    body |= {"url": said.url} if said.url else {}
    # Unfolded: where a line breaks would depend on the length of the code version in it.
    return yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=math.inf)


def _author(release: Described) -> str:
    return release.said.publisher or _TEXT.say("citation.nobody")


def _license(license: str) -> Json:
    """An SPDX name has a field of its own, and so has a web address; other words have none."""
    if re.match(r"https?://", license):
        return {"license-url": license}
    try:
        name = canonicalize_license_expression(license)
    except InvalidLicenseExpression:
        return {}
    return {} if " " in name else {"license": name}


def citation_text(release: Described) -> str:
    """One line for a list of sources."""
    url = f" {release.said.url}" if release.said.url else ""
    return (
        _TEXT.say("citation.line", author=_author(release), title=release.name, vintage=release.vintage) + url
    )


def citation_bibtex(release: Described) -> str:
    """One ``@misc`` entry."""
    fields = {
        "author": f"{{{_bibtex(_author(release))}}}",
        "title": f"{{{_bibtex(release.name)}}}",
        "version": _bibtex(release.vintage),
        "note": _bibtex(protection_told(release)),
    }
    fields |= {"url": release.said.url} if release.said.url else {}
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
    return f"@misc{{{release.slug},\n" + ",\n".join(lines) + "\n}"


def _bibtex(text: str) -> str:
    """Text in which BibTeX and LaTeX see no mark of their own."""
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(words.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in text)
