"""What a converter makes of a file, and the document that becomes of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bookwheel.errors import ParseFailed
from bookwheel.formats.lines import brief
from bookwheel.formats.markdown import paragraph, sections
from bookwheel.formats.writing import finish
from bookwheel.model import Document, Source

_NO_TITLE = re.compile(
    r"(?i)microsoft (?:word|powerpoint|excel) - |untitled|.*\.(?:docx?|pptx?|xlsx?|odt|tex|dvi|indd|rtf)$"
)
_NOTHING = frozenset({"", "unspecified", "anonymous"})


@dataclass(frozen=True, slots=True)
class Made:
    """Markdown made of a file; pages are where in it each page begins."""

    text: str
    pages: tuple[int, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    named: bool = False  # its title is the author's; others are a program's guess or a template's


def from_pages(texts: Iterable[str], metadata: Mapping[str, str]) -> Made:
    """Return the texts of pages as one, a blank line between them."""
    starts, parts, at = list[int](), list[str](), 0
    for text in map(finish, texts):
        starts.append(at)
        if text:
            parts.append(text)
            at += len(text) + 1
    whole = "\n".join(parts)
    return Made(whole, tuple(min(start, len(whole)) for start in starts), metadata)


def clean(text: str) -> str:
    """Return *text* without halves of characters, which cannot be stored, at the same length."""
    return text.encode("utf-8", "replace").decode("utf-8")


def document(source: Source, made: Made, nothing: str) -> Document:
    """Return what was made of a file as a document.

    Raises ParseFailed with the sentence *nothing* if there is no text in it.
    """
    text = clean(made.text if made.pages else finish(made.text))
    if not text.strip():
        raise ParseFailed(nothing)
    found = sections(text)
    heading = found[0].title if found else ""
    known = {key: brief(clean(value)) for key, value in made.metadata.items() if value.strip(" ") not in _NOTHING}
    if not made.named and (heading or _NO_TITLE.match(known.get("title", ""))):
        known.pop("title", None)
    return Document(source, text, "converted", known, "", 0, heading, paragraph(text), found, made.pages)
