r"""Lines end at \n, \r\n and \r, and nowhere else: U+2028, NEL and form feed are text."""

from __future__ import annotations

LONGEST = 4_000  # characters of a title or first paragraph: enough to describe anything


def level(text: str) -> str:
    r"""Return *text* at the same length with every line ended by \n, so that positions hold in both."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def uniform(text: str) -> str:
    r"""Return *text* with every line ended by \n, and shorter where that was two characters."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def skip_mark(text: str) -> int:
    """Return where *text* begins after a byte order mark."""
    return 1 if text.startswith("\ufeff") else 0


def end(text: str, start: int) -> int:
    """Return where the line of a levelled *text* that *start* is in ends."""
    found = text.find("\n", start)
    return len(text) if found < 0 else found


def each(text: str) -> list[str]:
    r"""Return the lines of a levelled *text* without their \n; what follows the last \n is a line if not empty."""
    found = text.split("\n")
    return found if found[-1] else found[:-1]


def brief(text: str) -> str:
    """Return the start of *text*, as much as a title or first paragraph needs, white space folded."""
    return " ".join(text[:LONGEST].split())


def fold(text: str) -> str:
    """Return *text* with every run of white space made one space."""
    return " ".join(text.split())
