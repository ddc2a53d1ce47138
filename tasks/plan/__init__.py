"""What is publicly known of a run before any row is read, and what it would cost.

Here: header, schema, resources, estimates. Whatever reads rows belongs to `tasks.sensitive`, and what the
file's keys mean to `tasks.configuration`. Read `describe` first.
"""
