"""Commands that measure: the quality of search, and the time of a reranker."""
