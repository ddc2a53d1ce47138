"""A new salt, from the operating system: nothing goes in, 32 secret bytes come out.

It is the only thing of the ledger that is drawn, and it is no noise: noise comes from the stream alone.
"""

import secrets

#: Bytes of a salt.
SALT_BYTES = 32


def new_salt() -> bytes:
    """A salt that nobody has seen."""
    return secrets.token_bytes(SALT_BYTES)
