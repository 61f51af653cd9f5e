"""Files made to harm, broken files, and files that are not what their name says: a sentence, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from packages import line, package, word

from bookwheel.errors import BookwheelError, ParseFailed, TooLarge, Unreadable
from bookwheel.formats import DATA, DOCUMENTS, read
from bookwheel.model import Source

CASES = Path(__file__).parent / "cases"
ENTITY = '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;&x;">]><a>&z;</a>'


def sample(name: str) -> bytes:
    return (CASES / name).read_bytes()


def reading(name: str, data: bytes) -> str:
    """Return what is said of a file that cannot be read."""
    with pytest.raises(BookwheelError) as caught:
        read(Source("l", f"/{name}", name), data)
    assert isinstance(caught.value, Unreadable)
    return caught.value.message


@pytest.mark.parametrize("suffix", DOCUMENTS | DATA)
@pytest.mark.parametrize("data", [b"", b" \r\n\t"])
def test_an_empty_file_is_called_empty(suffix: str, data: bytes) -> None:
    assert reading(f"a{suffix}", data) == "this file is empty: there is nothing to read in it"


@pytest.mark.parametrize("suffix", DOCUMENTS | DATA)
@pytest.mark.parametrize("data", [b"\0" * 1000, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\x7fELF\x02\1\1\0\0\0" * 50])
def test_garbage_is_refused_by_every_reader(suffix: str, data: bytes) -> None:
    assert reading(f"a{suffix}", data)


@pytest.mark.parametrize(
    ("name", "case", "sentence"),
    [
        ("a.docx", "pdf/manual.pdf", "this is a PDF, not a Word document: rename it to .pdf"),
        ("a.pdf", "docx/room.docx", "this is a Word document, not a PDF: rename it to .docx"),
        ("a.xlsx", "xls/stock.xls", "this is an old Excel workbook, not an Excel workbook: rename it to .xls"),
        ("a.epub", "odt/letter.odt", "this is an OpenDocument text, not an EPUB book: rename it to .odt"),
        ("a.docx", "msg/minutes.msg", "this is an Outlook message, not a Word document: rename it to .msg"),
        ("a.pptm", "pptx/talk.pptx", ""),
        ("a.csv", "epub/book.epub", "this is an EPUB book, not a .csv file: rename it to .epub"),
    ],
)
def test_a_misnamed_file_is_told_its_name(name: str, case: str, sentence: str) -> None:
    if sentence:
        assert reading(name, sample(case)) == sentence
    else:
        assert read(Source("l", name, name), sample(case)).text


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.pdf", b"<!DOCTYPE html><html><body>x", "this is an HTML page, not a PDF: rename it to .html"),
        ("a.docx", b"{\\rtf1 x}", "this is an RTF document, not a Word document: save it as .docx or .pdf"),
        (
            "a.docx",
            package({"a": "x"}),
            "this is a zip archive, not a Word document: unpack it, and take the files in it",
        ),
        ("a.docx", package({"word/x": "x"}), "the part word/document.xml is missing"),
        ("a.pdf", b"%PDF-1.7\n1 0 obj<<>>endobj", "this is not a PDF, or it is damaged: open it in a viewer"),
        ("a.eml", b"hello", "this is not an e-mail message"),
        ("a.ipynb", b"{}", "this is not a Jupyter notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": 3, "outputs": 1}]}', "this is not a Jupyter notebook"),
        ("a.json", b'{"a": }', "line 1 column 7"),
        ("a.xml", b"<a><b></a>", "not well-formed XML: mismatched tag: line 1, column 8"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000, "this is not a workbook, or it is damaged"),
        (
            "a.msg",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000,
            "this is not an Outlook message, or it is damaged",
        ),
    ],
)
def test_what_is_wrong_is_said(name: str, data: bytes, sentence: str) -> None:
    assert sentence in reading(name, data)


@pytest.mark.parametrize(
    "name", ["docx/room.docx", "pptx/talk.pptx", "xlsx/stock.xlsx", "odt/letter.odt", "epub/book.epub", "ods/stock.ods"]
)
@pytest.mark.parametrize("part", [0.3, 0.95])
def test_a_file_that_was_cut_off_is_called_damaged(name: str, part: float) -> None:
    data = sample(name)

    assert "it is damaged" in reading(name.split("/")[1], data[: int(len(data) * part)])


@pytest.mark.parametrize(
    "name", ["docx/room.docx", "pptx/talk.pptx", "xlsx/stock.xlsx", "odt/letter.odt", "epub/book.epub"]
)
def test_a_file_with_bytes_overwritten_never_breaks_its_reader(name: str) -> None:
    data = bytearray(sample(name))
    for place in range(100, len(data), 997):
        data[place] ^= 0x5A

    assert reading(name.split("/")[1], bytes(data))


@pytest.mark.parametrize("suffix", [".docx", ".docm"])
def test_a_bomb_is_not_unpacked(suffix: str) -> None:
    with pytest.raises(TooLarge, match="hundreds of times its size"):
        read(Source("l", "a", f"a{suffix}"), word(line("x" * 40_000_000)))


def test_many_members_are_not_unpacked() -> None:
    data = package({f"word/{number}": "" for number in range(20_001)})

    with pytest.raises(TooLarge, match="too many parts: split it"):
        read(Source("l", "a", "a.docx"), data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.docx", package({"word/document.xml": ENTITY})),
        ("a.docx", package({"word/document.xml": ENTITY.encode("utf-16")})),
        ("a.pptx", package({"ppt/presentation.xml": ENTITY})),
        ("a.odt", package({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": ENTITY})),
        ("a.epub", package({"META-INF/container.xml": ENTITY})),
        ("a.xml", ENTITY.encode()),
        ("a.xml", ENTITY.encode("utf-16")),
    ],
)
def test_entities_are_refused(name: str, data: bytes) -> None:
    assert "declares XML entities" in reading(name, data)


def test_an_encoding_cannot_hide_an_entity() -> None:
    data = package({"word/document.xml": b"<?xml version='1.0' encoding='cp037'?>" + ENTITY.encode("cp037")})

    assert "it is damaged" in reading("a.docx", data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.docx", word("<w:sdt>" * 50_000 + "</w:sdt>" * 50_000)),
        ("a.odt", package({"content.xml": "<a>" * 50_000 + "</a>" * 50_000})),
    ],
)
def test_deep_xml_is_refused(name: str, data: bytes) -> None:
    assert "nested more than 500 levels deep" in reading(name, data)


def test_deep_xml_data_is_shown_as_it_is() -> None:
    text = "<a>" * 50_000 + "</a>" * 50_000

    assert read(Source("l", "a.xml", "a.xml"), text.encode()).text == f"```xml\n{text}\n```\n"


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000])
def test_deep_json_is_refused(data: bytes) -> None:
    assert "nested too deep" in reading("a.json", data)


def test_a_locked_book_is_told_apart_from_scrambled_fonts() -> None:
    lock = '<encryption><EncryptedData><EncryptionMethod Algorithm="{}"/></EncryptedData></encryption>'
    parts = {"META-INF/container.xml": "<container/>"}

    locked = package({**parts, "META-INF/encryption.xml": lock.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")})
    scrambled = package({**parts, "META-INF/encryption.xml": lock.format("http://www.idpf.org/2008/embedding")})

    assert "copy-protected (DRM)" in reading("a.epub", locked)
    assert "copy-protected" not in reading("a.epub", scrambled)


def test_a_locked_opendocument_text_says_so() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    data = package({"META-INF/manifest.xml": manifest, "content.xml": b"\x12\x34"})

    assert reading("a.odt", data) == "this document is encrypted: save a copy without a password, and try again"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("old.doc", "save it as .docx or .pdf"),
        ("photo.JPG", "a picture has no text; run text recognition (OCR) on it, or install the extra `markitdown`"),
        ("talk.mp3", "a recording has no text; transcribe it, or install the extra `markitdown`"),
        ("all.zip", "unpack it, and take the files in it"),
        ("program.exe", ".exe is not one of .md, .markdown"),
    ],
)
def test_an_unsupported_format_says_what_to_do(name: str, advice: str) -> None:
    said = reading(name, b"x")

    assert said.startswith(f"Unsupported format: {name} cannot be read: ")
    assert advice in said


def test_half_a_character_does_not_reach_the_store() -> None:
    data = b'{"cells": [{"cell_type": "markdown", "source": "a \\ud800 b"}]}'

    assert read(Source("l", "a", "a.ipynb"), data).text == "a ? b\n"


def test_one_wide_row_does_not_widen_all_others() -> None:
    data = b"a," * 100_000 + b"\n" + b"b\n" * 100_000

    assert len(read(Source("l", "a", "a.csv"), data).text) < 20 * len(data)


def test_a_damaged_page_leaves_the_others() -> None:
    data = sample("pdf/manual.pdf").replace(b"/Type /Page\n", b"/Type /Pagx\n", 1)

    try:
        document = read(Source("l", "a", "a.pdf"), data)
    except ParseFailed as error:
        assert "damaged" in error.message  # noqa: PT017 - either is right, a crash is not
    else:
        assert "3 Caring" in document.text
