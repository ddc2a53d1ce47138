"""How kernels are compiled (`decorator`), and where what was compiled is kept (`kernel_cache`).

Kernels themselves are in the packages that call them; those that several files call, in ``*kernels.py``.
"""
