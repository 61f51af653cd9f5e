"""Read Org files as text with sections; their headlines are found by `bookwheel.org`."""

from __future__ import annotations

import re

from bookwheel.formats.encoding import decode
from bookwheel.formats.lines import brief, each, skip_mark
from bookwheel.formats.lines import level as levelled
from bookwheel.formats.outline import Heading, outline, top
from bookwheel.model import Document, Section, Source
from bookwheel.org.outline import parse

_SETTING = re.compile(r"^[ \t]*#\+(title|description):[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
_NO_TEXT = re.compile(r"[ \t]*(?:$|#(?:[ +]|$)|:[\w-]+:|-----)|\*+ ")
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*$")


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is the file's own."""
    text = decode(data)
    body, level = skip_mark(text), levelled(text)
    found = sections(text, body)
    return Document(source, text, "org", settings(level), "", body, top(found), paragraph(level[body:]), found)


def settings(text: str) -> dict[str, object]:
    """Return the title and description a levelled *text* sets; the parts of a repeated one are joined."""
    found: dict[str, list[str]] = {}
    for key, value in _SETTING.findall(text):
        found.setdefault(key.lower(), []).append(value)
    return {key: value for key, values in found.items() if (value := brief(" ".join(values)))}


def sections(text: str, start: int = 0) -> tuple[Section, ...]:
    """Return the sections of *text* from *start* on, in reading order."""
    found = [one for one in parse(levelled(text)[start:]).headlines if text[start + one.start + one.level] == " "]
    headings = [Heading(one.level, brief(one.title), start + one.start, one.line_number) for one in found]
    return outline(headings, len(text))


def paragraph(text: str) -> str:
    """Return the first lines of a levelled *text* that are no headline, keyword or drawer."""
    found, drawer = list[str](), False
    for line in each(text):
        if mark := _DRAWER.match(line):
            drawer = mark[1].upper() != "END"
        drawer = drawer and not line.startswith("*")
        if not drawer and not _NO_TEXT.match(line):
            found.append(line)
        elif found:
            break
    return brief(" ".join(found))
