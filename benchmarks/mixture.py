"""Small documents of many formats, each with a text of its own: a few hundred words, the same ones every time."""

import html
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from corpus import LIBRARY, Page, Vocabulary, read_subjects
from documents import Parts, repacked
from make_pdf import make_pdf  # lies where `documents` looks

SECTIONS = 3
PARAGRAPHS = 2  # of a section, about 60 words each
BODY = b'idx="1"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/>'  # of a slide
PER_FOLDER = 100  # documents


@dataclass(frozen=True, slots=True)
class Text:
    """What a document says, whatever its format."""

    title: str
    sections: list[tuple[str, list[str]]]

    @property
    def lines(self) -> list[str]:
        """Headings and paragraphs, one after the other."""
        return [line for heading, paragraphs in self.sections for line in (heading, *paragraphs)]


def make_mixture(folder: Path, count: int) -> None:
    """Write so many documents below *folder*, of each format about as many."""
    random = Random(1588)
    vocabulary, subjects = Vocabulary(random), read_subjects(LIBRARY)
    for number in range(count):
        suffix, make = list(MAKERS.items())[number % len(MAKERS)]
        place = folder / f"part-{number // PER_FOLDER}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}{suffix}").write_bytes(make(write(Page(random, vocabulary, subjects))))


def write(page: Page) -> Text:
    """Return a text that no other document has."""
    title = f"{page.heading()}: {page.vocabulary.invent()}"
    sections = [(page.heading(), [page.paragraph() for _ in range(PARAGRAPHS)]) for _ in range(SECTIONS)]
    return Text(title, sections)


def lined(title: str, heading: str) -> Callable[[Text], bytes]:
    """Return what writes plain text with headings that begin so."""

    def make(text: Text) -> bytes:
        parts = [f"{title}{text.title}"]
        for name, paragraphs in text.sections:
            parts += [f"{heading}{name}", *paragraphs]
        return "\n\n".join(parts).encode()

    return make


def page(text: Text) -> bytes:
    """Return an HTML page."""
    head = f"<title>{html.escape(text.title)}</title>"
    return f"<!doctype html><html><head>{head}</head><body>{marked(text, 'h1', 'h2', 'p')}</body></html>".encode()


def marked(text: Text, title: str, heading: str, paragraph: str) -> str:
    """Return the text with each part in an element of its own."""
    parts = [(title, text.title)]
    for name, paragraphs in text.sections:
        parts += [(heading, name), *((paragraph, one) for one in paragraphs)]
    return "".join(f"<{element}>{html.escape(one)}</{element.split()[0]}>" for element, one in parts)


def pdf(text: Text) -> bytes:
    """Return a page for each section."""
    pages = [f"# {name}\n\n" + "\n\n".join(paragraphs) for name, paragraphs in text.sections]
    title, *plain = (one.encode("cp1252", "ignore").decode("cp1252") for one in (text.title, *pages))
    return make_pdf(plain, title)


def word(text: Text) -> bytes:
    """Return a DOCX document."""
    styled = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    plain = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    body = styled.format(html.escape(text.title)) + "".join(
        styled.format(html.escape(name)) + "".join(plain.format(html.escape(one)) for one in paragraphs)
        for name, paragraphs in text.sections
    )
    return repacked("docx/room.docx", filled("word/document.xml", b"<w:body>", b"<w:sectPr", body))


def letter(text: Text) -> bytes:
    """Return an ODT document."""
    body = marked(text, 'text:h text:outline-level="1"', 'text:h text:outline-level="2"', "text:p")
    return repacked("odt/letter.odt", filled("content.xml", b"<office:text>", b"</office:text>", body))


def book(text: Text) -> bytes:
    """Return an EPUB book."""
    return repacked("epub/book.epub", filled("EPUB/c1.xhtml", b"<body>", b"</body>", marked(text, "h1", "h2", "p")))


def talk(text: Text) -> bytes:
    """Return a presentation of two slides."""
    half = len(text.lines) // 2

    def change(parts: Parts) -> Parts:
        for number, lines in enumerate((text.lines[:half], text.lines[half:]), 1):
            said = "".join(f"<a:p><a:r><a:t>{html.escape(line)}</a:t></a:r></a:p>" for line in lines)
            parts = filled(f"ppt/slides/slide{number}.xml", BODY, b"</p:txBody>", said)(parts)
        return parts

    return repacked("pptx/talk.pptx", change)


def filled(part: str, start: bytes, end: bytes, body: str) -> Callable[[Parts], Parts]:
    """Return what puts *body* between the first *start* and the next *end* of a part."""

    def change(parts: Parts) -> Parts:
        head, found, rest = parts[part].partition(start)
        _, closed, tail = rest.partition(end)
        assert found, f"{part} is not as it was"
        assert closed, f"{part} is not as it was"
        return parts | {part: head + found + body.encode() + closed + tail}

    return change


def workbook(text: Text) -> bytes:
    """Return a workbook with a line of the text a row."""
    cell = '<c r="{}{}" t="inlineStr"><is><t>{}</t></is></c>'
    rows = "".join(
        f'<row r="{row}">{cell.format("A", row, row)}{cell.format("B", row, html.escape(line))}</row>'
        for row, line in enumerate([text.title, *text.lines], 1)
    )
    return repacked("xlsx/stock.xlsx", filled("xl/worksheets/sheet1.xml", b"<sheetData>", b"</sheetData>", rows))


def rows(text: Text) -> bytes:
    """Return a CSV table with a line of the text a row."""
    quoted = ('"{}"'.format(line.replace('"', '""')) for line in text.lines)
    return "\n".join(["number,text", *(f"{number},{line}" for number, line in enumerate(quoted))]).encode()


def notebook(text: Text) -> bytes:
    """Return a notebook with a section a cell."""
    said = [f"# {text.title}", *(f"## {name}\n\n" + "\n\n".join(paragraphs) for name, paragraphs in text.sections)]
    cells = [{"cell_type": "markdown", "metadata": {}, "source": one} for one in said]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def message(text: Text) -> bytes:
    """Return an e-mail message."""
    head = "From: ann@example.org\nTo: bob@example.org\nDate: Thu, 14 Mar 2024 09:30:00 +0100\n"
    title = text.title.encode("ascii", "ignore").decode()
    body = "\n\n".join(text.lines)
    return f"Subject: {title}\n{head}Content-Type: text/plain; charset=utf-8\n\n{body}\n".encode()


MAKERS: dict[str, Callable[[Text], bytes]] = {
    ".md": lined("# ", "## "),
    ".html": page,
    ".docx": word,
    ".pdf": pdf,
    ".xlsx": workbook,
    ".pptx": talk,
    ".csv": rows,
    ".txt": lined("", ""),
    ".odt": letter,
    ".epub": book,
    ".ipynb": notebook,
    ".eml": message,
    ".org": lined("#+title: ", "* "),
}
