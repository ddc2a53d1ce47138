"""``python -m flows``: the same as ``marginalia``."""

from flows.command import run

run()
