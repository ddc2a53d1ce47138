"""A table that is written to while it is read: what was read is not kept under the hash of what it was."""

import functools

import pytest

from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.errors import InputError
from tasks.core.queries import QueryResources
from tasks.core.tables.header import InputFile
from tasks.sensitive.read import EncodingRules, SensitiveTable, encode_records
from tasks.storage import RunWorkspace


def test_a_table_that_changed_since_it_was_hashed_is_not_coded(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("town\n" + 100 * "Aberwick\n")
    table = SensitiveTable(InputFile(path))
    workspace = RunWorkspace(tmp_path / "out", "people", "run", QueryResources())
    workspace.sensitive.mkdir(parents=True)
    schema = build_schema(("town",), Declarations(), None, cap_required=True)
    encode = functools.partial(encode_records.fn, workspace, table, schema, EncodingRules(total=True))
    path.write_text("town\n" + 50 * "Brenmoor\n")  # in place: the same open file
    with pytest.raises(InputError, match="must not change while a run reads it"):
        encode()
    assert not list(workspace.sensitive.rglob("coded_records"))
    path.write_text("town\n" + 100 * "Aberwick\n")
    assert workspace.path(encode())
