"""The terminal app. Only `engine.client` and `engine.index_sync` make engine calls that do I/O."""
