"""How large the house is, and how often it says a thing: `make survey` prints it, of any checkout."""
