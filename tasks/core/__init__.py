"""Every algorithm; nothing here knows Prefect."""

from tasks.core.kernel_cache import use_kernel_cache

use_kernel_cache()  # before anything imports numba
