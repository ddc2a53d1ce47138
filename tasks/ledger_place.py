"""Where this user's ledger is, and what opens it: the environment goes in, a place comes out.

The core knows no Prefect, so the password that a Secret block of Prefect holds is fetched here.
"""

import functools
import os
from contextlib import suppress

from tasks.core.errors import ParameterError
from tasks.core.ledger.place import Place, ledger_place

PASSWORD_BLOCK = "MARGINALIA_LEDGER_PASSWORD_BLOCK"


def user_ledger_place() -> Place:
    """The folder or the database that MARGINALIA_LEDGER names. Raises ParameterError."""
    block = os.environ.get(PASSWORD_BLOCK)
    return ledger_place(_password(block) if block else None)


@functools.cache
def _password(block: str) -> str:
    from prefect.blocks.system import Secret

    secret = None
    with suppress(Exception):  # its text is none of ours, and might hold what was found
        secret = Secret.load(block, _sync=True).get()  # type: ignore[call-arg, union-attr]
    if not isinstance(secret, str):
        raise ParameterError(
            f"{PASSWORD_BLOCK} must name a Prefect block of the type Secret that holds the password of the "
            f"ledger's database, but none can be loaded under the name {block!r}. Make it, or correct the "
            "name."
        )
    return secret
