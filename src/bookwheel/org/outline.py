"""An Org file as an outline: its headlines as slices of its text, found in one pass; all else when it is asked for.

Nothing is lost and nothing evaluated: `Outline.source()` is the text that was parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bookwheel.org.elements import Span, literal
from bookwheel.org.headline import Parts, read
from bookwheel.org.keywords import Loader, Preamble, collect, preamble
from bookwheel.org.planning import Kind, is_planning, stamp
from bookwheel.org.properties import SPECIAL, Drawer, Property, drawer_at, line_after, lines, local_values, merged
from bookwheel.org.settings import DEFAULTS, Settings, items, pairs
from bookwheel.org.text import Text, see
from bookwheel.org.timestamps import Timestamp, read_timestamp
from bookwheel.org.todo import Keywords

ARCHIVE = "ARCHIVE"

_FIRST = re.compile(r"\*+ ")
_NEXT = re.compile(r"\n\*+(?= )")  # to begin with a letter is three times as fast as with ^
_COMMENT_LINE = re.compile(r"[ \t]*#(?: .*)?(?:\n|\Z)")
_NOT_WHITE = re.compile(r"[^ \t\n\r]")
_BRACKETS = re.compile(r"\[[0-9]*(?:%|/[0-9]*)\]")
_LOGBOOK = re.compile(r"^[ \t]*:LOGBOOK:[ \t]*\n(?:.*\n)*?[ \t]*:END:[ \t]*$", re.MULTILINE | re.IGNORECASE)


def parse(source: str, settings: Settings = DEFAULTS, *, name: str = "", load: Loader | None = None) -> Outline:
    """Return the outline of *source*.

    *name* is the file's, for its category and for *load*, which gives the text of a `#+SETUPFILE`.
    """
    return Outline(see(source), settings, name, load)


def headline_starts(text: str) -> list[int]:
    """Return where the headlines of *text* begin."""
    found = [match.start() + 1 for match in _NEXT.finditer(text)]
    return [0, *found] if _FIRST.match(text) else found


class Outline:
    """A file: its lines (`text`, ended by line feeds whatever the file has), its headlines, what it says of itself."""

    def __init__(self, text: Text, settings: Settings, name: str = "", load: Loader | None = None) -> None:
        self.file = text
        self.text = text.lines
        self.name = name
        self.starts = headline_starts(self.text)
        self.preamble: Preamble = preamble(collect(self.text, self.starts, load, name), settings)

    @property
    def settings(self) -> Settings:
        """The settings in force, the file's own included."""
        return self.preamble.settings

    @property
    def todo(self) -> Keywords:
        """The TODO keywords in force."""
        return self.preamble.todo

    @cached_property
    def headlines(self) -> Sequence[Headline]:
        """All headlines in order."""
        return [Headline(self, number, start) for number, start in enumerate(self.starts)]

    @cached_property
    def levels(self) -> list[int]:
        """The level of every headline."""
        text = self.text
        return [text.index(" ", start) - start for start in self.starts]

    @cached_property
    def parents(self) -> list[int]:
        """The number of every headline's parent; -1 where there is none."""
        found, above = list[int](), list[int]()
        for number, level in enumerate(self.levels):
            while above and self.levels[above[-1]] >= level:
                above.pop()
            found.append(above[-1] if above else -1)
            above.append(number)
        return found

    @cached_property
    def line_numbers(self) -> list[int]:
        """The line every headline is on, from 1."""
        found, number, counted = list[int](), 1, 0
        for start in self.starts:
            number, counted = number + self.text.count("\n", counted, start), start
            found.append(number)
        return found

    @cached_property
    def top(self) -> list[Headline]:
        """The headlines without a parent."""
        return [headline for headline, parent in zip(self.headlines, self.parents, strict=True) if parent < 0]

    @cached_property
    def by_path(self) -> dict[tuple[str, ...], list[Headline]]:
        """The headlines of every path of titles, in order."""
        found: dict[tuple[str, ...], list[Headline]] = {}
        for headline in self.headlines:
            found.setdefault(headline.path, []).append(headline)
        return found

    @cached_property
    def places(self) -> list[int]:
        """How many headlines of the same path come before each headline."""
        found = [0] * len(self.headlines)
        for same in self.by_path.values():
            for place, headline in enumerate(same):
                found[headline.number] = place
        return found

    def source(self) -> str:
        """Return the text that was parsed, to the letter."""
        return self.file.written(self.text)

    def written(self, start: int, end: int) -> str:
        """Return the lines from *start* to *end* as the file has them."""
        lines = self.text[start:end]
        return lines if self.file.ending == "\n" else lines.replace("\n", self.file.ending)

    def at_line(self, number: int) -> Headline | None:
        """Return the headline the line *number* belongs to."""
        place = bisect_right(self.line_numbers, number)
        return self.headlines[place - 1] if place else None

    def at(self, position: int) -> Headline | None:
        """Return the headline the *position* of `text` belongs to."""
        place = bisect_right(self.starts, position)
        return self.headlines[place - 1] if place else None

    def by_id(self, identifier: str) -> Headline | None:
        """Return the first headline whose ID is *identifier*."""
        line = re.compile(rf":ID\+?:[ \t]+{re.escape(identifier)}[ \t]*$", re.MULTILINE | re.IGNORECASE)
        found = (self.at(match.start()) for match in line.finditer(self.text))
        return next((headline for headline in found if headline and headline.id == identifier), None)

    @cached_property
    def file_properties(self) -> list[Property]:
        """The properties of the drawer at the file's start, below nothing but blank lines and comments."""
        first = _NOT_WHITE.search(self.text)
        start = self.text.rfind("\n", 0, first.start()) + 1 if first else 0
        while comment := _COMMENT_LINE.match(self.text, start):
            if not comment[0]:
                break
            start = comment.end()
        drawer = drawer_at(self.text, start)
        return list(lines(self.text, drawer)) if drawer else []

    @cached_property
    def category(self) -> str:
        """The category of what has none of its own: the file's `#+CATEGORY`, or its name."""
        if self.preamble.category is not None:
            return self.preamble.category
        base = re.split(r"[/\\]", self.name)[-1]
        stem = base.rpartition(".")[0]
        return stem or base or "???"

    def general(self, name: str) -> str | None:
        """Return the property that holds for the whole file, from `#+PROPERTY` lines or settings."""
        for known in (self.preamble.properties, pairs(self.settings.global_properties)):
            for key, value in known.items():
                if key.upper() == name.upper():
                    return str(value)
        return None

    def inherits(self, tags: Sequence[str]) -> list[str]:
        """Return those of *tags* that are handed down."""
        rule, kept_out = self.settings.use_tag_inheritance, set(items(self.settings.tags_exclude_from_inheritance))
        if isinstance(rule, tuple):
            return [tag for tag in tags if tag in rule]
        if isinstance(rule, str):
            tags = [tag for tag in tags if re.search(rule, tag)]
        return [tag for tag in tags if tag not in kept_out] if rule else []


