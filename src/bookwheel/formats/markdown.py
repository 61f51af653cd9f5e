"""Read Markdown: its sections, top heading and first paragraph, found without parsing what cannot matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from bookwheel.formats.blocks import BLANK, HEADING, MORE, OPAQUE, TEXT, UNDERLINE, Blocks, flat
from bookwheel.formats.encoding import decode
from bookwheel.formats.frontmatter import split
from bookwheel.formats.inline import plain
from bookwheel.formats.lines import each
from bookwheel.formats.lines import end as line_end
from bookwheel.formats.lines import level as levelled
from bookwheel.formats.outline import Heading, outline, top
from bookwheel.model import Document, Section, Source

NEAR = 2_000  # lines that may come before the first paragraph

_PROSE = re.compile(  # below nothing but headings, and up to a blank line: a first paragraph that needs no stepping
    r"(?:(?:#{1,6} .*)?\n){0,9}+([a-zA-Z].*(?:\n[a-zA-Z].*){0,99}+)(?=\n\n|\n?\Z)"
)
_IMAGES = re.compile(
    r"\s*(?:\[?!\[[^\[\]]*+\](?:\([^()]*+\)|\[[^\[\]]*+\])?+(?:\](?:\([^()]*+\)|\[[^\[\]]*+\])?+)?+\s*)++$"
)
_DEFINITION = re.compile(r"\[[^\[\]]+\]:")
_COLUMNS = re.compile(r"(?=.*\|)[ |:]*-[ |:-]*$")


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is the file's own."""
    text = decode(data)
    metadata, body, problem = split(text)
    level = levelled(text)
    found = sections(level, body)
    return Document(source, text, "markdown", metadata, problem, body, top(found), paragraph(level, body), found)


def sections(text: str, start: int = 0) -> tuple[Section, ...]:
    """Return the sections of *text* from *start* on, in reading order."""
    return outline(headings(levelled(text), start), len(text))


def headings(text: str, start: int) -> Iterator[Heading]:
    """Yield the ATX headings of a levelled *text* that are in no quote, list, code or raw HTML."""
    counted, number = 0, 1
    found = flat(text, start)
    for at, line in stepped(text, start) if found is None else found:
        number, counted = number + text.count("\n", counted, at), at
        yield Heading(*parse(line), at, number)


def stepped(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield where each of those headings begins, and its line."""
    blocks, at = Blocks(), start
    while at < len(text):
        end = line_end(text, at)
        if blocks.step(text[at:end].expandtabs(4)) == HEADING and not blocks.boxes:
            yield at, text[at:end]
        at = advance(text, end + 1, blocks)


def advance(text: str, start: int, blocks: Blocks) -> int:
    """Return the next line from *start* on that matters, with *blocks* as they are before it.

    A heading begins in the middle of a paragraph too; for the rest it matters whether one is open.
    """
    at = blocks.leap(text, start)
    if start < at < len(text) and blocks.leaf in (BLANK, TEXT) and text[at] != "#":
        replay(text, start, at, blocks)
    return at


def replay(text: str, start: int, end: int, blocks: Blocks) -> None:
    """Step through the skipped lines that decide whether a paragraph is open at *end*: those after a blank one."""
    blank = max(text.rfind("\n\n", start - 1, end), text.rfind("\n \n", start - 1, end))
    if blank >= 0:
        start = text.index("\n", blank + 1) + 1
        blocks.leaf = BLANK
    for line in each(text[start:end]):
        blocks.step(line.expandtabs(4))


def parse(line: str) -> tuple[int, str]:
    """Return the level and title of a heading *line*."""
    marks, _, content = line.strip(" \t").replace("\t", " ").partition(" ")
    content = content.strip(" ")
    if content.endswith("#"):
        bare = content.rstrip("#")
        content = bare if not bare or bare.endswith(" ") else content  # closing marks stand apart from the title
    return len(marks), plain(content)


def paragraph(text: str, start: int = 0) -> str:
    """Return the text of the first paragraph from *start* on; empty where there is none near the start."""
    level = levelled(text)
    found = _PROSE.match(level, start)
    shown = reduce([line.strip() for line in found[1].expandtabs(4).split("\n")]) if found else ""
    return shown or next(filter(None, map(reduce, paragraphs(level, start))), "")


def paragraphs(text: str, start: int) -> Iterator[list[str]]:
    """Yield the lines of each paragraph near the start of a levelled *text*."""
    found: list[str] = []
    for kind, content in islice(contents(text, start), NEAR):
        if kind == MORE:
            found.append(content)
            continue
        if found and kind != UNDERLINE:  # an underlined paragraph is a heading to its reader
            yield found
        found = [content] if kind == TEXT else []
    yield found


def contents(text: str, start: int) -> Iterator[tuple[str, str]]:
    """Yield the kind and content of each line from *start* on, leaping through fences and raw HTML."""
    blocks, at = Blocks(), start
    while at < len(text):
        end = line_end(text, at)
        line = text[at:end].expandtabs(4)
        kind = blocks.step(line)
        yield kind, line[blocks.at :].strip()
        at = blocks.leap(text, end + 1) if blocks.leaf in OPAQUE else end + 1


def reduce(paragraph: list[str]) -> str:
    """Return what a reader sees of the lines of a *paragraph*, without images, definitions and a table."""
    ruled = next((i for i, line in enumerate(paragraph) if i and _COLUMNS.match(line)), len(paragraph) + 1)
    seen = (line for line in paragraph[: ruled - 1] if not _IMAGES.match(line) and not _DEFINITION.match(line))
    return plain(" ".join(seen))
