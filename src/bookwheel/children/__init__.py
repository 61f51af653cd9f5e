"""Processes that read untrusted files for us, within limits."""
