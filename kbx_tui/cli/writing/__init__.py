"""Commands that write, one module each, and what they share."""
