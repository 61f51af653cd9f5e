"""What is embedded for a chunk, and how to know it again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def passage(title: str, headings: Sequence[str], text: str) -> str:
    """Return what is embedded for a chunk: its text, led by where it stands."""
    return "\n".join([*dict.fromkeys([title, *headings]), text])


def fingerprint(text: str) -> int:
    """Return the print of a text: 64 bits, signed as SQLite keeps them."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
