"""Reduce a line of Markdown to the text its reader sees.

What is doubtful stays as it is written: `snake_case`, `a * b` and `List<String>` are text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import NamedTuple

from bookwheel.formats.lines import LONGEST, brief, fold

_SPECIAL = re.compile(r"[\\`*_\[<&~]")
_ATOM = re.compile(  # each alternative begins with a plain character: that makes the search for one many times faster
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|`(?<!``)(?P<ticks>`*+)(?P<code>.+?)(?<!`)`(?P=ticks)(?!`)"
    r"|<(?P<link>[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>"
    r"|<!--.*?-->"
    r"|</?(?P<tag>a|abbr|b|bdi|bdo|big|br|center|cite|code|data|del|details|dfn|div|em|font|h[1-6]|i|img|input|ins|kbd"
    r"|label|mark|p|picture|q|s|samp|small|source|span|strike|strong|sub|summary|sup|svg|time|tt|u|var|wbr)"
    r"(?=[\s/>])(?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+>"
    r"|&(?P<entity>(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]*);)",
    re.IGNORECASE | re.DOTALL,
)
_LINK = re.compile(
    r"!?\[([^\[\]]*)\]\(\s*+(?:<[^<>]*+>|[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?\s*+\)"
)
_RUN = re.compile(r"\*\**|__*|~(?<!~~)~(?!~)")  # as above: \*+ would be slower
_STASHED = re.compile("\0([0-9]+)\0")


def plain(text: str) -> str:
    """Return the start of *text*, as much as a title needs, without its inline markup, white space folded."""
    if not _SPECIAL.search(text, 0, LONGEST):
        return brief(text)
    atoms: list[str] = []
    bare = _ATOM.sub(lambda found: stash(found, atoms), text[:LONGEST].replace("\0", "\ufffd"))
    shown = unmark(unlink(bare))
    return fold(_STASHED.sub(lambda found: atoms[int(found[1])], shown) if atoms else shown)


def stash(found: re.Match[str], atoms: list[str]) -> str:
    """Put what *found* shows into *atoms*, out of reach of links and emphasis, and return a mark for it."""
    atoms.append(show(found))
    return f"\0{len(atoms) - 1}\0"


def show(found: re.Match[str]) -> str:
    """Return what a reader sees of an escape, code span, autolink, comment, tag or entity."""
    if found["entity"]:
        return html.unescape(found[0])
    if found["tag"]:
        return " " if found["tag"].lower() == "br" else ""
    return found["escaped"] or found["code"] or found["link"] or ""


def unlink(text: str) -> str:
    """Return *text* with links and images, nested ones too, reduced to their text."""
    for _ in range(3):  # an image in a link in an image is as deep as anyone goes
        if "](" not in text:
            break
        text = _LINK.sub(r"\1", text)
    return text


class Run(NamedTuple):
    """A run of emphasis marks."""

    mark: str
    start: int
    opens: bool
    closes: bool


def unmark(text: str) -> str:
    """Return *text* without the emphasis marks that pair up."""
    runs = [weigh(text, found) for found in _RUN.finditer(text)]
    shown, at = list[str](), 0
    for run, left in zip(runs, pair(runs), strict=True):
        shown += (text[at : run.start], run.mark[:left])
        at = run.start + len(run.mark)
    return "".join(shown) + text[at:]


def weigh(text: str, found: re.Match[str]) -> Run:
    """Return a run with CommonMark's opinion on whether it may open and close emphasis."""
    mark, (start, end) = found[0], found.span()
    before, after = kind(text[max(start - 1, 0) : start]), kind(text[end : end + 1])
    left = after == "letter" or (after == "sign" and before != "letter")
    right = before == "letter" or (before == "sign" and after != "letter")
    if mark[0] != "_":
        return Run(mark, start, left, right)
    return Run(mark, start, left and before != "letter", right and after != "letter")


def kind(letter: str) -> str:
    """Return whether *letter* is a space (so is the end of the text), a sign or a letter."""
    if letter.isalnum():
        return "letter"
    if not letter or letter.isspace():
        return "space"
    return "sign" if letter == "\0" or unicodedata.category(letter)[0] in "PS" else "letter"


def pair(runs: list[Run]) -> list[int]:
    """Return how many marks of each run stay as text because they found no partner."""
    left = [len(run.mark) for run in runs]
    waiting: dict[str, list[int]] = {"*": [], "_": [], "~": []}
    for i, run in enumerate(runs):
        partners = waiting[run.mark[0]]
        while run.closes and left[i] and partners:
            j = partners[-1]
            used = min(left[i], left[j])
            left[i], left[j] = left[i] - used, left[j] - used
            forget(waiting, j if left[j] else j - 1)
        if run.opens and left[i]:
            partners.append(i)
    return left


def forget(waiting: dict[str, list[int]], last: int) -> None:
    """Drop the runs after *last*: emphasis does not reach out of the emphasis it is in."""
    for runs in waiting.values():
        while runs and runs[-1] > last:
            runs.pop()
