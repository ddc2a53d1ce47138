"""Parts of a table: where they are, and who works on them, on one machine or on many."""
