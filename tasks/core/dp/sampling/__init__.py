"""Exact noise from a cryptographic stream; nothing here knows what is counted."""
