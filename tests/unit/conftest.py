"""A laden machine is no failure: examples have no deadline here, budgets stand in the tests."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
