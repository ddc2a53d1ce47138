"""How kernels are compiled and kept: ``njit`` of this project, and the files that it leaves.

Here: what decorates a kernel, what is changed inside numba so that it compiles in a fraction of the time, and
where compiled kernels are kept for every user of a checkout. Kernels themselves are in the packages that call
them, in files named ``*kernels.py``. Read `decorator` first.
"""
