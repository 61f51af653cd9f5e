"""The main text of a web page: without its navigation, banners, forms and footers.

What a page calls its main part is believed. Within it, and in all of a page that names none, whatever is marked as
navigation and the like is cut out, unless nearly all the text would go.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bookwheel.formats import html
from bookwheel.formats.markdown import paragraph, sections
from bookwheel.model import Document, Source

ENOUGH = 0.1  # of all text, below which the main part is not believed
MOST = 0.5  # of all text that one element marked as noise by its class may hold

_TAG = re.compile(r"""<(/?)([a-zA-Z][\w:-]*)((?:[^<>"']|"[^"]*+"|'[^']*+')*+)>""")
_ATTRIBUTE = re.compile(
    r"""(?:^|\s)(role|class|id|hidden|aria-hidden)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?(?=[\s/]|$)"""
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_CUT = frozenset(
    ["nav", "aside", "footer", "form", "button", "dialog", "template", "noscript", "select", "iframe", "svg"]
)
_ROLES = frozenset(
    ["navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu", "menubar", "toolbar"]
)
_NOISE = re.compile(
    r"(?i)(?:site|page|main|global|left|right|top|bottom|primary|secondary|doc|docs|mobile)?[-_]*(?:nav|navbar|navigation"
    r"|menu|sidebar|breadcrumbs?|footer|cookies?|consent|share|sharing|social|adverts?|ads?|promo|newsletter|popup|modal"
    r"|skip-?(?:link|nav|to-content)|pagination|pager|headerlink|edit-this-page|feedback)(?:[-_]+(?:wrapper|container|bar|list"
    r"|inner|content|links?|box|menu|area|banner|block|section))?"
)
_WORD = re.compile(r"\w+")


class Part(NamedTuple):
    """An element of a page: its name, what its tag says, and where it is."""

    name: str
    attributes: dict[str, str]
    start: int
    end: int
    inside: frozenset[str]  # names of the elements around it


def read(source: Source, data: bytes) -> Document:
    """Return the main text of the page in *data*, with the title and description of all of it."""
    page = html.without_scripts(html.page_text(data))
    text = main_text(page)
    found = sections(text)
    heading = next(html.shown(html.TOP, page), "") or (found[0].title if found else "")
    return Document(source, text, "html", html.describe(page), "", 0, heading, paragraph(text), found)


def main_text(page: str) -> str:
    """Return the main text of a *page* without scripts as Markdown."""
    parts, letters = list(elements(page)), Letters(page)
    start, end = main(parts, letters, len(page))
    noise = [(one.start, one.end) for one in parts if start <= one.start < end and is_noise(one, letters)]
    kept = "".join(without(page, start, end, noise))
    enough = Letters(kept).whole > ENOUGH * letters.between(start, end)
    return html.convert(kept if enough else page[start:end])


class Letters:
    """How many letters of text there are in the parts of a page."""

    def __init__(self, page: str) -> None:
        self.places, self.counts, self.whole = [0], [0], 0
        at = 0
        for start, end in (*(tag.span() for tag in _TAG.finditer(page)), (len(page), len(page))):
            self.whole += sum(map(len, _WORD.findall(page[at:start])))
            self.places.append(start)
            self.counts.append(self.whole)
            at = end

    def between(self, start: int, end: int) -> int:
        """Return how many there are from one tag to another."""
        first, last = (self.counts[bisect_right(self.places, place) - 1] for place in (start, end))
        return last - first


def elements(page: str) -> Iterator[Part]:
    """Yield the elements of a *page* as they end; one that is never closed ends with the one around it."""
    opened: list[tuple[str, dict[str, str], int]] = []
    for tag in _TAG.finditer(page):
        name = tag[2].lower()
        if name in _VOID or tag[3].endswith("/"):
            continue
        if not tag[1]:
            if len(opened) < 500:
                opened.append((name, attributes(tag[3]), tag.start()))
        elif any(one[0] == name for one in opened[-100:]):
            while opened:
                closed = opened.pop()
                yield Part(
                    *closed, tag.end() if closed[0] == name else tag.start(), frozenset(one[0] for one in opened)
                )
                if closed[0] == name:
                    break


def attributes(text: str) -> dict[str, str]:
    """Return the attributes of a tag that tell what an element is for."""
    return {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(text)} if text else {}


def main(parts: Sequence[Part], letters: Letters, size: int) -> tuple[int, int]:
    """Return where the main part of a page is: what it calls so, its only article, or all of it."""
    named = [one for one in parts if one.name == "main" or one.attributes.get("role") == "main"]
    articles = [one for one in parts if one.name == "article" and "article" not in one.inside]
    for one in (*named[:1], *(articles if len(articles) == 1 else ())):
        if letters.between(one.start, one.end) > ENOUGH * letters.whole:
            return one.start, one.end
    return 0, size


def is_noise(part: Part, letters: Letters) -> bool:
    """Say whether an element is not part of the text: by its name, its role, or its class."""
    known = part.attributes
    if part.name in _CUT or known.get("role") in _ROLES or "hidden" in known or known.get("aria-hidden") == "true":
        return True
    if part.name == "header":
        return not part.inside & {"main", "article", "section"}
    if part.name in {"html", "body", "main", "article", "h1"}:
        return False
    marks = f"{known.get('class', '')} {known.get('id', '')}".split()
    return any(map(_NOISE.fullmatch, marks)) and letters.between(part.start, part.end) < MOST * letters.whole


def without(page: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield what is left of a part of a *page* without these spans, which may lie in each other."""
    for first, last in sorted(spans):
        if first >= start:
            yield page[start:first]
        start = max(start, last)
    yield page[start:end]
