"""No module imports in a circle, and citations are told from what looks like them."""

from pathlib import Path

from tests.survey.citations import cited, cited_elsewhere
from tests.survey.survey import circles, module_imports, script_imports

ROOT = Path(__file__).parents[2]


def test_a_circle_is_found_once_with_all_that_are_in_it():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert circles(edges) == [("b", "c")]


def test_no_module_of_this_checkout_and_no_script_of_its_page_imports_in_a_circle():
    for edges in (module_imports(ROOT), script_imports(ROOT)):
        assert any(edges.values()), "imports are seen"
        assert circles(edges) == []


def test_citations_are_told_from_what_looks_like_them():
    assert cited("As R2 and R13 say (S4.2, W1 to W22).") == ["R2", "R13", "S4.2", "W1", "W22"]
    assert cited("S3, M16, L2, `R1`, tests.T1, R1.py, CR12") == []
    assert cited_elsewhere("notes.md, docs/fitted.md and docs/design/sds.md") == []
    assert cited_elsewhere("sds.md 4.4; rules 2 and 6") == ["sds.md", "rules 2"]
