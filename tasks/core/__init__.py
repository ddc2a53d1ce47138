"""Every algorithm; nothing here knows Prefect."""

from tasks.core.cache import use_kernel_cache

use_kernel_cache()  # before anything imports numba
