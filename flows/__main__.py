"""``python -m flows``: the same as ``marginalia``."""

from flows.command.entry import start

start()
