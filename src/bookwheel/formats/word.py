"""Read Word documents (.docx): headings by style, lists, tables, links, notes, code and emphasis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bookwheel.formats.made import Made, document
from bookwheel.formats.package import Element, Package, local, properties, relations
from bookwheel.formats.writing import Block, Span, heading, inline, join, layout, literal, table
from bookwheel.model import Document, Source

WHAT = "a Word document"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

_CODE = re.compile(r"(?i)\b(?:source ?code|code|html preformatted|preformatted|verbatim|listing|macro text)\b")
_QUOTE = re.compile(r"(?i)(?:intense )?quot(?:e|ations?)|block ?(?:text|quote)")
_MONO = re.compile(r"(?i)courier|consolas|monaco|menlo|mono\b|lucida console|source code")
_DEEPER = re.compile(r"(?i)list (?:bullet|number) ([2-9])")
_HIDDEN = frozenset({"del", "moveFrom", "instrText", "delText", "pPr", "rPr", "Fallback", "commentReference"})


class Style(NamedTuple):
    """What a paragraph or character style says that shows in Markdown."""

    name: str = ""
    level: int = 0  # of a heading; 0: none
    number: str = ""  # the list it is numbered by
    depth: int = 0  # in that list
    shift: int = 0  # how much deeper it is shown: List Bullet 2 is a list of its own
    bold: bool = False
    italic: bool = False
    code: bool = False


@dataclass
class Reader:
    """One document on its way to Markdown."""

    package: Package
    styles: Mapping[str, Style]
    numbering: Mapping[tuple[str, int], tuple[str, int]]
    links: Mapping[str, tuple[str, str]]
    notes: list[str] = field(default_factory=list)  # ids of the notes met so far, in order
    counts: dict[tuple[str, int], int] = field(default_factory=dict)

    def blocks(self, parent: Element) -> Iterator[Block]:
        """Yield the paragraphs and tables in *parent*, in reading order."""
        for child in parent:
            name = local(child)
            if name == "p":
                yield from self.paragraph(child)
            elif name == "tbl":
                yield Block("table", table(self.rows(child)))
            elif name not in _HIDDEN and name != "sectPr":  # content controls, insertions, custom XML
                yield from self.blocks(child)

    def paragraph(self, element: Element) -> Iterator[Block]:
        """Yield a paragraph, and after it those of the text boxes that hang on it."""
        given = element.find(f"{W}pPr")
        style = self.styles.get(value(given, "pStyle"), Style())
        number, depth = placed(given, style)
        level = style.level or outline_level(given)
        spans = list(self.spans(element, style if not level else Style()))
        plain = "".join(span.text for span in spans)
        if level and plain.strip():
            yield Block("heading", heading(level, inline(span._replace(bold=False) for span in spans)))
        elif is_code(style, spans):
            yield Block("code", plain)
        elif number and plain.strip() and (number, depth) in self.numbering:
            yield Block("item", literal(inline(spans).strip()), depth + style.shift, self.marker(number, depth))
        else:
            role = "quote" if _QUOTE.fullmatch(style.name) else "text"
            yield Block(role, literal(inline(spans).strip()))
        for box in text_boxes(element):
            yield from self.blocks(box)

    def marker(self, number: str, depth: int) -> str:
        """Return what stands before the next item of a list."""
        form, first = self.numbering[number, depth]
        for deeper in [key for key in self.counts if key[0] == number and key[1] > depth]:
            del self.counts[deeper]
        count = self.counts[number, depth] = self.counts.get((number, depth), first - 1) + 1
        return "-" if form in {"bullet", "none"} else f"{count}."

    def spans(self, parent: Element, style: Style, link: str = "") -> Iterator[Span]:
        """Yield the runs of a paragraph."""
        for child in parent:
            name = local(child)
            if name == "r":
                yield from self.run(child, style, link)
            elif name == "hyperlink":
                target = self.links.get(child.get(R_ID, ""), ("", ""))[1]
                yield from self.spans(child, style, target if re.match(r"(?i)https?:|mailto:|ftp:", target) else "")
            elif name in {"oMath", "oMathPara"}:
                yield Span("".join(one.text or "" for one in child.iter() if local(one) == "t"), link=link)
            elif name not in _HIDDEN:
                yield from self.spans(child, style, link)

    def run(self, element: Element, style: Style, link: str) -> Iterator[Span]:
        """Yield the text of a run with its look."""
        look = element.find(f"{W}rPr")
        named = self.styles.get(value(look, "rStyle"), Style())
        code = named.code or bool(_MONO.search(font(look)))
        text = "".join(self.pieces(element))
        if text:
            yield Span(
                text,
                on(look, "b", style.bold or named.bold),
                on(look, "i", style.italic or named.italic),
                on(look, "strike"),
                code and not style.code,
                link,
            )

    def pieces(self, run: Element) -> Iterator[str]:
        """Yield the texts in a run."""
        for child in run:
            name = local(child)
            if name == "t":
                yield child.text or ""
            elif name in {"footnoteReference", "endnoteReference"}:
                yield self.note(f"{name[:-9]}s", child.get(f"{W}id", ""))
            elif name in {"drawing", "pict", "object", "AlternateContent"}:
                yield picture(child)
            else:
                yield {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}.get(name, "")

    def note(self, part: str, number: str) -> str:
        """Return the mark of a note, and remember to write it."""
        self.notes.append(f"{part}/{number}")
        return f"[^{len(self.notes)}]"

    def rows(self, element: Element) -> list[list[str]]:
        """Return the cells of a table; a cell over several columns is followed by empty ones."""
        rows: list[list[str]] = []
        for row in (one for one in descend(element, "tr")):
            cells: list[str] = []
            for cell in descend(row, "tc"):
                given = cell.find(f"{W}tcPr")
                cells.append(" ".join(block.text for block in self.blocks(cell) if block.text))
                cells += [""] * (int_of(value(given, "gridSpan"), 1) - 1)
            rows.append(cells)
        return rows


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown."""
    nothing = "this Word document holds no text: if it shows pictures of pages, run text recognition on it first"
    return document(source, convert(data), nothing)


