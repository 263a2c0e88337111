"""Text to unit vectors: the Embedder protocol, the models behind it and the one we bundle."""
