"""Commands that read or serve, one module each."""