def convert(data: bytes) -> Made:
    """Return a Word document as Markdown."""
    package = Package(data, WHAT)
    main = next((to for kind, to in relations(package, "").values() if kind == "officeDocument"), "word/document.xml")
    links = relations(package, main)
    parts = dict(links.values())
    reader = Reader(package, styles(package, parts), numbering(package, parts), links)
    body = package.xml(main).find(f"{W}body")
    text = layout(reader.blocks(body)) if body is not None else ""
    return Made(join([text, *notes(reader, parts)]), metadata=properties(package))


def notes(reader: Reader, parts: Mapping[str, str]) -> Iterator[str]:
    """Yield the notes that were referred to, also from notes."""
    texts = {
        f"{kind}/{one.get(f'{W}id')}": one
        for kind in ("footnotes", "endnotes")
        if kind in parts
        for one in reader.package.maybe(parts[kind]) or ()
    }
    for number, key in enumerate(reader.notes, 1):
        if key in texts:
            yield f"[^{number}]: " + " ".join(block.text for block in reader.blocks(texts[key]) if block.text)


def styles(package: Package, parts: Mapping[str, str]) -> dict[str, Style]:
    """Return the styles by id, each with what it takes over from the one it is based on."""
    root = package.maybe(parts.get("styles", ""))
    given = {one.get(f"{W}styleId", ""): one for one in (root if root is not None else ()) if local(one) == "style"}
    found: dict[str, Style] = {}

    def resolve(key: str, seen: frozenset[str]) -> Style:
        if key not in found:
            above = value(given[key], "basedOn")
            base = resolve(above, seen | {key}) if above in given and above not in seen | {key} else Style()
            found[key] = style(given[key], base)
        return found[key]

    for key in given:
        resolve(key, frozenset())
    return found


