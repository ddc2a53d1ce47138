"""A run of SynDiffix before a row is read: its columns, and what the person who runs it is told.

Here: what the header, the configuration and the contract decide together. The settings themselves are in
`tasks.configuration.protections`, the steps in `tasks.sensitive.syndiffix`. Read `columns` first.
"""
