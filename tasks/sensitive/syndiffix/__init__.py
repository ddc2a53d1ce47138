"""SynDiffix's steps on raw data: what is stored and skipped between them.

The algorithm is `tasks.core.syndiffix`, the release made of the finished tables `tasks.public.syndiffix`.
Read `steps` first: it has them in their order.
"""
