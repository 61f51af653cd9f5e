r"""A file's text as Org sees it, and back: the mark at its start set aside, every line ended by \n.

Where lines end in more than one way the text is left as it is, carriage returns and all: they are then part of
their lines, for Org too, and everything that is not edited survives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import category, east_asian_width

MARK = "\ufeff"
BLANK = " \t"
SPACES = "\t\n\f\r \u00a0\u2000-\u200b\u202f\u205f\u3000"  # white space by Org's syntax table, for a class of a pattern
TAB = 8

_LONE_FEED = re.compile(r"(?<!\r)\n")
_WORDS = re.compile(r"[^ \f\t\n\r\v]+")
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl"})


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of a file, and what is needed to write them as they were."""

    lines: str
    mark: str = ""
    ending: str = "\n"

    def written(self, lines: str) -> str:
        """Return *lines* as this file writes them."""
        return self.mark + (lines if self.ending == "\n" else lines.replace("\n", self.ending))


def see(source: str) -> Text:
    """Return *source* as Org sees it; `written` of its lines is *source* again."""
    mark = MARK if source.startswith(MARK) else ""
    body = source[len(mark) :]
    ending = line_ending(body)
    return Text(body if ending == "\n" else body.replace(ending, "\n"), mark, ending)


def line_ending(body: str) -> str:
    """Return how all lines of *body* end; a line feed if they differ."""
    if "\r" not in body:
        return "\n"
    if "\n" not in body:
        return "\r"
    return "\n" if _LONE_FEED.search(body) else "\r\n"


def words(line: str) -> list[str]:
    """Return the words of *line*; white space beyond ASCII does not part them."""
    return _WORDS.findall(line)


def is_alphanumeric(letter: str) -> bool:
    """Say whether Org takes *letter* for a letter or digit: marks are, fractions and superscripts are not."""
    return category(letter) in _LETTERS


def column(line: str, start: int = 0) -> int:
    """Return the column that *line*, which begins at column *start*, ends at."""
    if line.isascii() and line.isprintable():
        return start + len(line)
    for letter in line:
        start += TAB - start % TAB if letter == "\t" else width(letter)
    return start


def width(letter: str) -> int:
    """Return how many columns *letter* takes on a terminal; a control is shown as two or four letters."""
    if letter < " " or "\x7f" <= letter < "\xa0":
        return 2 if letter <= "\x7f" else 4
    kind = category(letter)
    if east_asian_width(letter) in ("W", "F") and kind != "Cn":
        return 2
    return 0 if (kind in ("Mn", "Me", "Cf") and letter != "\xad") or "\u1160" <= letter <= "\u11ff" else 1


def indentation(line: str) -> int:
    """Return the column the text of *line* begins at."""
    return column(line[: len(line) - len(line.lstrip(BLANK))])
