"""SynDiffix's steps on raw data, and its salt."""
