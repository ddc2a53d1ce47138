"""What is declared of a table: data contract, configuration, and the public schema they make.

The only place that knows Great Expectations. What is read off the data belongs to `records`.
"""
