"""The code's hash: what can change an output changes it."""

import pytest

from tasks import version


@pytest.mark.parametrize("name", ["core/a.py", "core/pages/page.html.j2", "core/page.css", "core/table.tsv"])
def test_the_hash_follows_code_templates_and_tables(name, tmp_path, monkeypatch):
    monkeypatch.setattr(version, "_TASKS", tmp_path)
    hashed = version.code_hash.__wrapped__
    (tmp_path / name).parent.mkdir(parents=True)
    before = hashed()
    (tmp_path / name).write_text("1")
    first = hashed()
    (tmp_path / name).write_text("2")
    assert len({before, first, hashed()}) == 3


def test_every_kind_of_file_in_the_core_is_a_source_but_those_that_a_bundle_is_built_of():
    core = version._TASKS / "core"
    kinds = {path.suffix for path in version._every_file(core)}
    assert kinds - version._SOURCES <= {".jsx", ".ts", ".md", ".txt"}
