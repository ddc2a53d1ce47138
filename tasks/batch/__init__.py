"""Many runs from one file: the file, what its runs cost together, and their figures side by side."""
