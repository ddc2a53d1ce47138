"""What the machine has to give, on Linux and where less is told."""

import os
from pathlib import Path

from tasks.plan.resources import free_memory_mb

_UNKNOWN_TO_MACOS = "SC_AVPHYS_PAGES"


def physical_mb() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20


def test_free_memory_is_part_of_what_there_is():
    assert 0 < free_memory_mb() <= physical_mb()


def test_a_system_that_does_not_tell_what_is_free_gives_half(monkeypatch):
    """As on macOS: no such name for sysconf, no /proc, no control groups."""
    known = {name: number for name, number in os.sysconf_names.items() if name != _UNKNOWN_TO_MACOS}
    ask = os.sysconf

    def sysconf(name: str) -> int:
        if name not in known:
            raise ValueError("unrecognized configuration name")
        return ask(name)

    monkeypatch.setattr(os, "sysconf_names", known)
    monkeypatch.setattr(os, "sysconf", sysconf)
    monkeypatch.setattr(Path, "exists", lambda path: False)
    assert free_memory_mb() == physical_mb() // 2
