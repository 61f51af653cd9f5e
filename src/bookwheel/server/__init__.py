"""Carries faces to clients. The only room that knows the protocol."""
