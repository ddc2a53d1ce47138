"""The part of a page that one regime alone has: `regime` is the interface, the other files implement it."""
