"""The survey counts what it says, on a checkout of a few lines."""

from pathlib import Path

from tests.survey.citations import cited, cited_elsewhere
from tests.survey.survey import circles, survey

_FIRST = '''"""A module (R12).

Its docstring has three lines."""

from dataclasses import dataclass

from tasks.core.second import second


@dataclass(frozen=True)
class First:
    # As rule 7 says.
    value: int = second()  # R99


def ask(records: object) -> bool:
    return isinstance(records, First | CodedRecords)
'''


def _checkout(folder: Path) -> Path:
    for name, text in {
        "flows/__init__.py": "",
        "marginalia/__init__.py": "",
        "tasks/core/first.py": _FIRST,
        "tasks/core/second.py": "def second():\n    return 1\n",
        "tests/test_first.py": '"""Of the first."""\n',
        "docs/design/rules.md": '### <a id="R12"></a>R12 A rule\n',
        "CHANGELOG.md": "12345",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_small_checkout_is_counted(tmp_path: Path) -> None:
    figures = survey(_checkout(tmp_path))
    assert figures["Python lines"] == "19"
    assert figures["Python files"] == "4"
    assert [figures[f"lines of {kind}"] for kind in ("code", "docstrings", "comments")] == ["9", "3", "1"]
    assert figures["dataclasses"] == "1"
    assert figures["isinstance questions about tables"] == "1"
    assert figures["modules with a single importer"] == "1"
    assert figures["import circles in Python"] == "0"
    assert figures["DECISIONS + CHANGELOG, bytes"] == "5"
    assert figures["citations of docs/design"] == "2"
    assert figures["of them answered by no item"] == "1"
    assert figures["citations of notes elsewhere"] == "1"
    assert figures["function, median / p90 / max"] == "2 / 2 / 2"
    assert figures["  tasks/core"] == "19"


def test_a_circle_is_found_once_with_all_that_are_in_it() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert circles(edges) == [("b", "c")]


def test_no_module_of_this_checkout_and_no_script_of_its_page_imports_in_a_circle() -> None:
    figures = survey(Path(__file__).parents[2])
    assert {key: figures[key] for key in figures if "circles" in key} == {
        "import circles in Python": "0",
        "import circles in the page": "0",
    }


def test_citations_are_told_from_what_looks_like_them() -> None:
    assert cited("As R2 and R13 say (S4.2, W1 to W22).") == ["R2", "R13", "S4.2", "W1", "W22"]
    assert cited("S3, M16, L2, `R1`, tests.T1, R1.py, CR12") == []
    assert cited_elsewhere("notes.md, docs/fitted.md and docs/design/sds.md") == []
    assert cited_elsewhere("sds.md 4.4; rules 2 and 6") == ["sds.md", "rules 2"]
