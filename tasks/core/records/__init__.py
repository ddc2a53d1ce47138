"""A table file in, coded records and a public schema out."""
