"""``marginalia syndiffix``: one table in a file, synthesized without a flow, a workspace or a release.

The algorithm is `tasks.core.syndiffix`; the same job as a release is `flows.syndiffix`, which ``--flow``
starts. Read `command` first.
"""
