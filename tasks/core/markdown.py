r"""Texts in Markdown: any text in, the same without marks that Markdown would take for its own out.

>>> escaped("a_b|c")
'a\\_b\\|c'
"""

import re

_MARKS = re.compile(r"([\\`*_{}\[\]<>|#~$])")


def escaped(text: object) -> str:
    """A text in a line or in a table's cell, its blanks and ends of lines as single blanks."""
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))
