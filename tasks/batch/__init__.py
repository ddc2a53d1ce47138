"""Many runs from one file: the file, what its runs cost together, and their figures side by side.

A single run's configuration belongs to `tasks.configuration`, and running them to `flows.batch`. Read `file`
first.
"""
