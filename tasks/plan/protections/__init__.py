"""What a protection plans of a run from public facts: a class a protection, listed in `describe`.

Its settings are in `tasks.configuration.protections`, what was handed over in `tasks.public.bundles`. Read
`plan` first: it says what each of these classes must answer.
"""
