"""Read e-books (.epub): the chapters of the spine in their order."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from bookwheel.errors import ParseFailed
from bookwheel.formats.html import convert as convert_page
from bookwheel.formats.html import page_text, without_scripts
from bookwheel.formats.made import Made, document
from bookwheel.formats.package import Element, Package, local, resolve
from bookwheel.formats.writing import join
from bookwheel.model import Document, Source

WHAT = "an EPUB book"
FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # only fonts are scrambled by these


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown."""
    return document(
        source, convert(data), "this book holds no text, pictures of pages perhaps: run text recognition on it first"
    )


def convert(data: bytes) -> Made:
    """Return a book as Markdown."""
    package = Package(data, WHAT)
    refuse_locked(package)
    root = package.xml("META-INF/container.xml")
    main = next((one.get("full-path", "") for one in root.iter() if local(one) == "rootfile"), "")
    book = package.xml(main)
    chapters = (convert_page(without_scripts(page_text(package.read(one)))) for one in spine(package, book, main))
    return Made(join(chapters), metadata=described(book), named=True)


def spine(package: Package, book: Element, main: str) -> Iterator[str]:
    """Yield the members to read, in order; a table of contents made for programs is none of them."""
    folder = posixpath.dirname(main)
    items = {one.get("id"): one for one in book.iter() if local(one) == "item"}
    for reference in (one for one in book.iter() if local(one) == "itemref"):
        item = items.get(reference.get("idref"))
        name = resolve(folder, item.get("href", "")) if item is not None else ""
        if item is not None and name in package.names and "nav" not in item.get("properties", "").split():
            yield name


def described(book: Element) -> dict[str, str]:
    """Return the title and description a book gives itself."""
    found: dict[str, str] = {}
    for element in book.iter():
        if local(element) in {"title", "description"} and element.text:
            found.setdefault(local(element), element.text)
    return found


def refuse_locked(package: Package) -> None:
    """Raise ParseFailed for a book whose text is encrypted."""
    root = package.maybe("META-INF/encryption.xml")
    methods = [
        one.get("Algorithm", "")
        for one in (root.iter() if root is not None else ())
        if local(one) == "EncryptionMethod"
    ]
    if any(method not in FONTS for method in methods):
        raise ParseFailed("this book is copy-protected (DRM) and cannot be read: use a copy without protection")
