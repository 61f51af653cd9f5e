"""Org as a language, without Emacs."""
