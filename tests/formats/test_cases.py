"""Every sample file becomes the Markdown beside it; `make_cases.py` makes the samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.errors import ParseFailed
from bookwheel.formats import READERS, read
from bookwheel.index.chunking import split
from bookwheel.model import Document, Source

CASES = Path(__file__).parent / "cases"
GOLDEN = sorted(path.relative_to(CASES).as_posix().removesuffix(".md") for path in CASES.glob("*/*.md"))


def case(name: str) -> Document:
    path = CASES / name
    return read(Source("cases", str(path), path.name), path.read_bytes())


@pytest.mark.parametrize("name", GOLDEN)
def test_a_file_becomes_the_markdown_beside_it(name: str) -> None:
    assert case(name).text == (CASES / f"{name}.md").read_text("utf-8")


def test_every_format_has_a_case() -> None:
    equal = {".docm", ".dotx", ".pptm", ".ppsx", ".xlsm", ".xlsb", ".ott", ".ndjson"}  # read as their siblings are
    own = {
        ".md",
        ".markdown",
        ".mdx",
        ".html",
        ".htm",
        ".txt",
        ".text",
        ".org",
        ".org_archive",
    }  # have tests of their own

    assert {f".{name.split('/')[0]}" for name in GOLDEN} == READERS.keys() - equal - own


@pytest.mark.parametrize("name", GOLDEN)
def test_signs_of_markup_in_the_text_survive(name: str) -> None:
    text = case(name).text

    assert "&amp;" not in text.replace("R&amp;D", "") or name.endswith(".xml")
    assert any(sign in text for sign in ("R&D", "x & y", "a < b", "&", "Größe", "| 1 | 2 |", "Third page"))


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("pdf/manual.pdf", ["# A manual of R&D", "## 2 Programming", "## 3 Caring"]),
        ("pdf/gap.pdf", ["First page.", "", "Third page."]),
        ("pptx/talk.pptx", ["# Reading & writing", "# What a wheel does", "# Numbers", "|  | 2025 | 2026 |", ""]),
        ("odp/talk.odp", ["# Reading & writing", "# What a wheel does", "# Numbers", "", ""]),
    ],
)
def test_a_page_begins_where_it_says(name: str, pages: list[str]) -> None:
    document = case(name)

    ends = [*document.pages[1:], len(document.text)]
    spans = zip(document.pages, ends, strict=True)
    assert [document.text[start:end].split("\n")[0] for start, end in spans] == pages


def test_a_chunk_knows_its_page_and_stays_on_it() -> None:
    document = case("pdf/manual.pdf")

    chunks = split(document)

    pages = {document.text[chunk.start : chunk.end].split("\n")[0]: chunk.page for chunk in chunks}
    assert pages["## 1 Turning"] == 1
    assert pages["## 2 Programming"] == 2
    assert pages["## 3 Caring"] == 3
    assert [chunk.page for chunk in chunks] == sorted(chunk.page for chunk in chunks)


def test_documents_without_pages_have_none() -> None:
    document = case("docx/room.docx")

    assert document.pages == ()
    assert {chunk.page for chunk in split(document)} == {0}


@pytest.mark.parametrize(
    ("name", "title", "description"),
    [
        ("docx/room.docx", "The reading room", "Everything a Word document can show."),  # not the template's title
        ("pdf/manual.pdf", "A manual of R&D", "How to turn the wheel"),
        ("pdf/gap.pdf", "gap", ""),  # "untitled" is none
        ("epub/book.epub", "The book of R&D", "Two short chapters."),
        ("eml/minutes.eml", "Minutes of the R&D meeting: Grüße", ""),
        ("csv/stock.csv", "stock", ""),
    ],
)
def test_a_title_is_the_authors(name: str, title: str, description: str) -> None:
    document = case(name)

    assert (document.title, document.word("description")) == (title, description)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("docx/locked.docx", "encrypted: save a copy without a password"),
        ("docx/empty.docx", "holds no text"),
        ("pdf/locked.pdf", "encrypted: save a copy without a password"),
        ("pdf/scanned.pdf", r"run text recognition \(OCR\) on it"),
        ("pptx/silent.pptx", "these slides hold no text"),
        ("xlsx/empty.xlsx", "every sheet of this workbook is empty"),
    ],
)
def test_a_file_without_text_says_what_to_do(name: str, sentence: str) -> None:
    with pytest.raises(ParseFailed, match=sentence):
        case(name)
