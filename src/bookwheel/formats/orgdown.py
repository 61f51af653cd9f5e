"""Org as Markdown: headlines, blocks, tables, links, emphasis, notes and drawers, line by line.

For readers of a library alone: the file is never written, and nothing in it is run, included or looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bookwheel.formats.lines import skip_mark, uniform
from bookwheel.formats.org import settings
from bookwheel.formats.writing import code, fence, finish, heading, join, quote, table

_HEADLINE = re.compile(r"(\*+) +(.*)$")
_BLOCK = re.compile(r"[ \t]*#\+begin_(\w+)(?:[ \t]+(\S+))?", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*$")
_PROPERTY = re.compile(r"[ \t]*:([\w+-]+):[ \t]*(.*)$")
_SILENT = re.compile(r"[ \t]*#(?:\+[\w-]+:| |$)")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[ \t]*\|[-+]+\|?[ \t]*$")
_NOTE = re.compile(r"\[fn:([\w-]+)\](?= |$)")
_BULLET = re.compile(r"^([ \t]+)\*(?= )")
_INLINE = re.compile(
    r"\[\[(?P<address>[^\]\[]+)\](?:\[(?P<text>[^\]\[]+)\])?\]"
    r"|\[fn:(?P<note>[\w-]+)\]"
    r"|(?<![\w*/=~+])(?P<mark>[*/=~+])(?P<inner>(?![\s*/=~+])[^\n]{0,300}?(?<!\s))(?P=mark)(?![\w*/=~+])"
)
_DRESS = {"*": "**{}**", "/": "*{}*", "+": "~~{}~~"}


def convert(text: str) -> str:
    """Return an Org *text* as Markdown."""
    plain = uniform(text[skip_mark(text) :])
    title = str(settings(plain).get("title", ""))
    shift = 1 if title else 0
    return finish(join([heading(1, title), *blocks(plain.split("\n"), shift)]))


def blocks(lines: Sequence[str], shift: int = 0) -> Iterator[str]:
    """Yield the parts of *lines*; headlines are *shift* levels deeper than they say."""
    at, loose, ends = 0, list[str](), last_ends(lines)
    while at < len(lines):
        text, following = block(lines, at, shift, ends)
        if following == at:  # a line of a paragraph or list
            loose.append(inline(_BULLET.sub(r"\1-", lines[at].rstrip())))
            at += 1
            continue
        yield "\n".join(loose)
        loose = []
        yield text
        at = following
    yield "\n".join(loose)


def last_ends(lines: Sequence[str]) -> dict[str, int]:
    """Return where each mark that ends something comes last, so that none is looked for in vain."""
    marks = ((line.strip().lower(), place) for place, line in enumerate(lines))
    return {mark: place for mark, place in marks if mark.startswith(("#+end_", ":end:"))}


def block(lines: Sequence[str], at: int, shift: int, ends: Mapping[str, int]) -> tuple[str, int]:
    """Return what begins at a line, and where the next one does: the same line where nothing special begins."""
    line = lines[at]
    if found := _HEADLINE.match(line):
        return heading(len(found[1]) + shift, inline(found[2])), at + 1
    if found := _BLOCK.match(line):
        end = close(lines, at, f"#+end_{found[1].lower()}", ends)
        return (enclosed(found[1].lower(), found[2] or "", lines[at + 1 : end]), end + 1) if end else ("", at + 1)
    if (found := _DRAWER.match(line)) and (end := close(lines, at, ":end:", ends)):
        pairs = (_PROPERTY.match(one) for one in lines[at + 1 : end])
        said = "\n".join(f"- {one[1]}: {one[2]}" for one in pairs if one)
        return said if found[1].lower() == "properties" else join(blocks(lines[at + 1 : end])), end + 1
    if _ROW.match(line):
        end = next((i for i in range(at, len(lines)) if not _ROW.match(lines[i])), len(lines))
        rows = [one.strip().strip("|").split("|") for one in lines[at:end] if not _RULE.match(one)]
        return table([[inline(cell.strip()) for cell in row] for row in rows]), end
    if found := _NOTE.match(line):
        return f"[^{found[1]}]:{inline(line[found.end() :])}", at + 1
    return "", at + 1 if _SILENT.match(line) or not line.strip() else at


def enclosed(kind: str, argument: str, lines: Sequence[str]) -> str:
    """Return what stands between two marks: code in a fence, a quote as one, else as it is."""
    inner = [re.sub(r"^(\s*),(?=[*#,])", r"\1", one) for one in lines]
    width = min((len(one) - len(one.lstrip()) for one in inner if one.strip()), default=0)
    body = [one[width:] for one in inner]
    if kind in {"src", "example", "export"}:
        return fence("\n".join(body).strip("\n"), argument if kind == "src" else "")
    if kind == "comment":
        return ""
    text = "\n".join(inline(one) for one in body)
    return quote(text.strip("\n")) if kind in {"quote", "verse"} else text


def close(lines: Sequence[str], at: int, mark: str, ends: Mapping[str, int]) -> int:
    """Return the line that ends what begins at a line, before the next headline; 0 where none does."""
    for place in range(at + 1, ends.get(mark, 0) + 1):
        if lines[place].strip().lower() == mark:
            return place
        if _HEADLINE.match(lines[place]):
            return 0
    return 0


def inline(text: str) -> str:
    """Return a line with links, notes and emphasis in Markdown's form."""
    return _INLINE.sub(_mark, text)


def _mark(found: re.Match[str]) -> str:
    if address := found["address"]:
        target = address.removeprefix("file:")
        return f"[{found['text'] or target}]({target.replace(' ', '%20')})"
    if found["note"]:
        return f"[^{found['note']}]"
    form = _DRESS.get(found["mark"])
    return form.format(inline(found["inner"])) if form else code(found["inner"])
