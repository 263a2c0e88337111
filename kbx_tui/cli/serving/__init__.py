"""Commands that serve others: agents, programs, browsers."""
