"""``marginalia check``: what a configuration would do and cost, before anything is read or drawn."""
