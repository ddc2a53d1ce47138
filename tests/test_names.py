"""One name for one thing: no public function or class of the code is defined in two modules."""

import ast
from collections import defaultdict

from tests.flows.processes import ROOT


def test_no_public_name_is_defined_twice():
    homes: dict[str, set[str]] = defaultdict(set)
    # What a notebook calls has the words of the command, so that its own file is left out.
    calls = ROOT / "marginalia" / "__init__.py"
    files = [path for folder in ("flows", "marginalia", "tasks") for path in (ROOT / folder).rglob("*.py")]
    for path in sorted(path for path in files if path != calls):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            is_named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            if is_named and not node.name.startswith("_"):  # type: ignore[attr-defined]
                homes[node.name].add(str(path.relative_to(ROOT)))  # type: ignore[attr-defined]
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
