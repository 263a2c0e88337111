"""Text embedding: the Embedder protocol, its implementations and the bundled model."""
