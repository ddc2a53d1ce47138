"""Exact noise from a cryptographic stream; nothing here knows what is counted.

How large the noise must be is decided in `dp.accounting`. Random choices of synthesis, which are no noise,
draw from `tasks.core.random_kernels`. Read `noise` first: what can be drawn; then `stream`, where the bits
come from.
"""
