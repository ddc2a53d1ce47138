"""Every algorithm; nothing here knows Prefect."""

import os

from tasks.core.kernel_cache import use_kernel_cache

# Before anything imports numba. It tries what a call could mean by raising errors, and would colour each.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
use_kernel_cache()
