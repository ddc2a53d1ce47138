"""``marginalia syndiffix``: one table in a file, synthesized without a flow, a workspace or a release."""
