"""Several knowledge bases searched together: one query line, one list, each row with its base."""
