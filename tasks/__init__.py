"""The thin boundary between Prefect and the core: a step loads its inputs, calls the core, keeps the result.

The files beside the folders are what all steps share: storage, caching, progress, failures, names. No
algorithm belongs here (`tasks.core` has them), and no order of steps (`flows` has it). Read `storage` first,
then one step: `sensitive/count.py` is the shortest.
"""
