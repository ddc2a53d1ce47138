"""A measurement for fitted records: the count, every column, pairs, and longer sets that are worth it.

Here belongs what counts and draws: cells of columns, shares of the budget, exact tables, scores of
candidates, the draw in stages. What is made of the noisy tables afterwards belongs to `tasks.core.fitting`.
Read `draw` first, then `shares`. The theorem and the rules W1 to W22 that the comments name are the project's
specification of this path.
"""
