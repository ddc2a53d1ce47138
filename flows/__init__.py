"""What runs, in order: a flow says which steps a job has, and nothing is computed here.

Steps are in `tasks`, algorithms in `tasks.core`, and what a person types in `flows.command`; no flow imports
that one, so that a deployment runs the same flow as the command. Read `showcase` first: the whole job, which
takes the steps of `steps.measure`, `steps.publish` and `steps.evaluate` in turn.
"""

from tasks.process_exit import leave_quietly

leave_quietly()
