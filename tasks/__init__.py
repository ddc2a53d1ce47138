"""The thin boundary between Prefect and the core: a step loads its inputs, calls the core, keeps the result.

The files beside the folders are what all steps share: what a step is, storage, caching, progress, failures.
No algorithm belongs here (`tasks.core` has them), and no order of steps (`flows` has it). Read `step` first,
then `storage`, then a step: `sensitive/count.py` is short.
"""
