"""The configuration of a run: its model, its file, and the parameters that follow from it.

Here is nothing that opens a table or knows Prefect; whether columns and file agree is found in `tasks.plan`.
Read `model` first: all that a run can be told; then `flat_file`, which turns a file into it.
"""
