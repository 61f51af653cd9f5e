"""Read files of every format into Documents: bytes in, text with its title, first paragraph and sections out."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from bookwheel.formats import extra, html, markdown, org, plain, signs
from bookwheel.model import Document, Source

Reader = Callable[[Source, bytes], Document]
PAGE = "page"  # the form of a web page whose main text alone is wanted


def late(module: str, name: str = "read") -> Reader:
    """Return a reader whose module is imported when it is first used."""

    def reader(source: Source, data: bytes) -> Document:
        found: Reader = getattr(import_module(f"bookwheel.formats.{module}"), name)
        return found(source, data)

    return reader


PLAIN: dict[str, Reader] = {  # their text is the file's own, or nearly so
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".mdx": markdown.read,
    ".html": html.read,
    ".htm": html.read,
    ".txt": plain.read,
    ".text": plain.read,
    ".org": org.read,
    ".org_archive": org.read,
}
DOCUMENTS: dict[str, Reader] = {
    ".rst": late("rst"),
    ".pdf": late("pdf"),
    **dict.fromkeys((".docx", ".docm", ".dotx"), late("word")),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx"), late("slides")),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), late("sheets")),
    **dict.fromkeys((".odt", ".ott", ".odp"), late("opendocument")),
    ".epub": late("epub"),
    ".ipynb": late("notebook"),
    ".eml": late("mail"),
    ".msg": late("mail", "read_outlook"),
}
DATA: dict[str, Reader] = {  # what programs write for programs: read when named, not when a folder is served
    **dict.fromkeys((".csv", ".tsv"), late("tabular", "read_csv")),
    ".json": late("tabular", "read_json"),
    **dict.fromkeys((".jsonl", ".ndjson"), late("tabular", "read_json_lines")),
    ".xml": late("tabular", "read_xml"),
}
EXTRA: dict[str, Reader] = dict.fromkeys(extra.SUFFIXES, late("extra"))
READERS: dict[str, Reader] = PLAIN | DOCUMENTS | DATA
TEXTUAL = frozenset({".md", ".markdown", ".mdx", ".txt", ".text", ".org"} | signs.TEXTUAL)
SERVED = frozenset(PLAIN | DOCUMENTS) - {".org_archive"}


TYPES = {  # the forms of what servers send
    "text/html": PAGE,
    "application/xhtml+xml": PAGE,
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/x-rst": ".rst",
    "text/x-org": ".org",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/json": ".json",
    "application/ld+json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/xml": ".xml",
    "text/xml": ".xml",
    "application/rss+xml": ".xml",
    "application/atom+xml": ".xml",
    "application/x-ipynb+json": ".ipynb",
    "message/rfc822": ".eml",
    "application/vnd.ms-outlook": ".msg",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "application/vnd.oasis.opendocument.presentation": ".odp",
}
VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/download", "application/zip"})


def form_of(content_type: str, name: str, data: bytes) -> str:
    """Return the form of what a server sent: by the type it names; where that says little, by name and first bytes."""
    suffix = Source("", "", name).suffix
    if content_type in VAGUE:
        kind = signs.kind(data)
        found = suffix if suffix in READERS else kind or suffix or ".txt"
        return PAGE if found in {".html", ".htm"} else found
    if content_type.startswith("text/") and content_type not in TYPES:
        return suffix if suffix in TEXTUAL else ".txt"
    return TYPES.get(content_type, suffix if suffix and not supported(suffix) else f".{content_type.partition('/')[2]}")


def supported(suffix: str) -> bool:
    """Say whether files with that *suffix*, with its dot and in any case, can be read."""
    return suffix.lower() in READERS or (suffix.lower() in EXTRA and extra.installed())


def converted(name: str) -> bool:
    """Say whether the text of files of that *name* is made, not theirs: worth keeping."""
    return name[name.rfind(".") :].lower() in DOCUMENTS | DATA | EXTRA


def read(source: Source, data: bytes, form: str = "") -> Document:
    """Return the document in *data*, read as its *form* says: a suffix, PAGE, or by default the source's suffix.

    Raises Unreadable for a form without a reader, ParseFailed for bytes that are not what the form promises, each
    with a sentence that says what to do.
    """
    form = form or source.suffix
    if form == PAGE:
        return late("page")(source, data)
    if not supported(form):
        raise signs.unsupported(source.path, form, list(READERS))
    if form not in PLAIN and form not in EXTRA:
        signs.check(form, data)
    return (READERS | EXTRA)[form](source, data)
