"""Parts of the documents that follow from the code."""
