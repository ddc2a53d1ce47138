"""What was lost: synthetic records and released counts against each other, or against the raw table.

Here: measures and their files; `utility` has what learners find. Charts belong to `charts`, the published
page to `navigation`. Read `measures` first: every number that an evaluation reports; then `release`, which
may leave, and `raw`, which may not.
"""
