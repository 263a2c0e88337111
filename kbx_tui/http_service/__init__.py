"""What the HTTP servers share: who may ask, limits of connections, health and metrics."""
