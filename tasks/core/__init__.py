"""Every algorithm, a package an idea; nothing here knows Prefect.

The packages are layers, from `tables` at the bottom to `navigation` at the top: ARCHITECTURE.md lists them
with what goes in and comes out. The files beside them are what several packages share: array types, errors,
queries, how kernels are compiled and kept. Steps, storage and caching belong to `tasks`. Read
`records/coded.py` first.
"""

import os

from tasks.core.compiling.kernel_cache import use_kernel_cache

# Before anything imports numba. It tries what a call could mean by raising errors, and would colour each.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
use_kernel_cache()
