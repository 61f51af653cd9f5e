"""One headline line in its parts: stars, keyword, priority, COMMENT, title, tags.

Org reads a headline in two ways that differ at the edges, and both count: title and keyword need a space after the
keyword and blanks before the tags; priority, COMMENT and tags are also seen where these are missing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bookwheel.org.text import BLANK, is_alphanumeric
from bookwheel.org.todo import Keywords

COMMENT = "COMMENT"

_PLAIN_TAGS = re.compile(r":[A-Za-z0-9_@#%:]+:")
_COMMENTED = re.compile(r"COMMENT[ \t]+")


class Parts(NamedTuple):
    """What a headline says; `text` is its title as written, COMMENT included."""

    level: int
    keyword: str | None
    priority: str | None
    commented: bool
    text: str
    tags: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title without COMMENT."""
        return _COMMENTED.sub("", self.text, count=1) if self.text.startswith(COMMENT) else self.text


def read(text: str, start: int, keywords: Keywords) -> Parts:
    """Return the parts of the headline that begins at *start* of *text*."""
    plain = keywords.plain.match(text, start)
    if not plain:
        end = text.find("\n", start)
        return parts(text[start : len(text) if end < 0 else end], keywords)
    stars, keyword, priority, title, tagged, tags = plain.groups()
    if title is not None:
        return Parts(len(stars), keyword, priority, False, title, ())
    return Parts(len(stars), keyword, priority, False, tagged, tuple(tags.split(":")))


def parts(line: str, keywords: Keywords) -> Parts:
    """Return the parts of a headline's *line*, which has no line end."""
    end = tags_start(line)
    if end is None:
        end = len(line)
    end = len(line[:end].rstrip(BLANK))
    heading = keywords.heading.match(line, 0, end)
    element = keywords.element.match(line)
    if not heading or not element:
        raise ValueError(f"no headline: {line}")
    level = len(line) - len(line.lstrip("*"))
    tags = loose_tags(line, element.end())
    keyword = heading[1]
    if keyword and line.startswith("\t", heading.end(1)) and line[heading.end(1) :].strip(BLANK):
        keyword = None  # a tab before tags ends the title but not the keyword
    return Parts(level, keyword, element[2], bool(element[3]), line[heading.end() : end], tags)


def tags_start(line: str) -> int | None:
    """Return where the tags at the end of a headline's *line* begin; blanks must part them from what is before."""
    if not (stripped := line.rstrip(BLANK)).endswith(":"):
        return None
    start = max(stripped.rfind(" "), stripped.rfind("\t")) + 1
    return start if are_tags(stripped[start:]) else None


def are_tags(text: str) -> bool:
    """Say whether *text* is `:tag:tag:` and nothing else."""
    if text.isascii():
        return bool(_PLAIN_TAGS.fullmatch(text))
    return len(text) > 2 and text[0] == text[-1] == ":" and all(map(is_tag_letter, text))


def is_tag_letter(letter: str) -> bool:
    """Say whether *letter* may be in a group of tags."""
    return letter in "_@#%:" or is_alphanumeric(letter)


def loose_tags(line: str, start: int) -> tuple[str, ...]:
    """Return the tags at the end of *line*, which need no blank before them; none begin before *start*."""
    stripped = line.rstrip(BLANK)
    end = len(stripped) - 1
    if not stripped.endswith(":"):
        return ()
    first = end
    while first > start and is_tag_letter(stripped[first - 1]):
        first -= 1
    first = stripped.find(":", first, end - 1)
    return tuple(stripped[first + 1 : end].split(":")) if first >= start else ()
