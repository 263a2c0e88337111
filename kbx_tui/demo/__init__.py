"""A small fictional knowledge base: `kbx.toml` and `memory/` beside this file."""
