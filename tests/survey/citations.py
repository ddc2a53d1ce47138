"""Citations in docstrings and comments: source text in, references to the design out.

An item of the design is named by a letter and a number, as ``R12``, ``W21`` or ``S4.2``; where it is written,
in a file of docs/design, it has an anchor of that name.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

DESIGN = Path("docs/design")
CITATION = re.compile(r"(?<![\w.`'\"/-])(?:[ACDEGPRTW]\d{1,2}|[SX]\d{1,2}\.\d{1,2})(?![\w.]*\w)")
_ANCHOR = re.compile(r'<a id="([A-Z]\d+(?:\.\d+)?)">')
#: Notes that no reader of the repository has, and rules named without their letter.
ELSEWHERE = re.compile(
    r"\b(?:privacy|workloads|sds|syndiffix|fitted|orchestration|performance|utility|relations|vintages|rows"
    r"|prefect|trim|house|style)\.md\b|\b[Rr]ules? \d+\b"
)
#: Documents of this repository, whose names may be like those of notes.
_HERE = re.compile(r"\bdocs/(?:design/)?\w+\.md\b")

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(tree: ast.AST) -> Iterator[ast.Expr]:
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, False):
            yield node.body[0]  # type: ignore[misc]


def comments(source: str) -> Iterator[tokenize.TokenInfo]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return (token for token in tokens if token.type == tokenize.COMMENT)


def cited(text: str) -> list[str]:
    return CITATION.findall(text)


def cited_elsewhere(text: str) -> list[str]:
    return ELSEWHERE.findall(_HERE.sub("", text))


def design_items(root: Path) -> list[str]:
    """The names of all anchors in the files of docs/design, as often as they are there."""
    documents = sorted((root / DESIGN).glob("*.md"))
    return [item for file in documents for item in _ANCHOR.findall(file.read_text(encoding="utf-8"))]
