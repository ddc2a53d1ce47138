"""What the page says of one regime alone: its context and its sections, a file a regime."""
