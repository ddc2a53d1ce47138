"""What runs, in order; no computation."""
