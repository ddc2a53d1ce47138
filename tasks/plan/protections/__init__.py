"""What a protection plans of a run from public facts: a class a protection, their list in `known`."""
