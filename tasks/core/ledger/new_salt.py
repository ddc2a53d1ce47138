"""A new salt of SynDiffix's noise: nothing in, random bytes out."""

import secrets

#: Bytes of a salt.
SALT_BYTES = 32


def new_salt() -> bytes:
    """A salt from the operating system. Nothing else is drawn here: noise comes from the stream alone."""
    return secrets.token_bytes(SALT_BYTES)
