"""The planning line, right below a headline: SCHEDULED, DEADLINE and CLOSED with their timestamps."""

from __future__ import annotations

import re
from typing import Literal

from bookwheel.org.text import BLANK

Kind = Literal["SCHEDULED", "DEADLINE", "CLOSED"]

_ANY = r"[ \t]*(?:SCHEDULED|DEADLINE|CLOSED):"
_LINE = re.compile(_ANY, re.IGNORECASE)
_STRICT_LINE = re.compile(_ANY)
STAMP = re.compile(r"[\[<]\d{4}-\d{2}-\d{2}(?: .{0,1000}?)?[\]>]", re.ASCII)

_OPEN = {"SCHEDULED": r"<[^>]{1,1000}>", "DEADLINE": r"<[^>]{1,1000}>", "CLOSED": r"\[[^\]]{1,1000}\]"}
_WORD = r"(?<![^\W_])"  # where a word begins: an underscore is no part of one
_ITEM = {kind: rf"{_WORD}{kind}: *{stamp}" for kind, stamp in _OPEN.items()}
_NEXT = rf"{_WORD}(?:SCHEDULED|DEADLINE|CLOSED): *[\[<][^\]>]{{1,1000}}[\]>]"


def is_planning(text: str, line: int, *, fold: bool = True) -> bool:
    """Say whether the line that begins at *line* is a planning line; *fold* lets lower case do."""
    return bool((_LINE if fold else _STRICT_LINE).match(text, line))


def line_of(entry: str, *, fold: bool = True) -> str:
    """Return the planning line of *entry*, which begins with its headline; empty if there is none."""
    rest = entry.partition("\n")[2]
    return rest.partition("\n")[0] if is_planning(rest, 0, fold=fold) else ""


def stamp(line: str, kind: Kind) -> str | None:
    """Return the timestamp after the last *kind* of a planning *line*."""
    places = [found.end() for found in re.finditer(rf"{kind}:[ \t]*", line, re.IGNORECASE)]
    found = STAMP.match(line, places[-1]) if places else None
    return found[0] if found else None


def without(line: str, kind: Kind, *, fold: bool = True) -> str:
    """Return a planning *line* without *kind* and all that follows it up to the next kind."""
    flags = re.IGNORECASE if fold else 0
    found = re.search(_ITEM[kind], line, flags)
    if not found:
        return line
    after = re.compile(_NEXT, flags).search(line, found.end())
    return line[: found.start()] + (line[after.start() :] if after else "")


def set_stamp(entry: str, kind: Kind, timestamp: str, indent: int, *, fold: bool) -> str:
    """Return *entry*, which begins with its headline, with *timestamp* in front of all else that is planned.

    What is scheduled is no longer closed. A new planning line is indented by *indent*.
    """
    head, feed, rest = entry.partition("\n")
    if not is_planning(rest, 0, fold=fold):
        return f"{head}\n{' ' * indent}{kind}: {timestamp}{feed}{rest}"
    line, end, after = rest.partition("\n")
    text = line.lstrip(BLANK)
    margin = line[: len(line) - len(text)]
    text = without(text, kind, fold=fold)
    if kind != "CLOSED":
        text = without(text, "CLOSED", fold=fold)
    return f"{head}{feed}{margin}{f'{kind}: {timestamp} {text}'.rstrip(BLANK)}{end}{after}"


def clear(entry: str, kind: Kind, *, fold: bool) -> str:
    """Return *entry* without *kind* in its planning line, and without that line if nothing else is in it."""
    head, feed, rest = entry.partition("\n")
    if not is_planning(rest, 0, fold=fold):
        return entry
    line, end, after = rest.partition("\n")
    text = line.lstrip(BLANK)
    kept = without(text, kind, fold=fold).rstrip(BLANK)
    margin = line[: len(line) - len(text)]
    return f"{head}{feed}{margin}{kept}{end}{after}" if kept else f"{head}{end}{after}"


def drop(entry: str, kind: Kind, *, fold: bool) -> str:
    """Return *entry* without any `KIND: <…>`, wherever it stands, and without a line that becomes empty by it."""
    pattern = re.compile(rf"{_WORD}{kind}: +<[^>\n]{{1,1000}}>[ \t]*", re.IGNORECASE if fold else 0)
    for start in [found.start() for found in pattern.finditer(entry)][::-1]:
        found = pattern.match(entry, start)  # anew: what was removed behind it may have taken its last blank
        if not found:
            continue
        before, after = entry[: found.start()], entry[found.end() :]
        line = before[before.rfind("\n") + 1 :]
        if line.strip() and line.endswith(" "):
            before = before[:-1]
        elif not line.strip(BLANK) and not after.partition("\n")[0].strip(BLANK):
            before, after = before[: len(before) - len(line)], after.partition("\n")[2]
        entry = before + after
    return entry
