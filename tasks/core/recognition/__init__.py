"""What the columns of a table are, found out by looking at it because somebody asked: ``marginalia init``.

Here: guesses, each with its reason, and what follows from what a person says against them. Nothing in a run
calls this: a run reads what is declared. Files are read by `tables`, and `contracts.draft` writes
declarations.

Read `table` first: it does the whole job. `columns` has the kinds of columns, each a function, `words.toml`
and `code_lists.toml` all words that they know. A new kind is a function, its words, and a test.
"""
