"""What was handed over: which folder is meant, and what is in it under each protection."""
