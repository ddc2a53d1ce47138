"""The steps of each part of a job, in order. `showcase` joins the parts; a flow of its own runs one alone.

They are apart from those flows because Prefect describes all that a flow can be given when it is loaded, and
that takes longer than most runs of a step.
"""
