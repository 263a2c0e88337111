"""Results of commands as lines of text."""
