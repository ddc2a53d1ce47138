"""What was lost: synthetic against reportable, and against raw for sensitive/."""
