"""What is publicly known of a run before any row is read, and what it would cost.

Here: header, schema, resources, estimates. What reads rows belongs to `tasks.sensitive`.
"""
