"""What docstrings show runs, every package says what belongs in it, and no public name is defined twice."""

import ast
import doctest
import importlib
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(file for folder in ("flows", "tasks") for file in (ROOT / folder).rglob("*.py"))
# Those of the module `marginalia` make releases: tests/marginalia/test_examples.py runs them.
WITH_EXAMPLES = [file for file in FILES if re.search(r"^\s*>>> ", file.read_text("utf-8"), re.M)]


def _named(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=_named)
def test_examples_give_what_they_say(file):
    found = doctest.testmod(importlib.import_module(_named(file)))
    assert found.failed == 0
    # A docstring that doctest does not see (of a cached property, say) would never be run.
    assert found.attempted == len(re.findall(r"^\s*>>> ", file.read_text("utf-8"), re.M))


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=lambda path: path.name)
def test_a_package_says_what_belongs_in_it_and_what_does_not(folder):
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    assert len(re.findall(r"\.(?=\s|$)", said)) >= 2
    assert len(said.splitlines()) >= 3
    for name in re.findall(r"Read\s`([\w./]+)`", said):
        assert any((folder / place).is_file() for place in (name, f"{name.replace('.', '/')}.py")), name


def test_no_public_name_is_defined_twice():
    homes: dict[str, set[str]] = defaultdict(set)
    # What a notebook calls has the words of the command, so that its own file is left out.
    calls = ROOT / "marginalia" / "__init__.py"
    for path in (path for path in [*FILES, *(ROOT / "marginalia").rglob("*.py")] if path != calls):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            is_named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            if is_named and not node.name.startswith("_"):  # type: ignore[attr-defined]
                homes[node.name].add(str(path.relative_to(ROOT)))  # type: ignore[attr-defined]
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
