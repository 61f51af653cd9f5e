"""Move a tree into the archive that its file, or a property above it, names.

`%s_archive::` is a file beside this one; `::* Old` a headline of this file; `notes.org::* Old` a headline elsewhere.
The tree says afterwards where it came from and when.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from bookwheel.errors import Invalid
from bookwheel.org.elements import enclosing, literal
from bookwheel.org.lines import align, star_count
from bookwheel.org.lines import set_tags as tag_line
from bookwheel.org.outline import Headline, Outline, parse
from bookwheel.org.properties import put as put_value
from bookwheel.org.settings import items
from bookwheel.org.statistics import count as count_cookies
from bookwheel.org.statistics import update as update_cookies
from bookwheel.org.text import indentation, see
from bookwheel.org.timestamps import write

_COUNTS = re.compile(r"\[[0-9]+%\]|\[[0-9]+/[0-9]+\]")
_LINK = re.compile(r"\[\[([^\]\[]{1,2000})\](?:\[([^\n]{1,2000}?)\])?\]")
_CHECKBOX = re.compile(r"^[ \t]*(?:[-+*]|[0-9]+[.)]) \[[- X]\]", re.MULTILINE)
_LOCAL = re.compile(r"^[ \t]*# +Local Variables:", re.MULTILINE | re.IGNORECASE)
_COOKIE = re.compile(r"\[[0-9]*(?:%|/[0-9]*)\]")
_MODE = "#    -*- mode: org -*-\n\n"  # for a name that does not tell
_HEADER = "\nArchived entries from file {}\n\n"
_FEED = "\n"
_TAGS = r"(?:[ \t]+:(?:[\w@#%]+:)+)?[ \t]*$"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a tree is archived: a file's name, empty for its own, and a headline with its stars, empty for none."""

    file: str
    heading: str


@dataclass(frozen=True, slots=True)
class Archived:
    """Both files after a tree was moved; if it stays in its file, `archive` is None."""

    source: str
    archive: str | None


def archive_target(headline: Headline, base: str) -> Target:
    """Return where *headline* is archived; *base* is its file's name without folder. Raises Invalid if it is none."""
    location = headline.value("ARCHIVE", inherit=True) or headline.outline.preamble.archive
    file, colons, heading = location.partition("::")
    if not colons:
        raise Invalid(f"{location} is no archive; write FILE::HEADING", location=location)
    heading = heading.replace("%s", base)
    if heading.startswith("datetree/"):
        raise Invalid("archives that are date trees are not supported", location=location)
    return Target(file.strip() and file.replace("%s", base), heading if heading.startswith("*") else "")


def archive(headline: Headline, now: datetime, path: str, target: Target, existing: str | None) -> Archived:
    """Move the tree of *headline* to *target*.

    *path* is the whole name of its file; *existing* the text of the target's file, None if there is none yet.
    """
    outline, tree = headline.outline, moved(headline, now, path, target)
    if not target.file:
        return Archived(within(headline, target.heading, tree), None)
    header = _HEADER.format(path) if target.file.endswith(".org") else _MODE + _HEADER.format(path)
    known = see(header if existing is None else existing)
    text, place = with_heading(known.lines, target.heading) if target.heading else (f"{known.lines}\n", None)
    left = outline.text[: headline.start] + outline.text[tree_end(headline) :]
    return Archived(finished(outline, left, headline.start), known.written(inserted(text, place, tree)))


def within(headline: Headline, heading: str, tree: str) -> str:
    """Return the file with *tree*, made of that of *headline*, below *heading*, and gone from where it was."""
    text, place = with_heading(headline.outline.text, heading)
    old = parse(text, headline.outline.settings).headlines[headline.number]
    start, end = old.start, tree_end(old)
    above = find_heading(text, heading)
    if not heading or (above and start <= above.start() < end):
        raise Invalid("a tree cannot be archived into itself", heading=heading)
    if place >= end:
        return finished(headline.outline, text[:start] + text[end:place] + tree + text[place:], start)
    return finished(headline.outline, text[:place] + tree + text[place:start] + text[end:], start + len(tree))


def inserted(text: str, place: int | None, tree: str) -> str:
    """Return *text* with *tree* at *place*, or at its end."""
    return text + tree if place is None else text[:place] + tree + text[place:]


def moved(headline: Headline, now: datetime, path: str, target: Target) -> str:
    """Return the tree as it is in the archive: on its new level, and with what tells where it was."""
    outline = headline.outline
    level = star_count(target.heading) + 1 if target.heading else 1
    shift = level - headline.level
    kept = headline.end - tree_end(headline)
    tree = "".join(shifted(one, shift) for one in (headline, *headline.tree))
    tree = tree[: len(tree) - kept]
    tree = tree if tree.endswith("\n") else f"{tree}\n"
    first = parse(tree, outline.settings).starts[1:2] or [len(tree)]
    entry, rest = tree[: first[0]], tree[first[0] :]
    if not target.file and len(headline.tags) > len(set(headline.own_tags)):
        line, feed, body = entry.partition("\n")
        entry = tag_line(line, headline.tags, outline.todo, outline.settings) + feed + body
    for name, value in context(headline, now, path).items():
        if name in items(outline.settings.archive_save_context_info) and value.strip():
            entry = put_value(entry, f"ARCHIVE_{name.upper()}", value)
    return entry + rest


