"""The contracts: every binding sentence of the specifications, and the tests that prove it."""
