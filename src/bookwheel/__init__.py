"""Bookwheel: find the right passage in everything you keep in files, read just that, cite it."""

VERSION = "0.1.0"
