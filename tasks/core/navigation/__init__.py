"""The published page."""
