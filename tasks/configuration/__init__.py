"""The configuration of a run: its model, its file, and the parameters that follow from it.

Here: nothing that opens a table or knows Prefect.
"""
