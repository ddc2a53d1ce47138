"""A checkout goes in, the figures of its size come out: lines, files, what is declared, who imports whom.

The product is ``flows``, ``marginalia`` and ``tasks``. Lines are those of ``wc -l``. A line of a docstring is
one that it spans, a comment has its line to itself, and code is all else that is not blank.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from tests.survey.citations import cited, cited_elsewhere, comments, design_items, docstrings

PRODUCT = ("flows", "marginalia", "tasks")
PAGE = Path("tasks/core/navigation/explorer/source")
SMALL = 40
#: Classes of one table of records each: who asks which it was given, by isinstance, has two ways.
TABLES = re.compile(r"\w*(Records|Aggregates|CountedTable)")


def count_lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def python_files(root: Path, folders: Iterable[str]) -> list[Path]:
    found = (file for folder in folders for file in (root / folder).rglob("*.py"))
    return sorted(file for file in found if not {"node_modules", "__pycache__"} & set(file.parts))


def imported_modules(tree: ast.AST, known: set[str]) -> set[str]:
    """The product's modules that a file imports, wherever in it; a package is its ``__init__``."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & known or {node.module}
            if inner - known:
                found.add(node.module)
    return found & known


def module_imports(root: Path) -> dict[str, set[str]]:
    """The product's modules, and which of its others each imports."""
    trees = {
        module_name(root, file): ast.parse(file.read_text(encoding="utf-8"))
        for file in python_files(root, PRODUCT)
    }
    known = set(trees)
    return {name: imported_modules(tree, known) - {name} for name, tree in trees.items()}


def module_name(root: Path, file: Path) -> str:
    return ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def script_imports(root: Path) -> dict[str, set[str]]:
    """The page's files, and which others each imports."""
    scripts = sorted(file for suffix in ("*.js", "*.jsx") for file in (root / PAGE).rglob(suffix))
    return {str(file.resolve()): imported_scripts(file) for file in scripts}


def imported_scripts(file: Path) -> set[str]:
    """The page's files that one of them imports, by relative paths."""
    named = re.findall(r"""(?:from|import)\s*["'](\.[^"']*)["']""", file.read_text(encoding="utf-8"))
    paths = [(file.parent / name).resolve() for name in named]
    return {str(path / "index.js" if path.is_dir() else path) for path in paths}


def circles(edges: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Sets of modules of which each reaches all others by imports."""
    reach: dict[str, set[str]] = {}
    for start in edges:
        seen: set[str] = set()
        waiting = list(edges[start])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += edges.get(module, ())
        reach[start] = seen
    return sorted(
        {
            tuple(sorted(other for other in reach[start] if start in reach.get(other, ())))
            for start in edges
            if start in reach[start]
        }
    )


def spread(sizes: Iterable[int]) -> str:
    """The median, the size that nine of ten do not exceed, and the largest."""
    ordered = sorted(sizes)
    return f"{median(ordered):.0f} / {ordered[int(0.9 * (len(ordered) - 1))]} / {ordered[-1]}"


def package_of(path: Path) -> str:
    """Where lines are summed: a folder of tasks/core or of tasks, else the first folder."""
    folders = path.parts[:-1]
    depth = 1 if folders[0] != "tasks" else 3 if folders[1:2] == ("core",) else 2
    return "/".join(folders[:depth]) if folders != ("tasks",) else "tasks/*.py"


def _asks_for_table(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"):
        return False
    named = (inner.id for inner in ast.walk(node.args[1]) if isinstance(inner, ast.Name))
    return any(TABLES.fullmatch(name) for name in named)


class _Counts:
    """What is summed while the files are read one by one."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.functions: list[int] = []

    def add_product(self, source: str, tree: ast.AST) -> None:
        spans = [(text.lineno, text.end_lineno or text.lineno) for text in docstrings(tree)]
        lines = source.splitlines()
        documented = {line for first, last in spans for line in range(first, last + 1)}
        alone = sum(token.line.lstrip().startswith("#") for token in comments(source))
        filled = sum(bool(line.strip()) for place, line in enumerate(lines, 1) if place not in documented)
        self.totals.update(code=filled - alone, docstrings=len(documented), comments=alone)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                marks = (ast.unparse(mark) for mark in node.decorator_list)
                self.totals["dataclasses"] += any("dataclass" in mark for mark in marks)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.append((node.end_lineno or node.lineno) - node.lineno + 1)
            self.totals["asked"] += _asks_for_table(node)

    def add_citations(self, source: str, tree: ast.AST, items: set[str]) -> None:
        texts = [ast.unparse(text) for text in docstrings(tree)] + [
            token.string for token in comments(source)
        ]
        for text in texts:
            found = cited(text)
            self.totals.update(cited=len(found), elsewhere=len(cited_elsewhere(text)))
            self.totals["unanswered"] += sum(item not in items for item in found)


def survey(root: Path) -> dict[str, str]:
    """The figures of a checkout, by what they are figures of."""
    files, tests = python_files(root, PRODUCT), python_files(root, ("tests",))
    lines = {file: count_lines(file) for file in files}
    names = {file: module_name(root, file) for file in files}
    items, counts, edges = set(design_items(root)), _Counts(), module_imports(root)
    for file in (*files, *tests):
        source = file.read_text(encoding="utf-8")
        tree = ast.parse(source)
        counts.add_citations(source, tree, items)
        if file in lines:
            counts.add_product(source, tree)
    importers = {name: {other for other, imported in edges.items() if name in imported} for name in edges}
    modules = {name: file for file, name in names.items() if file.name != "__init__.py"}
    single = {name: next(iter(importers[name])) for name in modules if len(importers[name]) == 1}
    near = sum(name.rpartition(".")[0] == other.rpartition(".")[0] for name, other in single.items())
    repeated = Counter(file.name for file in modules.values())
    script_edges = script_imports(root)
    documents = [root / "DECISIONS.md", root / "CHANGELOG.md"]
    totals = counts.totals
    packages: Counter[str] = Counter()
    for file, count in lines.items():
        packages[package_of(file.relative_to(root))] += count
    figures = {
        "Python lines": sum(lines.values()),
        "Python files": len(files),
        "lines of code": totals["code"],
        "lines of docstrings": totals["docstrings"],
        "lines of comments": totals["comments"],
        "page's JavaScript, lines": sum(count_lines(Path(file)) for file in script_edges),
        "tests, lines": sum(map(count_lines, tests)),
        "tests, files": len(tests),
        "dataclasses": totals["dataclasses"],
        "file, median / p90 / max": spread(lines.values()),
        "function, median / p90 / max": spread(counts.functions),
        "DECISIONS + CHANGELOG, bytes": sum(file.stat().st_size for file in documents if file.exists()),
        "import circles in Python": len(circles(edges)),
        "import circles in the page": len(circles(script_edges)),
        "modules with a single importer": len(single),
        "of them in their importer's package": near,
        f"files under {SMALL} lines": sum(count < SMALL for count in lines.values()),
        "file names that occur twice or more": sum(count > 1 for count in repeated.values()),
        "isinstance questions about tables": totals["asked"],
        "citations of docs/design": totals["cited"],
        "of them answered by no item": totals["unanswered"],
        "citations of notes elsewhere": totals["elsewhere"],
    } | {f"  {package}": count for package, count in sorted(packages.items())}
    return {name: figure if isinstance(figure, str) else f"{figure:,}" for name, figure in figures.items()}
