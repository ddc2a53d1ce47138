"""Names of a model's columns and tables: any texts go in, names that Power BI tells apart come out."""

import re
from collections.abc import Iterable

#: What no name needs, and some readers of a model stumble over.
_ODD = re.compile(r"[^\w .,()%+-]+")
_LONGEST = 80


def model_names(texts: Iterable[str], taken: Iterable[str]) -> list[str]:
    """A name for each text: without signs, not longer than a field list shows, unique whatever the case.

    >>> model_names(["sex", "Sex", "what's [this]?", "Record"], taken=["Record"])
    ['sex', 'Sex 2', 'what s this', 'Record 2']
    """
    used = {name.casefold() for name in taken}
    names = []
    for text in texts:
        plain = " ".join(_ODD.sub(" ", text).split())[:_LONGEST].strip() or "column"
        name, number = plain, 1
        while name.casefold() in used:
            number += 1
            name = f"{plain} {number}"
        used.add(name.casefold())
        names.append(name)
    return names
