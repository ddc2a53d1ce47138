"""Where the ledger is, and the password of its database: from a Secret block, and never shown."""

import pytest
from prefect.blocks.system import Secret
from pydantic import SecretStr

from tasks.core.errors import ParameterError
from tasks.core.ledger.place import Database
from tasks.ledger_place import PASSWORD_BLOCK, user_ledger_place

PASSWORD = "canary-9d41"


@pytest.mark.server
def test_the_password_of_the_database_comes_from_a_block_and_is_not_shown(prefect_server, monkeypatch):
    monkeypatch.setenv("MARGINALIA_LEDGER", "postgresql://me@database.example/ledger")
    assert user_ledger_place() == Database("postgresql://me@database.example/ledger")
    Secret(value=SecretStr(PASSWORD)).save("ledger-of-a-test", overwrite=True)
    monkeypatch.setenv(PASSWORD_BLOCK, "ledger-of-a-test")
    place = user_ledger_place()
    assert isinstance(place, Database)
    assert place.password == PASSWORD
    assert PASSWORD not in repr(place)
    monkeypatch.setenv(PASSWORD_BLOCK, "no-such-block")
    with pytest.raises(ParameterError, match="none can be loaded under the name 'no-such-block'"):
        user_ledger_place()