def style(element: Element, base: Style) -> Style:
    """Return a style, given the one it is based on."""
    name = value(element, "name")
    paragraph, look = element.find(f"{W}pPr"), element.find(f"{W}rPr")
    number, depth = placed(paragraph, base)
    level = 1 if name.lower() == "title" else outline_level(paragraph) or named_level(name) or base.level
    code = bool(_CODE.search(name)) or base.code or bool(_MONO.search(font(look)))
    deeper = _DEEPER.fullmatch(name)
    shift = int(deeper[1]) - 1 if deeper else base.shift
    return Style(name, level, number, depth, shift, on(look, "b", base.bold), on(look, "i", base.italic), code)


def named_level(name: str) -> int:
    """Return the level of a heading that a style is called after; 0 for none."""
    found = re.fullmatch(r"(?i)heading ([1-9])", name)
    return int(found[1]) if found else 0


def outline_level(paragraph: Element | None) -> int:
    """Return the level of a heading that a paragraph is marked as; 0 for none."""
    level = int_of(value(paragraph, "outlineLvl"), 9)
    return level + 1 if level < 9 else 0


def placed(paragraph: Element | None, style: Style) -> tuple[str, int]:
    """Return the list a paragraph is in, and how deep."""
    place = paragraph.find(f"{W}numPr") if paragraph is not None else None
    if place is None:
        return style.number, style.depth
    number = value(place, "numId") or style.number
    return ("" if number == "0" else number), min(int_of(value(place, "ilvl"), style.depth), 8)


def numbering(package: Package, parts: Mapping[str, str]) -> dict[tuple[str, int], tuple[str, int]]:
    """Return the form and first number of each level of each list."""
    root = package.maybe(parts.get("numbering", ""))
    if root is None:
        return {}
    levels = {one.get(f"{W}abstractNumId", ""): list(one.iter(f"{W}lvl")) for one in root.iter(f"{W}abstractNum")}
    found: dict[tuple[str, int], tuple[str, int]] = {}
    for one in root.findall(f"{W}num"):
        for level in [*levels.get(value(one, "abstractNumId"), ()), *one.iter(f"{W}lvl")]:
            place = one.get(f"{W}numId", ""), int_of(level.get(f"{W}ilvl", ""), 0)
            found[place] = value(level, "numFmt"), int_of(value(level, "start"), 1)
    return found


def is_code(style: Style, spans: list[Span]) -> bool:
    """Say whether a paragraph is a line of code: by its style, or because all of it looks so."""
    return style.code or (bool(spans) and all(span.code for span in spans if span.text.strip()) and spans[0].code)


def text_boxes(paragraph: Element) -> Iterator[Element]:
    """Yield the contents of the text boxes in a paragraph, each once though it is kept in two forms."""
    for child in paragraph:
        if local(child) == "txbxContent":
            yield child
        elif local(child) not in _HIDDEN:
            yield from text_boxes(child)


def picture(element: Element) -> str:
    """Return what a picture is described as, as an image without an address; empty where it is not."""
    for one in element.iter():
        if local(one) in {"docPr", "shape"} and (shown := one.get("descr") or one.get("alt")):
            return f"![{' '.join(shown.split())}]()"
    return ""


def descend(parent: Element, name: str) -> Iterator[Element]:
    """Yield the children of that name, also those inside content controls."""
    for child in parent:
        if local(child) == name:
            yield child
        elif local(child) in {"sdt", "sdtContent", "customXml", "ins"}:
            yield from descend(child, name)


def value(parent: Element | None, name: str) -> str:
    """Return the value of a child that carries one; empty where there is none."""
    child = parent.find(f"{W}{name}") if parent is not None else None
    return child.get(f"{W}val", "") if child is not None else ""


def on(look: Element | None, name: str, otherwise: bool = False) -> bool:
    """Say whether a look is switched on."""
    child = look.find(f"{W}{name}") if look is not None else None
    return otherwise if child is None else child.get(f"{W}val", "true") not in {"0", "false", "off", "none"}


def font(look: Element | None) -> str:
    """Return the name of the font a look asks for."""
    fonts = look.find(f"{W}rFonts") if look is not None else None
    return fonts.get(f"{W}ascii", "") if fonts is not None else ""


def int_of(text: str, otherwise: int) -> int:
    """Return a whole number, or *otherwise* where *text* is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else otherwise
