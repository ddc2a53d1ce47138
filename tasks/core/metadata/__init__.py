"""What a release says of itself in the standards of its readers: a statement and files in, documents out.

A registry's entry (`registry`), a description for machines (`croissant`), a citation (`citation`) and a
paragraph for a paper (`methods`), a file each. Here belongs what turns a statement into somebody else's form.
What is promised belongs to `tasks.core.statement`: no claim is made here that is not made there. What the
program can't know is said by the operator (`publication`) or marked as missing, never invented. Read
`described` first: all that these documents are made of.
"""
