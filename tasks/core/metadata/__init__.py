"""What a release says of itself in the standards of its readers: a statement and files in, documents out.

A registry's entry, a description for machines (`croissant`), a paragraph for a paper and a citation
(`methods`). What is promised belongs to `tasks.core.statement`: no claim is made here that is not made there.
What the program can't know is said by the operator or marked as missing, never invented. Read `release_facts`
first.
"""
