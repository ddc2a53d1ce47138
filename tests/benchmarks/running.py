"""Runs figures one after another: figures in, JSON lines and an exit code out.

A figure that fails, or misses its bar, costs no other figure: its line says what is wrong, and the next one
runs.
"""

import json
import sys
from collections.abc import Callable, Collection, Sequence

from tasks.core.hints import did_you_mean

#: Measures and prints its lines; returns what is wrong with them, if anything is.
Figure = Callable[[], str | None]


def chosen(figures: Sequence[Figure], names: Sequence[str], left_out: Collection[str] = ()) -> list[Figure]:
    """The figures with these names, or all; without those that are left out and were not named.

    Raises:
        SystemExit: a name is unknown.
    """
    known = {figure.__name__: figure for figure in figures}
    for name in names:
        if name not in known:
            suggestion = did_you_mean(name, known) or f"the figures are {', '.join(known)}."
            raise SystemExit(f"No figure is called {name}: {suggestion}")
    return [known[name] for name in known if name in names or (not names and name not in left_out)]


def run(figures: Sequence[Figure]) -> int:
    """Run all of them, whatever becomes of each; 0 if all succeeded, else 1."""
    failed = [figure.__name__ for figure in figures if not _succeeds(figure)]
    if failed:
        print(f"{len(failed)} of {len(figures)} figures failed: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _succeeds(figure: Figure) -> bool:
    try:
        wrong = figure()
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    if wrong:
        print(json.dumps({"name": figure.__name__, "failed": wrong}), flush=True)
    return not wrong
