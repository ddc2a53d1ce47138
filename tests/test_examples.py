"""What docstrings show runs, and every package says what belongs in it."""

import ast
import doctest
import importlib
import re
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
