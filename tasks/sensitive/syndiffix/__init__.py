"""SynDiffix's steps on raw data, and its salt.

Here: what is stored and skipped between the steps. The algorithm is `tasks.core.syndiffix`, the release made
of the finished tables `tasks.public.syndiffix`. Read `steps` first: it has them in their order.
"""
