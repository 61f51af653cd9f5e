"""What a file is by its first bytes, whatever its name says, and what to do with one that cannot be read."""

from __future__ import annotations

import io
import re
import zlib

from bookwheel.errors import ParseFailed, Unreadable

KINDS = {  # what a suffix stands for
    ".pdf": "a PDF",
    ".docx": "a Word document",
    ".doc": "an old Word document",
    ".pptx": "a PowerPoint presentation",
    ".ppt": "an old PowerPoint presentation",
    ".xlsx": "an Excel workbook",
    ".xls": "an old Excel workbook",
    ".odt": "an OpenDocument text",
    ".ods": "an OpenDocument spreadsheet",
    ".odp": "an OpenDocument presentation",
    ".epub": "an EPUB book",
    ".msg": "an Outlook message",
    ".html": "an HTML page",
    ".rtf": "an RTF document",
    ".zip": "a zip archive",
    ".png": "a PNG image",
    ".jpg": "a JPEG image",
    ".gif": "a GIF image",
    ".tiff": "a TIFF image",
}
SAME = {
    **dict.fromkeys((".docm", ".dotx"), ".docx"),
    **dict.fromkeys((".pptm", ".ppsx"), ".pptx"),
    **dict.fromkeys((".xlsm", ".xlsb"), ".xlsx"),
    ".ott": ".odt",
}
TEXTUAL = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xml", ".rst", ".ipynb", ".eml"})

_FIRST = (
    (b"\x89PNG", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"II*\0", ".tiff"),
    (b"MM\0*", ".tiff"),
    (b"{\\rtf", ".rtf"),
)
_PARTS = (("word/", ".docx"), ("ppt/", ".pptx"), ("xl/", ".xlsx"), ("META-INF/container.xml", ".epub"))
_TYPES = (
    (b"application/epub+zip", ".epub"),
    (b"application/vnd.oasis.opendocument.text", ".odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", ".ods"),
    (b"application/vnd.oasis.opendocument.presentation", ".odp"),
)
_STREAMS = (  # what programs call the main part of an old Office file
    ("EncryptedPackage", ""),
    ("__properties_version1.0", ".msg"),
    ("WordDocument", ".doc"),
    ("PowerPoint Document", ".ppt"),
    ("Workbook", ".xls"),
    ("Book", ".xls"),
)
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)?<(?:!doctype html|html[\s>])", re.IGNORECASE | re.DOTALL)
_ADVICE = {
    **dict.fromkeys((".doc", ".rtf", ".pages", ".wpd", ".dot"), "save it as .docx or .pdf"),
    **dict.fromkeys((".ppt", ".key"), "save it as .pptx or .pdf"),
    **dict.fromkeys((".numbers", ".wks"), "save it as .xlsx or .csv"),
    **dict.fromkeys(
        (".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".webp", ".heic", ".svg"),
        "a picture has no text; run text recognition (OCR) on it, or install the extra `markitdown`",
    ),
    **dict.fromkeys(
        (".mp3", ".wav", ".m4a", ".ogg", ".flac", ".mp4", ".mov", ".mkv", ".avi", ".webm"),
        "a recording has no text; transcribe it, or install the extra `markitdown`",
    ),
    **dict.fromkeys((".zip", ".tar", ".gz", ".7z", ".rar"), "unpack it, and take the files in it"),
}


def check(suffix: str, data: bytes) -> None:
    """Raise ParseFailed with what to do if *data* is empty, locked, or plainly not what its *suffix* promises."""
    if not data.strip():
        raise ParseFailed("this file is empty: there is nothing to read in it")
    found = kind(data)
    expected = SAME.get(suffix, suffix)
    if found is None or found == expected or (suffix in TEXTUAL and found == ".html"):
        return
    wanted = KINDS.get(expected, f"a {suffix} file")
    if not found:
        raise ParseFailed("this document is encrypted: save a copy without a password, and try again")
    advice = _ADVICE.get(found, f"rename it to {found}")
    raise ParseFailed(f"this is {KINDS[found]}, not {wanted}: {advice}")


def kind(data: bytes) -> str | None:
    """Return the suffix that fits the first bytes; empty for a locked Office file, None where they do not tell."""
    if b"%PDF-" in data[:1024]:
        return ".pdf"
    if data.startswith(b"PK\x03\x04"):
        return packed(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return next((suffix for name, suffix in _STREAMS if name.encode("utf-16-le") in data), None)
    if _PAGE.match(data[:2048]):
        return ".html"
    return next((suffix for mark, suffix in _FIRST if data.startswith(mark)), None)


def packed(data: bytes) -> str | None:
    """Return the suffix that fits a zip file, None where it is damaged or does not tell."""
    import zipfile  # noqa: PLC0415 - only where there is one to open

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {one.filename: one.file_size for one in archive.infolist()}
            typed = archive.read("mimetype") if 0 < sizes.get("mimetype", 0) < 200 else b""
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, OSError):
        return None
    named = (suffix for mark, suffix in _TYPES if typed.strip().startswith(mark))
    parts = (suffix for part, suffix in _PARTS for name in sizes if name.startswith(part))
    return next(named, None) or next(parts, None) or (None if "content.xml" in sizes else ".zip")


def unsupported(name: str, suffix: str, known: list[str]) -> Unreadable:
    """Return the error for a file without a reader, with what to do."""
    advice = _ADVICE.get(suffix, f"{suffix or 'no suffix'} is not one of {', '.join(known)}")
    return Unreadable(f"Unsupported format: {name} cannot be read: {advice}", suffix=suffix)
