"""What was lost: synthetic records and released counts against each other, or against the raw table.

Here: measures and their files. Charts belong to `charts`, the published page to `navigation`.
"""
