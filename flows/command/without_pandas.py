"""Keeps pandas out of a process that has no use for it, as ``marginalia syndiffix`` and most runs have none.

pyarrow looks for pandas at its first conversion, and where it is installed loads it: some 30 MB and 0.3 s.
What pyarrow did not find then it does not look for again; all others can still import pandas.
"""

import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Hidden(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ImportError("pandas is hidden while pyarrow looks for it")
        return None


def hide_pandas_from_pyarrow() -> None:
    """Let pyarrow find no pandas; without effect where it has looked for it before."""
    import pyarrow as pa

    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.scalar(None)  # a conversion
    finally:
        sys.meta_path.remove(hidden)
