"""A small fictional knowledge base: `kbx.toml` and `memory/` in this folder."""
