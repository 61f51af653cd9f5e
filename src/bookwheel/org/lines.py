"""Edits of one headline's line: its keyword, COMMENT, priority, title and tags, and the column its tags end at."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bookwheel.errors import Invalid
from bookwheel.org.headline import is_tag_letter, parts, tags_start
from bookwheel.org.settings import Settings
from bookwheel.org.text import BLANK, column
from bookwheel.org.todo import Keywords

_PRIORITY = re.compile(r".*?(\[#([A-Z0-9]+)\] ?)", re.IGNORECASE)


def set_keyword(line: str, state: str, keywords: Keywords) -> str:
    """Return *line* with *state* for its keyword; an empty one takes the keyword away."""
    stars = star_count(line)
    found = keywords.change.match(line, stars)
    end = found.end() if found else stars
    return f"{line[:stars]}{f' {state} ' if state else ' '}{line[end:]}"


def tidy(line: str, keywords: Keywords) -> str:
    """Return *line* with one space behind keyword or stars, unless tags follow."""
    stars = star_count(line)
    found = re.compile(rf" +(?:{keywords.pattern})(?= |[ \t]*\Z)").match(line, stars)
    end = found.end() if found else stars
    if not line.startswith(" ", end) or line[end:].lstrip(" ").startswith(":"):
        return line
    return f"{line[:end]} {line[end:].lstrip(BLANK)}"


def star_count(line: str) -> int:
    """Return how many stars *line* begins with."""
    return len(line) - len(line.lstrip("*"))


def align(line: str, settings: Settings) -> str:
    """Return *line* with its tags at the column they belong to, one space away from a long title at least."""
    start = tags_start(line)
    if start is None or not settings.auto_align_tags:
        return line
    before, tags = line[:start].rstrip(BLANK), line[start:]
    target = settings.tags_column if isinstance(settings.tags_column, int) else 0
    if target < 0:
        target = -target - column(tags.rstrip(BLANK))
    target = max(target, column(before) + 1)
    if target == column(line[:start]):
        return line
    return before + " " * (target - column(before)) + tags


def toggle_comment(line: str, keywords: Keywords) -> str:
    """Return *line* commented out, or no longer."""
    place = behind_priority(line, keywords)
    place += len(line[place:]) - len(line[place:].lstrip(BLANK))
    before, after = line[:place], line[place:]
    if not before.endswith((" ", "\t")):
        before += " "
    if not parts(line, keywords).commented:
        return f"{before}COMMENT {after}" if after else f"{before}COMMENT"
    return before + after.partition(" ")[2].lstrip(BLANK)


def behind_priority(line: str, keywords: Keywords) -> int:
    """Return where the priority of *line* ends, else its keyword, else its stars."""
    start = tags_start(line)
    found = keywords.heading.match(line, 0, len(line[: len(line) if start is None else start].rstrip(BLANK)))
    ends = [found.end(group) for group in (2, 1) if found and found[group]]
    return ends[0] if ends else star_count(line)


def set_title(line: str, title: str, keywords: Keywords, settings: Settings) -> str:
    """Return *line* with another title; COMMENT is part of the title that goes."""
    if "\n" in title or "\r" in title:
        raise Invalid("a title is one line", title=title)
    title = title.strip(" \t\n\r")
    found = parts(line, keywords)
    if found.text == title:
        return line
    start = tags_start(line)
    end = len(line[: len(line) if start is None else start].rstrip(BLANK))
    if found.text:
        line = line[: end - len(found.text)] + title + line[end:]
    else:
        place = behind_priority(line, keywords)
        line = f"{line[:place]} {title}{line[place:]}"
    return align(line, settings) if tags_start(line) is not None else line.rstrip(BLANK)


def set_tags(line: str, tags: Sequence[str], keywords: Keywords, settings: Settings) -> str:
    """Return *line* with *tags* and no others. Raises Invalid if one cannot be a tag."""
    for tag in tags:
        if not tag or ":" in tag or not all(map(is_tag_letter, tag)):
            raise Invalid(f"{tag!r} cannot be a tag: letters, digits and _ @ # % only", tag=tag)
    if tuple(tags) != parts(line, keywords).tags:
        start = tags_start(line)
        line = line[: len(line) if start is None else start].rstrip(BLANK)
        if not line.lstrip("*"):
            line += " "
        line = f"{line} :{':'.join(tags)}:" if tags else line
    return align(line, settings) if tags else line


def set_priority(line: str, priority: str, keywords: Keywords, settings: Settings) -> str:
    """Return *line* with a priority, or without if it is empty. Raises Invalid if it is out of range or missing."""
    found = _PRIORITY.match(line)
    if priority and not in_range(priority, settings):
        highest, lowest = settings.priority_highest, settings.priority_lowest
        raise Invalid(f"a priority is from {letter(highest)} to {letter(lowest)}", priority=priority)
    if found:
        line = line[: found.start(2)] + priority.upper() + line[found.end(2) :] if priority else without(line, found)
    elif not priority:
        raise Invalid("the headline has no priority", priority=priority)
    else:
        line = add_priority(line, priority.upper(), keywords)
    return align(line, settings)


def without(line: str, found: re.Match[str]) -> str:
    """Return *line* without the priority that was *found*."""
    return line[: found.start(1)] + line[found.end(1) :]


def add_priority(line: str, priority: str, keywords: Keywords) -> str:
    """Return *line*, which has no priority, with one."""
    found = keywords.heading.match(line, 0, len(line.rstrip(BLANK)))
    if found and found[1]:
        return f"{line[: found.end(1)]} [#{priority}]{line[found.end(1) :]}"
    place = star_count(line)
    place += len(line[place:]) - len(line[place:].lstrip(" "))
    return f"{line[:place]}[#{priority}] {line[place:]}"


def in_range(priority: str, settings: Settings) -> bool:
    """Say whether the settings allow *priority*."""
    highest, lowest = settings.priority_highest, settings.priority_lowest
    code = int(priority) if priority.isdigit() and len(priority) > 1 else ord(priority.upper()[0])
    return isinstance(highest, int) and isinstance(lowest, int) and highest <= code <= lowest


def letter(code: object) -> str:
    """Return how a priority is written."""
    return chr(code) if isinstance(code, int) and code > 64 else str(code)
