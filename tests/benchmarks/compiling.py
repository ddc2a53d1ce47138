"""What `make setup` compiles, with nothing in the cache; the peer has nothing to compile."""

import os
import resource
import subprocess
import sys
import tempfile

from tests.benchmarks.data import ROOT
from tests.benchmarks.running import print_line

#: CPU seconds on the machine of which the other bars are.
BAR = 110.0


def compile_kernels() -> str:
    """CPU seconds of both processes; then with all in the cache, which is what is not compiling."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = _cpu_seconds(folder), _cpu_seconds(folder)
    print_line("compile_kernels", ours_cpu_s=cold, nothing_to_compile_cpu_s=warm, bar_cpu_s=BAR)
    return f"{cold} CPU seconds are above the bar of {BAR}" if cold > BAR else ""


def _cpu_seconds(folder: str) -> float:
    """Of one run of the warm-up, both processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"NUMBA_CACHE_DIR": folder, "MARGINALIA_CACHE": folder}
    command = [sys.executable, "-m", "flows.command.warm_up", "all"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