def tree_end(headline: Headline) -> int:
    """Return where the tree of *headline* ends; variables for Emacs at the end of a file are no part of it."""
    text = headline.outline.text
    found = [match.start() for match in _LOCAL.finditer(text, max(0, len(text) - 3000))]
    return min(headline.end, max(headline.start, found[-1])) if found else headline.end


def shifted(headline: Headline, levels: int) -> str:
    """Return the entry of *headline* with so many more stars, its tags aligned anew."""
    outline = headline.outline
    body = outline.text[headline.line_end : headline.entry_end]
    if not levels:
        return headline.line + body
    return align("*" * (headline.level + levels) + headline.line[headline.level :], outline.settings) + body


def context(headline: Headline, now: datetime, path: str) -> dict[str, str]:
    """Return what would be lost by moving *headline*, in the order it is written."""
    inherited = [tag for tag in headline.tags if tag and tag not in headline.own_tags]
    return {
        "time": write(now, timed=True)[1:-1],
        "file": path,
        "olpath": "/".join(plain(above) for above in headline.ancestors),
        "category": headline.category,
        "todo": headline.keyword or "",
        "itags": " ".join(inherited),
        "ltags": " ".join(headline.own_tags),
    }


def plain(headline: Headline) -> str:
    """Return the title without counts, and with links as they are shown."""
    title = _LINK.sub(lambda link: link[2] or link[1], _COUNTS.sub("", headline.parts.text)).strip(" \t\n\r")
    return title.removeprefix("COMMENT").lstrip(" \t") if headline.parts.commented else title


def find_heading(text: str, heading: str) -> re.Match[str] | None:
    """Return the line of *text* that is *heading*, perhaps with tags."""
    return re.search(rf"^{re.escape(heading)}{_TAGS}", text, re.MULTILINE)


def with_heading(text: str, heading: str) -> tuple[str, int]:
    """Return *text* with *heading*, at its end if it was missing, and where a tree below it goes."""
    if not find_heading(text, heading):
        text = f"{text}{'' if text.endswith(_FEED) or not text else _FEED}\n{heading}\n"
    found = find_heading(text, heading)
    outline = parse(text)
    above = outline.at(found.start()) if found else None
    end = above.end if above else len(text)
    kept = text[:end].rstrip(" \t\r\n")
    after = text[len(kept) :].lstrip(" \t\r\n")
    return f"{kept}\n\n{after}", len(kept) + 2


def finished(outline: Outline, text: str, place: int) -> str:
    """Return the file's new *text* as written, the statistics around *place* brought up to date."""
    after = parse(text, outline.settings)
    next_one = after.at(place)
    around = (next_one.parent or next_one) if next_one else None
    if around:
        line = recounted(after, around)
        text = text[: around.start] + line + text[around.line_end :]
    return outline.file.written(text if text.endswith("\n") or not text else f"{text}\n")


def checked(entry: str, boxes: list[re.Match[str]], *, recursive: bool) -> tuple[int, int]:
    """Return how many of the *boxes* of an *entry* are checked, and how many there are; outermost ones alone count."""
    spans = list(literal(entry, 0, len(entry)))
    seen = [box for box in boxes if not enclosing(spans, box.start())]
    least = min((indentation(box[0]) for box in seen), default=0)
    counted = [box[0].endswith("[X]") for box in seen if recursive or indentation(box[0]) == least]
    return sum(counted), len(counted)


def recounted(outline: Outline, headline: Headline) -> str:
    """Return the line of *headline* with its cookies counting what is below it now."""
    below = list(headline.tree)
    entry = outline.text[headline.start : headline.entry_end]
    rule = (headline.value("COOKIE_DATA") or "").lower().split()
    boxes = list(_CHECKBOX.finditer(entry))
    if boxes and "todo" not in rule:
        return update_cookies(headline.line, *checked(entry, boxes, recursive="recursive" in rule), outline.settings)
    if below and "checkbox" in rule:
        return headline.line
    if not below:
        return _COOKIE.sub(lambda found: "[100%]" if "%" in found[0] else "[0/0]", headline.line)
    first = below[0].level
    recursive = "recursive" in (headline.value("COOKIE_DATA", inherit=True) or "").split()
    states = [one.keyword if recursive or one.level == first else None for one in below]
    done, everything = count_cookies(states, outline.todo, outline.settings)
    return update_cookies(headline.line, done, everything, outline.settings)
