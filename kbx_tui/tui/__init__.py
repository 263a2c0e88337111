"""The app: what a person sees of a knowledge base. Only `controller` calls the engine."""
