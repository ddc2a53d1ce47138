"""What was handed over: which folder is meant, and what is in it under each protection.

The folders are written by `tasks.sensitive.hand_over`; nothing here writes one. What a release promises is
worded in `tasks.core.statement`. Read `opening` first, then `bundle`: what every protection's folder must
answer.
"""
