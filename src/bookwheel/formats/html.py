"""Read HTML: its text is the Markdown it converts to.

The converter gives up on pages nested a thousand deep, takes forty times a page's size in memory and shows a
script that never ends, so we take scripts out first, and fall back to the bare text where it would fail.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from bookwheel.formats.encoding import decode, marked
from bookwheel.formats.lines import brief, fold
from bookwheel.formats.lines import level as levelled
from bookwheel.formats.markdown import sections
from bookwheel.model import Document, Source

LARGEST = 10_000_000  # characters worth converting
HEAD = 4_096  # bytes in which a page names its encoding

_ATTRIBUTES = r"""(?:[^<>"']|"[^"]*+"|'[^']*+')*+"""
_BREAK = r"</?(?:p|div|h[1-6]|[uod]l|li|d[td]|t(?:able|r|h|d)|section|article|pre|blockquote|[hb]r|form|body)(?=[\s/>])"
_CHARSET = re.compile(rb"""<meta\s[^<>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_CODECS = (  # what browsers take these names for
    (r"(?:iso-?8859-?1|latin-?1|us-ascii|ascii|windows-1252|cp1252)", "cp1252"),
    (r"(?:shift[-_]?jis|x-sjis|sjis|windows-31j)", "cp932"),
    (r"(?:gb_?2312|gbk|x-gbk|gb18030)", "gb18030"),
    (r"(?:euc-kr|ks_c_5601-1987|korean)", "cp949"),
    (r"(utf-?8|iso-8859-(?:[2-9]|1[0-6])|windows-125[0-8]|windows-874|euc-jp|iso-2022-jp|big5|koi8-[ru])", ""),
)
_UNSEEN = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(script|style)(?=[\s/>]){_ATTRIBUTES}.*?(?:</\1(?=[\s/>])[^>]*+>?|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_UNSHOWN = re.compile(
    r"<(title|template|noscript)(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*+>?|\Z)", re.IGNORECASE | re.DOTALL
)
_BODY = re.compile(r"<(?:body|svg)(?=[\s/>])", re.IGNORECASE)
_META = re.compile(rf"<meta(?=[\s/]){_ATTRIBUTES}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]*))""")
_TITLE = re.compile(rf"<title(?=[\s/>]){_ATTRIBUTES}>(?:(.*?)</title(?=[\s/>])|.*+)", re.IGNORECASE | re.DOTALL)
TOP = re.compile(rf"<h1(?=[\s/>]){_ATTRIBUTES}>(.*?)(?=</h1(?=[\s/>])|\Z)", re.IGNORECASE | re.DOTALL)
_PARAGRAPH = re.compile(rf"<p(?=[\s/>]){_ATTRIBUTES}>(.*?)(?={_BREAK}|\Z)", re.IGNORECASE | re.DOTALL)
_BREAKS = re.compile(_BREAK, re.IGNORECASE)
_TAG = re.compile(rf"<[a-zA-Z/!?]{_ATTRIBUTES}>")
_HARMFUL = re.compile(r"(?:javascript|vbscript|data):", re.IGNORECASE)
_LITERAL = re.compile(
    r"(?P<fence>^[ >\d.-]*(?P<mark>`{3,}|~{3,}).*?(?:^[ >]*(?P=mark)|\Z))"
    r"|^(?P<indent> {0,3})<(?=[a-zA-Z/!?])(?![\w+.-]+:)",
    re.MULTILINE | re.DOTALL,
)


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown."""
    page = without_scripts(page_text(data))
    text = convert(page)
    found = sections(text)
    return Document(
        source,
        text,
        "html",
        metadata=describe(page),
        heading=next(shown(TOP, page), ""),
        paragraph=next(shown(_PARAGRAPH, page), ""),
        sections=found,
    )


def without_scripts(page: str) -> str:
    """Return a *page* without what no reader sees."""
    return _UNSEEN.sub("<!---->", levelled(page))  # a comment: nothing may join around what is cut out


def page_text(data: bytes) -> str:
    """Return the text of a page in the encoding it names; what it is found to be where that is wrong."""
    named = None if marked(data) else _CHARSET.search(data[:HEAD])
    codec = known(named[1].decode("ascii")) if named else ""
    try:
        text = data.decode(codec) if codec and b"\0" not in data else decode(data)
    except UnicodeDecodeError:
        text = decode(data)
    return text.removeprefix("\ufeff")


def known(charset: str) -> str:
    """Return the codec for a *charset* browsers know; empty for others, some of which can be made to take forever."""
    for names, codec in _CODECS:
        if found := re.fullmatch(names, charset, re.IGNORECASE):
            return codec or found[1].lower().replace("windows-", "cp")
    return ""


def describe(page: str) -> dict[str, object]:
    """Return the title and description a *page* gives itself, where it does."""
    body = _BODY.search(page)
    head = page[: body.start()] if body else page
    found = {"title": next(shown(_TITLE, head), ""), "description": next(descriptions(page), "")}
    return {key: value for key, value in found.items() if value}


def descriptions(page: str) -> Iterator[str]:
    """Yield the descriptions in the meta tags of a *page*."""
    for meta in _META.finditer(page):
        attributes = {name.lower(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(meta[0])}
        if attributes.get("name", "").strip().lower() == "description" and attributes.get("content", "").strip():
            yield brief(attributes["content"])


def shown(pattern: re.Pattern[str], page: str) -> Iterator[str]:
    """Yield the text of what *pattern* finds in a *page*, unless it is empty."""
    for found in pattern.finditer(page):
        if text := brief(html.unescape(_TAG.sub("", (found[1] or "").replace("<br", " <br")))):
            yield text


def convert(page: str) -> str:
    """Return a *page* as Markdown, or as bare text where it is too large or too deep to convert."""
    if len(page) > LARGEST:
        return bare(page)
    from html_to_markdown import ConversionOptions, PreprocessingOptions  # noqa: PLC0415 - slow to import
    from html_to_markdown import convert as to_markdown  # noqa: PLC0415

    everything = PreprocessingOptions(remove_navigation=False, remove_forms=False)
    options = ConversionOptions(
        bullets="-",
        extract_metadata=False,  # it would put front matter before the text
        include_blockquote_citations=False,  # their links are not shown to the visitor
        inline_data_media="alt_text_only",
        preprocessing=everything,
    )
    result = to_markdown(page, options, visitor=Links())  # type: ignore[arg-type] # it may have some methods only
    lost = any("depth" in str(warning.kind) for warning in result.warnings)
    return bare(page) if lost or not (result.content or "").strip() else guard(result.content or "")


class Links:
    """Replaces links that run a program or carry their content, not their address, by their text."""

    def visit_link(self, _context: object, address: str, text: str, _title: str) -> object:
        """Keep a link, or its text alone."""
        return replace(address, text)

    def visit_image(self, _context: object, address: str, text: str, _title: str) -> object:
        """Keep an image, or its description alone."""
        return replace(address, text)

    def visit_audio(self, _context: object, address: str) -> object:
        """Keep a recording, or nothing of it."""
        return replace(address, "")

    visit_video = visit_iframe = visit_audio


def replace(address: str | None, text: str) -> object:
    """Tell the converter to go on, or to write *text* where the *address* is harmful."""
    plain = re.sub(r"[\0-\x20]+", "", html.unescape(address or ""))  # browsers overlook white space in a scheme
    return {"type": "custom", "output": text or ""} if _HARMFUL.match(plain) else "continue"


def guard(text: str) -> str:
    """Return Markdown *text* with a backslash before each < that begins a line, which would begin raw HTML there."""
    return _LITERAL.sub(lambda found: found["fence"] or f"{found['indent']}\\<", text)


def bare(page: str) -> str:
    """Return the text of a *page* without any markup, a blank line between its blocks."""
    broken = _BREAKS.sub(lambda found: f"\n\n{found[0]}", _UNSHOWN.sub("", page))
    blocks = (fold(block) for block in html.unescape(_TAG.sub("", broken)).split("\n\n"))
    text = "\n\n".join(filter(None, blocks))
    return f"{text}\n" if text else ""
