"""`#+KEY: value` lines: what a file says about itself, also through the local files its `#+SETUPFILE` lines name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bookwheel.org.elements import Span, enclosing, literal
from bookwheel.org.lisp import Pair, Symbol, Value
from bookwheel.org.settings import Settings, items, pairs, start
from bookwheel.org.text import SPACES, see, words
from bookwheel.org.todo import Keywords, from_lines, keywords_of

Loader = Callable[[str, str], tuple[str, str] | None]
"""Given the name a `#+SETUPFILE` line holds and the file it stands in: where the file is, and its text; or nothing.

What may be read is the loader's to decide. It is never asked for a URL.
"""

MOST_FILES = 64  # setup files that one file may lead to, so that a few files naming each other twice come to an end

_NAMES = "ARCHIVE|CATEGORY|FILETAGS|PRIORITIES|PROPERTY|SEQ_TODO|SETUPFILE|STARTUP|TAGS|TODO|TYP_TODO"
_LINE = re.compile(rf"#\+(?:{_NAMES}):", re.IGNORECASE)
_KEY = re.compile(rf"#\+([^{SPACES}]*):[ \t]*(.*)")
_HEADLINE = re.compile(r"^\*+ ", re.MULTILINE)
_PROPERTY = re.compile(rf"([^{SPACES}]+)[ \t]+(.*)")
_TAG = re.compile(r"(\{.+?\}|[\w@#%]+)(?:\((.)\))?")
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_GROUPS = {"{": ":startgroup", "}": ":endgroup", "[": ":startgrouptag", "]": ":endgrouptag", ":": ":grouptags"}


@dataclass(frozen=True, slots=True)
class Preamble:
    """What a file's keyword lines amount to."""

    settings: Settings
    todo: Keywords
    filetags: tuple[str, ...]
    properties: dict[str, str]  # by name as written
    category: str | None
    archive: str
    tag_alist: Value


def preamble(lines: Sequence[tuple[str, str]], settings: Settings) -> Preamble:
    """Return what keyword *lines*, each a key and its value, make of *settings*."""
    values: dict[str, list[str]] = {}
    for key, value in lines:
        values.setdefault(key, []).append(value)
    settings = start(settings, " ".join(values.get("STARTUP", [])))
    settings = with_priorities(settings, values.get("PRIORITIES", [""])[0])
    named = [(word, value) for line in values.get("PROPERTY", []) for word, value in _PROPERTY.findall(line)[:1]]
    return Preamble(
        settings,
        from_lines(lines, keywords_of(settings.todo_keywords)),
        tuple(tag for line in values.get("FILETAGS", []) for word in words(line) for tag in split_tags(word)),
        merged(named),
        values["CATEGORY"][-1] if "CATEGORY" in values else None,
        values.get("ARCHIVE", [str(settings.archive_location)])[0],
        tag_alist(values.get("TAGS"), settings),
    )


def with_priorities(settings: Settings, line: str) -> Settings:
    """Return *settings* with the highest, lowest and default priority a `#+PRIORITIES` line names."""
    found = [int(word) if word.isdigit() and len(word) > 1 else ord(word[0]) for word in words(line)[:3]]
    if len(found) < 3:
        return settings
    return replace(settings, priority_highest=found[0], priority_lowest=found[1], priority_default=found[2])


def split_tags(word: str) -> list[str]:
    """Return the tags of `:one:two:`, or of a word without colons."""
    if ":" not in word:
        return [word]
    return word.removeprefix(":").removesuffix(":").split(":") if word != ":" else []


def merged(named: list[tuple[str, str]]) -> dict[str, str]:
    """Return properties by name; a later one replaces an earlier, and `NAME+` adds to it. Case does not matter."""
    found: dict[str, str] = {}
    spelled: dict[str, str] = {}
    for word, value in named:
        name = spelled.setdefault(word.removesuffix("+").upper(), word.removesuffix("+"))
        found[name] = f"{found[name]} {value}" if word.endswith("+") and name in found else value
    return found


def tag_alist(lines: list[str] | None, settings: Settings) -> Value:
    """Return the tags to choose from, as an association list: those that persist, then the file's or the general."""
    alist = items(settings.tag_alist) if lines is None else tuple(read_tags(lines))
    kept = items(settings.tag_persistent_alist)
    known = pairs(kept)
    found = (*kept, *(item for item in alist if not (isinstance(item, Pair) and item.first in known)))
    return found or None


def read_tags(lines: list[str]) -> Iterator[Value]:
    """Yield the items that `#+TAGS` *lines* stand for."""
    seen: set[str] = set()
    group = False
    for number, line in enumerate(lines):
        if number:
            yield (Symbol(":newline"),)
        row = words(line)
        for place, word in enumerate(row):
            if word in _GROUPS:
                group = row[place + 2 : place + 3] == [":"] if word in ("{", "[") else group and word == ":"
                yield (Symbol(_GROUPS[word]),)
            elif (match := _TAG.fullmatch(word)) and (group or match[1] not in seen):
                seen.add(match[1])
                yield Pair(match[1], ord(match[2])) if match[2] else (match[1],)


def collect(text: str, headlines: Sequence[int], load: Loader | None, name: str) -> list[tuple[str, str]]:
    """Return the keyword lines of *text* in order, each as key and value, those of setup files in place.

    *headlines* are the positions where headlines begin; *name* is the file's own, for *load*.
    """
    return list(_Collector(load).lines(text, headlines, name, (name,)))


class _Collector:
    """Follows setup files, not in circles and not without end."""

    def __init__(self, load: Loader | None) -> None:
        self.load = load
        self.left = MOST_FILES

    def lines(
        self, text: str, headlines: Sequence[int], name: str, chain: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        """Yield the lines of one file, and of those it names."""
        for key, value in own_lines(text, headlines):
            if key != "SETUPFILE":
                yield key, value
            elif value and self.load and self.left and not _URL.match(wanted := unquoted(value)):
                self.left -= 1
                loaded = self.load(wanted, name)
                if loaded and loaded[0] not in chain:
                    inner = see(loaded[1]).lines
                    starts = [found.start() for found in _HEADLINE.finditer(inner)]
                    yield from self.lines(inner, starts, loaded[0], (*chain, loaded[0]))


def unquoted(value: str) -> str:
    """Return *value* without quotation marks around it."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def own_lines(text: str, headlines: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield the keyword lines that stand in *text* itself, outside blocks of code and the like."""
    section, spans = (-1, -1), list[Span]()
    for found in _LINE.finditer(text):
        line = text.rfind("\n", 0, found.start()) + 1
        if text[line : found.start()].strip(" \t"):
            continue
        if not section[0] <= line < section[1]:
            place = bisect_right(headlines, line)
            section = (headlines[place - 1] if place else 0, headlines[place] if place < len(headlines) else len(text))
            spans = list(literal(text, *section))
        match = _KEY.match(text, found.start())
        if match and not enclosing(spans, line):
            yield match[1].upper(), match[2].strip(" \t\r")