class Headline:
    """A headline and what is below it, down to the next headline of its level or above.

    Positions are in the outline's `text`: the line is `start` to `line_end`, the entry (without children) ends at
    `entry_end`, the whole tree at `end`.
    """

    __slots__ = ("_commented", "_parts", "_path", "_tags", "number", "outline", "start")

    def __init__(self, outline: Outline, number: int, start: int) -> None:
        self.outline = outline
        self.number = number
        self.start = start
        self._parts: Parts | None = None
        self._path: tuple[str, ...] | None = None  # these three are known once they were asked for
        self._tags: tuple[str, ...] | None = None
        self._commented: bool | None = None

    def __repr__(self) -> str:
        return f"Headline({self.line!r})"

    @property
    def line_end(self) -> int:
        """Where its line ends."""
        end = self.outline.text.find("\n", self.start)
        return len(self.outline.text) if end < 0 else end

    @property
    def line(self) -> str:
        """Its line."""
        return self.outline.text[self.start : self.line_end]

    @property
    def line_number(self) -> int:
        """The number of its line, from 1."""
        return self.outline.line_numbers[self.number]

    @property
    def entry_end(self) -> int:
        """Where the next headline begins, or the file ends."""
        starts = self.outline.starts
        return starts[self.number + 1] if self.number + 1 < len(starts) else len(self.outline.text)

    @property
    def end(self) -> int:
        """Where its tree ends."""
        last = self.last
        return last.entry_end

    @property
    def last(self) -> Headline:
        """The last headline of its tree, which may be itself."""
        levels, number = self.outline.levels, self.number
        while number + 1 < len(levels) and levels[number + 1] > levels[self.number]:
            number += 1
        return self.outline.headlines[number]

    @property
    def parts(self) -> Parts:
        """What its line says."""
        if self._parts is None:
            self._parts = read(self.outline.text, self.start, self.outline.todo)
        return self._parts

    @property
    def level(self) -> int:
        """The number of stars."""
        return self.outline.levels[self.number]

    @property
    def keyword(self) -> str | None:
        """The TODO keyword."""
        return self.parts.keyword

    @property
    def done(self) -> bool:
        """Whether the keyword ends a task."""
        return self.parts.keyword in self.outline.todo.done

    @property
    def priority(self) -> str | None:
        """The letter or digit of the priority."""
        return self.parts.priority

    @property
    def title(self) -> str:
        """The title, without keyword, priority, COMMENT and tags."""
        return self.parts.title

    @property
    def cookies(self) -> list[str]:
        """The statistics cookies of the title, `[1/2]` or `[50%]`."""
        return _BRACKETS.findall(self.title)

    @property
    def own_tags(self) -> tuple[str, ...]:
        """The tags on its line."""
        return self.parts.tags

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags: of the file, inherited, its own; each once, where it is nearest."""
        if self._tags is None:
            self._tags = self._all_tags()
        return self._tags

    def _all_tags(self) -> tuple[str, ...]:
        found = list(self.outline.preamble.filetags)
        for headline in self.ancestors:
            found += headline.own_tags
        found = [*self.outline.inherits(found), *self.own_tags]
        return tuple(reversed(dict.fromkeys(reversed(found))))

    @property
    def parent(self) -> Headline | None:
        """The headline above it in the tree."""
        number = self.outline.parents[self.number]
        return self.outline.headlines[number] if number >= 0 else None

    @property
    def ancestors(self) -> list[Headline]:
        """The headlines above it in the tree, the topmost first."""
        found: list[Headline] = []
        parent = self.parent
        while parent:
            found.append(parent)
            parent = parent.parent
        return found[::-1]

    @property
    def children(self) -> list[Headline]:
        """The headlines right below it in the tree."""
        return [below for below in self.tree if self.outline.parents[below.number] == self.number]

    @property
    def tree(self) -> Iterator[Headline]:
        """All headlines below it."""
        levels, number = self.outline.levels, self.number + 1
        while number < len(levels) and levels[number] > levels[self.number]:
            yield self.outline.headlines[number]
            number += 1

    @property
    def path(self) -> tuple[str, ...]:
        """The titles from the topmost headline down to its own."""
        if self._path is None:
            parent = self.parent
            above = parent._path if parent else ()  # noqa: SLF001 - known where headlines are met in their order
            self._path = (*(one.title for one in self.ancestors), self.title) if above is None else (*above, self.title)
        return self._path

    @property
    def commented(self) -> bool:
        """Whether it, or a headline above it, is commented out."""
        if self._commented is None:
            parent = self.parent
            above = parent._commented if parent else False  # noqa: SLF001 - the same
            if above is None:
                above = any(one.parts.commented for one in self.ancestors)
            self._commented = self.parts.commented or above
        return self._commented

    @property
    def archived(self) -> bool:
        """Whether it is in an archived tree."""
        return ARCHIVE in self.tags

    @property
    def planning(self) -> str:
        """The planning line, empty if there is none."""
        text, start = self.outline.text, line_after(self.outline.text, self.start)
        return text[start : line_after(text, start)].rstrip("\n") if is_planning(text, start) else ""

    def planned(self, kind: Kind) -> str | None:
        """Return the timestamp of *kind* as written."""
        line = self.planning
        return stamp(line, kind) if line else None

    @property
    def scheduled(self) -> str | None:
        """The SCHEDULED timestamp as written."""
        return self.planned("SCHEDULED")

    @property
    def deadline(self) -> str | None:
        """The DEADLINE timestamp as written."""
        return self.planned("DEADLINE")

    @property
    def closed(self) -> str | None:
        """The CLOSED timestamp as written."""
        return self.planned("CLOSED")

    def timestamp(self, kind: Kind) -> Timestamp | None:
        """Return the timestamp of *kind* as a value; None if there is none or it is no date."""
        written = self.planned(kind)
        return read_timestamp(written) if written else None

    @property
    def after_planning(self) -> int:
        """Where the lines below headline and planning line begin."""
        text, start = self.outline.text, line_after(self.outline.text, self.start)
        return line_after(text, start) if is_planning(text, start) else start

    @property
    def drawer(self) -> Drawer | None:
        """The property drawer."""
        return drawer_at(self.outline.text, self.after_planning)

    def property_lines(self, *, fold: bool = True) -> list[Property]:
        """Return the lines of the property drawer; without *fold* it must be in capitals, as some commands want it."""
        text, start = self.outline.text, line_after(self.outline.text, self.start)
        start = line_after(text, start) if is_planning(text, start, fold=fold) else start
        drawer = drawer_at(text, start, fold=fold)
        return list(lines(text, drawer)) if drawer else []

    @property
    def properties(self) -> dict[str, str]:
        """The properties of its drawer, by name in upper case."""
        return merged(self.property_lines())

    @property
    def id(self) -> str | None:
        """Its ID."""
        return self.value("ID")

    @property
    def category(self) -> str:
        """Its category, inherited or the file's."""
        return self.value("CATEGORY", inherit=True) or "???"

    def value(self, name: str, *, inherit: bool = False, literal_nil: bool = False, fold: bool = True) -> str | None:
        """Return the value of a property; with *inherit* also from above, the file and the settings.

        The value `nil` means none, unless *literal_nil*.
        """
        wanted = name.upper()
        if wanted in SPECIAL:
            return self.special(wanted)
        own = self.property_lines(fold=fold)
        values = self.inherited_values(wanted, fold=fold) if inherit else own_values(own, wanted)
        value = " ".join(values) if values else None
        return None if value == "nil" and not literal_nil else value

    def special(self, name: str) -> str | None:
        """Return what is no property of the drawer but asked for like one."""
        if name in ("SCHEDULED", "DEADLINE", "CLOSED"):
            return self.planned(name)  # type: ignore[arg-type]
        known = {"TODO": self.keyword, "ITEM": self.parts.text, "PRIORITY": self.priority}
        if name in ("TAGS", "ALLTAGS"):
            tags = self.own_tags if name == "TAGS" else self.tags
            return f":{':'.join(tags)}:" if tags else None
        return known.get(name)

    def inherited_values(self, name: str, *, fold: bool = True) -> list[str]:
        """Return the values of a property that holds here: the nearest one and what is added to it below."""
        found: list[str] = []
        for headline in (self, *reversed(self.ancestors)):
            base, added = local_values(headline.property_lines(fold=fold)).get(name, (None, []))
            found = [*([base] if base is not None else []), *added, *found]
            if base is not None:
                return found
        base, added = local_values(self.outline.file_properties).get(name, (None, []))
        if base is None:
            base = self.outline.category if name == "CATEGORY" else self.outline.general(name)
        return [*([base] if base is not None else []), *added, *found]

    def inherited(self, name: str) -> tuple[str | None, Headline | None]:
        """Return an inherited property and the headline that sets it, None if it is the file."""
        for headline in (self, *reversed(self.ancestors)):
            if local_values(headline.property_lines()).get(name.upper(), (None,))[0] is not None:
                return self.value(name, inherit=True), headline
        return self.value(name, inherit=True), None

    @property
    def body_start(self) -> int:
        """Where the text below headline, planning line and property drawer begins."""
        drawer = self.drawer
        return line_after(self.outline.text, drawer.end) if drawer else self.after_planning

    @property
    def body(self) -> str:
        """The text of the entry itself, without planning line, drawers on top and children."""
        return self.outline.text[min(self.body_start, self.entry_end) : self.entry_end]

    @property
    def logbook(self) -> str:
        """The LOGBOOK drawer as written, empty if there is none."""
        found = _LOGBOOK.search(self.body)
        return found[0] if found else ""

    @property
    def spans(self) -> list[Span]:
        """The parts of its entry that are code, examples and the like."""
        return list(literal(self.outline.text, self.start, self.entry_end))

    @property
    def source(self) -> str:
        """The text of its tree as the file has it."""
        return self.outline.written(self.start, self.end)


def own_values(known: list[Property], name: str) -> list[str]:
    """Return the values of a property in a drawer."""
    base, added = local_values(known).get(name, (None, []))
    return [*([base] if base not in (None, "nil") else []), *added]


@dataclass(frozen=True, slots=True)
class Todo:
    """A headline's state and what it means."""

    state: str
    done: bool
    kind: str  # "sequence" or "type"


def todo_of(headline: Headline) -> Todo | None:
    """Return the state of *headline*."""
    keyword = headline.keyword
    if keyword is None:
        return None
    sequence = headline.outline.todo.sequence(keyword)
    return Todo(keyword, headline.done, sequence.kind if sequence else "sequence")
