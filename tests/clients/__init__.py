"""Clients that others wrote, each driven through the same steps against the real program."""
