"""What a configuration says of each protection: a class a protection.

A class holds the settings, and every public fact that a run of that protection differs by before anything is
read. What is planned of a run is in `tasks.plan.protections`, what was handed over in `tasks.public.bundles`.
Read `settings` first: what every class must answer.
"""
