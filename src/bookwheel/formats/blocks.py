"""The block structure of Markdown, one line at a time, as CommonMark has it.

Only what decides whether a line is a heading is kept: the open block quotes and list items, and what is open in
the innermost of them. Tables, reference definitions and inline markup are none of this room's business.
"""

from __future__ import annotations

import re
from typing import NamedTuple

BLANK, TEXT, MORE, HEADING, UNDERLINE, RULE, FENCE, HTML, CODE = (
    "blank", "text", "more", "heading", "underline", "rule", "fence", "html", "code",
)  # fmt: skip
OPAQUE = (FENCE, HTML)  # what hides the blocks in it
QUOTE = -1  # in the place of a list item's width
DEEPEST = 100  # containers: deeper ones are text, or each blank line would visit thousands

_ATX = re.compile(r"#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_UNDERLINE = re.compile(r"(?:=+|-+) *$")
_RULE = re.compile(r"([-_*])(?: *\1){2,} *$")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?= |$)")
_ATTRIBUTE = r"""(?:\s+[a-zA-Z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?)"""
_LONE_TAG = re.compile(rf"(?:<[a-zA-Z][a-zA-Z0-9-]*+{_ATTRIBUTE}*\s*/?>|</[a-zA-Z][a-zA-Z0-9-]*+\s*>)\s*$", re.ASCII)
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div"
    r"|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    r"|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|track|ul)(?:\s|/?>|$)",
    re.IGNORECASE,
)
_SPACES = re.compile(r" *")


class Closer(NamedTuple):
    """What ends an open fence or block of raw HTML."""

    line: re.Pattern[str]  # matches the content of the line that ends it
    near: re.Pattern[str]  # finds the next line worth looking at, in a whole text


_BLANK_LINE = Closer(re.compile(r" *$"), re.compile(r"\n[ \t]*(?=\n|\Z)"))
_MARKS = {"`": re.compile(r"\n {0,3}```"), "~": re.compile(r"\n {0,3}~~~")}
_HEADING = r"#{1,6}(?=[ \t\n]|\Z)"
_ITEMS = r"(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t\n]|\Z)"
_STOP = re.compile(rf"\n {{0,3}}(?:{_HEADING}|```|~~~|<|{_ITEMS})")  # the lines that may matter outside of containers
_FLAT = re.compile(
    rf"\n(?=[ #`~<])(?: ?(?P<heading>{_HEADING}.*)"
    r"| ?(?P<fence>(?P<sign>[`~])(?P=sign){2,}+)(?!(?<=`).*`).*"
    r"(?:\n(?! {0,3}(?P=fence)(?P=sign)*+[ \t]*+(?:\n|\Z)).*)*+(?:\n.*)?"  # all up to the line that closes it
    rf"|(?P<inner> {{2,3}}(?:{_HEADING}|```|~~~)| {{0,3}}<))"
)


def until(pattern: str) -> Closer:
    """Return the closer of a block that ends with the line that holds *pattern*."""
    return Closer(re.compile(rf".*?{pattern}", re.IGNORECASE), re.compile(pattern, re.IGNORECASE))


