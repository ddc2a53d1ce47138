"""``python -m flows``: the same as ``marginalia``."""

from flows.command.main import run

run()
