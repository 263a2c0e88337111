"""The command line: every command opens the knowledge base, calls one method and prints."""