_RAW = (  # how a block of raw HTML begins, and where it ends
    (re.compile(r"<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE), until("</(?:script|pre|style|textarea)>")),
    (re.compile(r"<!--"), until("-->")),
    (re.compile(r"<\?"), until(r"\?>")),
    (re.compile(r"<![a-zA-Z]"), until(">")),
    (re.compile(r"<!\[CDATA\["), until(r"\]\]>")),
    (_BLOCK_TAG, _BLANK_LINE),
)


class Blocks:
    """What is open after the lines seen so far."""

    __slots__ = ("at", "boxes", "closer", "hollow", "leaf")

    def __init__(self) -> None:
        self.boxes: list[int] = []  # open containers, outermost first: QUOTE, or the width a list item is indented by
        self.hollow = False  # the innermost item has no content yet
        self.leaf = BLANK  # TEXT, FENCE or HTML while one is open
        self.closer = _BLANK_LINE  # what ends an open FENCE or HTML
        self.at = 0  # where the last line's own content began, tabs expanded

    def step(self, line: str) -> str:
        """Take in a *line*, its tabs expanded, and return what it is; TEXT begins a paragraph, MORE goes on with it."""
        if line[:1].isalpha() and (self.boxes or self.leaf not in OPAQUE):  # most lines: no container goes on in them
            self.at = 0
            return self.flow(0, TEXT)
        depth = self.enter(line)
        if depth < len(self.boxes) or self.leaf not in OPAQUE:
            return self.begin(line, depth)
        leaf = self.leaf
        if self.closer.line.match(line, self.at):
            self.leaf = BLANK
        return leaf

    def leap(self, text: str, start: int) -> int:
        """Return the first line from *start* on that can be a heading, or change what is."""
        if self.boxes:
            return start
        near = self.closer.near if self.leaf in OPAQUE else _STOP
        found = near.search(text, start - 1)
        return text.rfind("\n", 0, found.start() + 1) + 1 if found else len(text)

    def enter(self, line: str) -> int:
        """Return how many open containers go on in *line*, and move past their marks."""
        self.at = 0
        for depth, box in enumerate(self.boxes):
            indent = measure(line, self.at)
            blank = self.at + indent == len(line)
            if not (self.quoted(line, indent) if box == QUOTE else self.inside(indent, box, depth, blank=blank)):
                return depth
        return len(self.boxes)

    def quoted(self, line: str, indent: int) -> bool:
        """Say whether *line* goes on with a block quote, and move past its mark."""
        mark = self.at + indent
        if indent > 3 or not line.startswith(">", mark):
            return False
        self.at = mark + 1 + line.startswith(" ", mark + 1)
        return True

    def inside(self, indent: int, width: int, depth: int, *, blank: bool) -> bool:
        """Say whether a line goes on with the list item at *depth*, and move past its indentation."""
        if blank:
            self.at += min(indent, width)
            return not (self.hollow and depth == len(self.boxes) - 1)
        self.at += width if indent >= width else 0
        return indent >= width

    def begin(self, line: str, depth: int) -> str:
        """Return what *line* is after the first *depth* containers; the others end here, or go on lazily."""
        while True:
            indent = measure(line, self.at)
            if self.at + indent == len(line):
                return self.close(depth, BLANK)
            if indent > 3:
                return self.flow(depth, CODE)
            if not self.contain(line, indent, depth):
                return self.place(line, self.at + indent, depth)
            depth = len(self.boxes)

    def contain(self, line: str, indent: int, depth: int) -> bool:
        """Open the block quote or list item that begins here, if one does, and move past its mark."""
        mark = self.at + indent
        if depth >= DEEPEST or line[mark] not in ">-+*0123456789":
            return False
        if line[mark] != ">":
            return self.itemise(line, indent, depth)
        self.close(depth, CODE)
        self.boxes.append(QUOTE)
        return self.quoted(line, indent)

    def itemise(self, line: str, indent: int, depth: int) -> bool:
        """Open the list item that begins here, if one does, and move past its mark."""
        mark = self.at + indent
        found = _ITEM.match(line, mark)
        if not found or _RULE.match(line, mark):
            return False
        gap = measure(line, found.end())
        hollow = found.end() + gap == len(line)
        if self.leaf == TEXT and depth == len(self.boxes) and (hollow or int(found[1] or 1) != 1):
            return False  # in the middle of a paragraph this is text, or an underline
        gap = 1 if hollow or gap > 4 else gap
        self.close(depth, BLANK)
        self.boxes.append(found.end() - self.at + gap)
        self.hollow, self.at = hollow, min(found.end() + gap, len(line))
        return True

    def place(self, line: str, mark: int, depth: int) -> str:
        """Return what begins at *mark*, and open it."""
        match line[mark]:
            case "#" if _ATX.match(line, mark):
                return self.close(depth, HEADING)
            case "`" | "~" if found := _FENCE.match(line, mark):
                return self.open(depth, FENCE, closing(found[1] or found[2]))
            case "<" if closer := self.raw(line, mark):
                return self.open(depth, HTML, closer, ended=bool(closer.line.match(line, mark)))
            case "=" | "-" if self.leaf == TEXT and depth == len(self.boxes) and _UNDERLINE.match(line, mark):
                return self.close(depth, UNDERLINE)
            case "-" | "_" | "*" if _RULE.match(line, mark):
                return self.close(depth, RULE)
        return self.flow(depth, TEXT)

    def raw(self, line: str, mark: int) -> Closer | None:
        """Return what ends the block of raw HTML that begins at *mark*, if one does."""
        for opener, closer in _RAW:
            if opener.match(line, mark):
                return closer
        return _BLANK_LINE if self.leaf != TEXT and _LONE_TAG.match(line, mark) else None

    def flow(self, depth: int, otherwise: str) -> str:
        """Go on with an open paragraph, lazily too; else begin *otherwise*."""
        if self.leaf == TEXT:
            return MORE
        self.close(depth, otherwise)
        self.leaf = TEXT if otherwise == TEXT else BLANK
        return otherwise

    def open(self, depth: int, leaf: str, closer: Closer, *, ended: bool = False) -> str:
        """Make *leaf* the open block at *depth*, unless it *ended* on its first line, and return it."""
        self.close(depth, leaf)
        self.leaf, self.closer = BLANK if ended else leaf, closer
        return leaf

    def close(self, depth: int, kind: str) -> str:
        """End what is open below *depth*, the paragraph too, and return *kind*."""
        self.hollow = self.hollow and kind == BLANK and depth == len(self.boxes)
        del self.boxes[depth:]
        self.leaf = BLANK
        return kind


def flat(text: str, start: int) -> list[tuple[int, str]] | None:
    """Return where each heading of *text* from *start* on begins, and its line; None where only stepping can tell.

    A heading or fence indented by less than two spaces ends every list and quote. So these need not be followed where
    nothing outside of fences that could be inside a list looks like a heading, a fence or raw HTML.
    """
    headings: list[tuple[int, str]] = []
    for found in _FLAT.finditer("\n" + text[start:]):
        if line := found["heading"]:
            headings.append((start + found.start(), line))
        elif found["inner"]:
            return None
    return headings


def measure(line: str, at: int) -> int:
    """Return how many spaces stand at *at*."""
    if not line.startswith(" ", at):
        return 0
    found = _SPACES.match(line, at)
    return found.end() - at if found else 0


def closing(mark: str) -> Closer:
    """Return what ends a fence opened by *mark*."""
    return Closer(re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}} *$"), _MARKS[mark[0]])
