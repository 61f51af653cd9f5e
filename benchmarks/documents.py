"""Documents of a realistic size, made of the small samples that the tests read: the same ones every time."""

import html
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
CASES = HERE.parent / "tests" / "formats" / "cases"
sys.path.append(str(HERE.parent / "examples"))

from make_pdf import make_pdf  # noqa: E402 - lies beside us, not below

Parts = dict[str, bytes]


def make_documents(folder: Path) -> list[Path]:
    """Write one file of each format; return them."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, make in MAKERS.items():
        path = folder / name
        path.write_bytes(make())
        written.append(path)
    return written


def prose() -> Iterator[str]:
    """Yield the paragraphs of the sample library, over and over."""
    texts = [path.read_text("utf-8") for path in sorted((HERE.parent / "examples" / "library").rglob("*.md"))]
    blocks = (" ".join(block.split()) for text in texts for block in text.split("\n\n"))
    return cycle([block for block in blocks if len(block) > 200 and block[0].isalpha()])


def pdf() -> bytes:
    """Return 100 pages of prose with headings."""
    said = prose()
    pages = [f"# Page {number} & more\n\n" + "\n\n".join(islice(said, 5)) for number in range(100)]
    return make_pdf([page.encode("cp1252", "ignore").decode("cp1252") for page in pages], "A hundred pages")


def repacked(case: str, change: Callable[[Parts], Parts]) -> bytes:
    """Return a sample with other parts."""
    with zipfile.ZipFile(CASES / case) as archive:
        parts = change({name: archive.read(name) for name in archive.namelist()})
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return made.getvalue()


def repeat(part: str, between: bytes, times: int) -> Callable[[Parts], Parts]:
    """Return what repeats the content of a part that a pattern finds."""

    def change(parts: Parts) -> Parts:
        found = re.search(between, parts[part], re.DOTALL)
        assert found
        start, end = found.span(1)
        return parts | {part: parts[part][:start] + found[1] * times + parts[part][end:]}

    return change


def slides(parts: Parts) -> Parts:
    """Return a presentation with each slide in it twenty times."""
    listed, types, links, more = b"", b"", b"", Parts()
    for number in range(6, 106):
        like = (number - 6) % 3 + 1  # those with text
        more[f"ppt/slides/slide{number}.xml"] = parts[f"ppt/slides/slide{like}.xml"]
        rels = re.sub(rb"<Relationship [^>]*notesSlide[^>]*/>", b"", parts[f"ppt/slides/_rels/slide{like}.xml.rels"])
        more[f"ppt/slides/_rels/slide{number}.xml.rels"] = rels
        listed += b'<p:sldId id="%d" r:id="rIdMore%d"/>' % (1000 + number, number)
        links += b'<Relationship Id="rIdMore%d" Type="%s" Target="slides/slide%d.xml"/>' % (number, SLIDE, number)
        types += b'<Override PartName="/ppt/slides/slide%d.xml" ContentType="%s"/>' % (number, SLIDE_TYPE)
    ends = {
        "ppt/presentation.xml": (b"</p:sldIdLst>", listed),
        "ppt/_rels/presentation.xml.rels": (b"</Relationships>", links),
        "[Content_Types].xml": (b"</Types>", types),
    }
    return parts | more | {name: parts[name].replace(end, new + end) for name, (end, new) in ends.items()}


def sheet(parts: Parts) -> Parts:
    """Return a workbook whose first sheet has 5,000 rows of ten cells."""
    random = Random(7)
    rows = b"".join(
        b'<row r="%d">%s</row>' % (y, b"".join(cell(x, y, random) for x in range(10))) for y in range(1, 5_001)
    )
    head, _, rest = parts["xl/worksheets/sheet1.xml"].partition(b"<sheetData>")
    tail = rest.partition(b"</sheetData>")[2]
    data = re.sub(rb"<dimension [^>]*/>", b"", head) + b"<sheetData>" + rows + b"</sheetData>" + tail
    return parts | {"xl/worksheets/sheet1.xml": data}


def cell(x: int, y: int, random: Random) -> bytes:
    """Return a cell: text in the first three columns, numbers in the others."""
    place = b"%c%d" % (65 + x, y)
    if x < 3:
        return b'<c r="%s" t="inlineStr"><is><t>entry %d of R&amp;D</t></is></c>' % (place, random.randrange(10**6))
    return b'<c r="%s"><v>%.2f</v></c>' % (place, random.random() * 1000)


def notebook() -> bytes:
    """Return a notebook with a hundred times the cells of the sample."""
    made = json.loads((CASES / "ipynb" / "turning.ipynb").read_text())
    return json.dumps(made | {"cells": made["cells"] * 100}).encode()


def page() -> bytes:
    """Return a page of 300 sections."""
    said = islice(prose(), 300)
    listed = "<ul><li>a &lt; b<li>R&amp;D</ul>"
    parts = (f"<h2>Part {number}</h2><p>{html.escape(one)}</p>{listed}" for number, one in enumerate(said))
    return f"<!doctype html><html><head><title>T</title></head><body>{''.join(parts)}</body></html>".encode()


def table() -> bytes:
    """Return a table of 20,000 rows."""
    random = Random(7)
    rows = (f"entry {random.randrange(10**6)},R&D,{random.random():.3f},{random.random():.3f}" for _ in range(20_000))
    return "\n".join(["name,place,width,height", *rows]).encode()


def message() -> bytes:
    """Return a message with a long text."""
    sample = (CASES / "eml" / "minutes.eml").read_bytes()
    return sample.replace(b"Dear all,\n", b"Dear all,\n" + b"and a line more, x & y\n" * 3_000, 1)


SLIDE = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/slide"
SLIDE_TYPE = b"application/vnd.openxmlformats-officedocument.presentationml.slide+xml"
MAKERS: dict[str, Callable[[], bytes]] = {
    "pages.pdf": pdf,
    "text.docx": lambda: repacked("docx/room.docx", repeat("word/document.xml", rb"<w:body>(.*)<w:sectPr", 100)),
    "talk.pptx": lambda: repacked("pptx/talk.pptx", slides),
    "book.xlsx": lambda: repacked("xlsx/stock.xlsx", sheet),
    "text.odt": lambda: repacked("odt/letter.odt", repeat("content.xml", rb"(<text:h .*)</office:text>", 100)),
    "book.epub": lambda: repacked("epub/book.epub", repeat("EPUB/c1.xhtml", rb"<body>(.*)</body>", 300)),
    "page.html": page,
    "cells.ipynb": notebook,
    "rows.csv": table,
    "mail.eml": message,
}
