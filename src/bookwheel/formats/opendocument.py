"""Read OpenDocument texts (.odt) and presentations (.odp): headings, lists, tables, links, notes, code and emphasis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bookwheel.errors import ParseFailed
from bookwheel.formats.made import Made, document, from_pages
from bookwheel.formats.package import Element, Package, local, properties
from bookwheel.formats.writing import Block, Span, heading, inline, join, layout, literal, table
from bookwheel.model import Document, Source

WHAT = "an OpenDocument text"
MOST = 1_000  # spaces, columns or rows that one mark may stand for

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
TEXT, TABLE, OFFICE, STYLE, DRAW = (_NS % one for one in ("text", "table", "office", "style", "drawing"))
FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
HREF = "{http://www.w3.org/1999/xlink}href"
SHOWN_AS = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}class"

_CODE = re.compile(r"(?i)preformatted|code|verbatim|listing")
_MONO = re.compile(r"(?i)courier|consolas|monaco|menlo|mono\b|source code")
_HIDDEN = frozenset(
    {"tracked-changes", "table-of-content", "alphabetical-index", "annotation", "sequence-decls", "forms", "notes"}
)


class Style(NamedTuple):
    """What a style says that shows in Markdown."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    quote: bool = False
    title: bool = False


@dataclass
class Reader:
    """One document on its way to Markdown."""

    styles: Mapping[str, Style]
    lists: Mapping[tuple[str, int], bool]  # whether a level of a list style has numbers
    notes: list[str] = field(default_factory=list)

    def blocks(self, parent: Element) -> Iterator[Block]:
        """Yield the paragraphs, items and tables in *parent*, in reading order."""
        for child in parent:
            name = local(child)
            if name in {"p", "h"}:
                yield from self.paragraph(child)
            elif name == "list":
                yield from self.items(child, child.get(f"{TEXT}style-name", ""), 0)
            elif name == "table":
                yield Block("table", table(self.rows(child)))
            elif name not in _HIDDEN:
                yield from self.blocks(child)

    def paragraph(self, element: Element) -> Iterator[Block]:
        """Yield a paragraph with the part it plays, and the boxes that hang on it."""
        style = self.styles.get(element.get(f"{TEXT}style-name", ""), Style())
        spans = list(self.spans(element, Style() if local(element) == "h" or style.title else style))
        if local(element) == "h":
            level = element.get(f"{TEXT}outline-level", "1")
            yield Block("heading", heading(int(level) if level.isdigit() else 1, line(spans)))
        elif style.title:
            yield Block("heading", heading(1, line(spans)))
        elif style.code or (spans and all(span.code for span in spans)):
            yield Block("code", "".join(span.text for span in spans))
        else:
            yield Block("quote" if style.quote else "text", literal(inline(spans).strip()))
        for box in (one for one in element.iter() if local(one) == "text-box"):
            yield from self.blocks(box)

    def items(self, element: Element, style: str, depth: int) -> Iterator[Block]:
        """Yield the items of a list and of those in it."""
        count = 0
        for item in element:
            numbered = self.lists.get((style, depth + 1), False)
            count += local(item) == "list-item"
            first = True
            for child in item:
                if local(child) == "list":
                    yield from self.items(child, child.get(f"{TEXT}style-name") or style, depth + 1)
                    continue
                for block in self.blocks([child]):  # type: ignore[arg-type] # any iterable of elements
                    marker = (f"{count}." if numbered else "-") if first else "  "
                    yield block._replace(role="item", depth=depth, marker=marker) if block.role == "text" else block
                    first = False

    def spans(self, parent: Element, style: Style, link: str = "") -> Iterator[Span]:
        """Yield the pieces of a paragraph."""
        yield from piece(parent.text, style, link)
        for child in parent:
            name = local(child)
            if name in {"s", "tab", "line-break"}:
                many = child.get(f"{TEXT}c", "1")
                space = " " * min(int(many) if many.isdigit() else 1, MOST)
                yield from piece({"s": space, "tab": "\t"}.get(name, "\n"), style, link)
            elif name == "note":
                yield Span(self.note(child))
            elif name == "a":
                target = child.get(HREF, "")
                yield from self.spans(child, style, target if re.match(r"(?i)https?:|mailto:|ftp:", target) else "")
            elif name == "frame":
                yield from piece(picture(child), Style(), "")
            elif name not in _HIDDEN and name != "text-box":
                named = self.styles.get(child.get(f"{TEXT}style-name", ""), Style())
                look = Style(*(one or other for one, other in zip(style, named, strict=True)))
                yield from self.spans(child, look, link)
            yield from piece(child.tail, style, link)

    def note(self, element: Element) -> str:
        """Return the mark of a note, and keep what it says for the end."""
        self.notes.append("")
        number = len(self.notes)
        bodies = [one for one in element if local(one) == "note-body"]
        self.notes[number - 1] = " ".join(block.text for one in bodies for block in self.blocks(one) if block.text)
        return f"[^{number}]"

    def rows(self, element: Element) -> list[list[str]]:
        """Return the cells of a table."""
        rows: list[list[str]] = []
        for row in (one for one in element.iter() if local(one) == "table-row"):
            cells: list[str] = []
            for cell in (one for one in row if local(one) in {"table-cell", "covered-table-cell"}):
                text = " ".join(block.text for block in self.blocks(cell) if block.text)
                many = cell.get(f"{TABLE}number-columns-repeated", "1")
                cells += [text] * min(int(many) if many.isdigit() else 1, MOST)
            rows.append(cells)
        return [row[: max((i + 1 for i, one in enumerate(row) if one), default=0)] for row in rows]


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown, its pages are the slides if it is a presentation."""
    nothing = "this document holds no text: if it shows pictures of pages, run text recognition on it first"
    return document(source, convert(data), nothing)


def convert(data: bytes) -> Made:
    """Return an OpenDocument file as Markdown."""
    package = Package(data, WHAT)
    manifest = package.maybe("META-INF/manifest.xml")
    if manifest is not None and any(local(one) == "encryption-data" for one in manifest.iter()):
        raise ParseFailed("this document is encrypted: save a copy without a password, and try again")
    root = package.xml("content.xml")
    shared = package.maybe("styles.xml")
    roots = [root] if shared is None else [shared, root]
    reader = Reader(styles(roots), lists(roots))
    known = properties(package, "meta.xml")
    body = next((one for one in root.iter(f"{OFFICE}body")), root)
    if slides := [one for one in body.iter() if local(one) == "page"]:
        return from_pages((slide(reader, one) for one in slides), known)
    text = layout(reader.blocks(body))
    return Made(join([text, *(f"[^{number}]: {note}" for number, note in enumerate(reader.notes, 1))]), metadata=known)


def slide(reader: Reader, page: Element) -> str:
    """Return the text of one slide: its title, what is on it, its notes."""
    titles, rest, notes = list[str](), list[str](), list[str]()
    for shape in page:
        if local(shape) == "notes":
            notes += [layout(reader.blocks(one)) for one in shape if one.get(SHOWN_AS) == "notes"]
        elif shape.get(SHOWN_AS) == "title":
            titles.append(
                line(span for one in shape.iter() if local(one) == "p" for span in reader.spans(one, Style()))
            )
        else:
            rest.append(layout(reader.blocks(shape)) or picture(shape))
    spoken = join(notes)
    return join([heading(1, " ".join(titles)), *rest, f"## Notes\n\n{spoken}" if spoken else ""])


def piece(text: str | None, style: Style, link: str) -> Iterator[Span]:
    """Yield a piece of text with its look, unless it is empty."""
    if text:
        yield Span(text, style.bold, style.italic, style.struck, style.code, link)


def line(spans: Iterator[Span] | list[Span]) -> str:
    """Return the pieces of a heading on one line."""
    return " ".join(inline(span._replace(bold=False) for span in spans).split())


def picture(frame: Element) -> str:
    """Return what a picture is described as, as an image without an address."""
    shown = [one.text for one in frame.iter() if local(one) in {"desc", "title"} and one.text]
    return f"![{' '.join(shown[-1].split())}]()" if shown else ""


def styles(roots: list[Element]) -> dict[str, Style]:
    """Return the styles by name, each with what it takes over from its parent."""
    given = {one.get(f"{STYLE}name", ""): one for root in roots for one in root.iter(f"{STYLE}style")}
    return {key: inherited(key, given) for key in given}


def inherited(key: str, given: Mapping[str, Element]) -> Style:
    """Return a style with what it takes over from those above it."""
    chain: list[str] = []
    while key in given and key not in chain:
        chain.append(key)
        key = given[key].get(f"{STYLE}parent-style-name", "")
    base = Style()
    for one in reversed(chain):
        base = style(one, given[one], base)
    return base


def style(name: str, element: Element, base: Style) -> Style:
    """Return a style, given its parent."""
    look = element.find(f"{STYLE}text-properties")
    get = look.get if look is not None else dict[str, str]().get
    weight, slant, struck = get(f"{FO}font-weight"), get(f"{FO}font-style"), get(f"{STYLE}text-line-through-style")
    return Style(
        base.bold if weight is None else weight in {"bold", "600", "700", "800", "900"},
        base.italic if slant is None else slant in {"italic", "oblique"},
        base.struck if struck is None else struck != "none",
        base.code or bool(_CODE.search(name)) or bool(_MONO.search(get(f"{STYLE}font-name") or "")),
        base.quote or name.startswith("Quotations"),
        base.title or name == "Title",
    )


def lists(roots: list[Element]) -> dict[tuple[str, int], bool]:
    """Return for each level of each list style whether it has numbers."""
    return {
        (one.get(f"{STYLE}name", ""), int(level.get(f"{TEXT}level", "1"))): local(level) == "list-level-style-number"
        for root in roots
        for one in root.iter(f"{TEXT}list-style")
        for level in one
        if level.get(f"{TEXT}level", "1").isdigit()
    }
