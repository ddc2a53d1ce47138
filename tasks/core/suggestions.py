"""What may have been meant: a name that is not known goes in, a question comes out."""

import difflib
from collections.abc import Callable, Iterable


def did_you_mean(given: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """``did you mean ...?`` of the most similar name that is known, empty where none is similar.

    Args:
        given: the name that is not known.
        known: those that are.
        shown: how a message shows one of them.
    """
    # Upper and lower case is the likeliest slip of all.
    spelt = {name.casefold(): name for name in known if name}
    close = difflib.get_close_matches(given.casefold(), list(spelt), n=1)
    return f"did you mean {shown(spelt[close[0]])}?" if close else ""
