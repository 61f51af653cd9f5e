"""A file in the middle of an edit: one entry and the lines of the headlines above it, changed step by step.

The result is one splice: all other text is the file's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from bookwheel.org.headline import parts
from bookwheel.org.lines import align, star_count
from bookwheel.org.notes import Note
from bookwheel.org.notes import add as write_note
from bookwheel.org.outline import Headline, Outline
from bookwheel.org.settings import Settings
from bookwheel.org.statistics import count as count_cookies
from bookwheel.org.statistics import update as update_cookies


@dataclass(frozen=True, slots=True)
class Edited:
    """A file after an edit."""

    source: str  # the whole new text
    changed: bool
    previous: str  # the state before, empty for none
    state: str  # the state now: that of a task that repeats is open again
    headline: str  # the headline's new line
    number: int  # which headline of the file it is


@dataclass(slots=True)
class Draft:
    """An entry that is being edited; `entry` is its text from the headline down to the next headline."""

    headline: Headline
    now: datetime
    entry: str = ""
    note: Note | None = None
    touched: bool = False
    above: dict[int, str] = field(default_factory=dict)  # changed lines of headlines above, by number

    def __post_init__(self) -> None:
        self.entry = self.outline.text[self.headline.start : self.headline.entry_end]

    @property
    def outline(self) -> Outline:
        """The outline the entry is part of."""
        return self.headline.outline

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.outline.settings

    @property
    def line(self) -> str:
        """The headline's line as it is now."""
        return self.entry.partition("\n")[0]

    @line.setter
    def line(self, line: str) -> None:
        self.entry = line + self.entry[len(self.line) :]
        self.touched = True

    @property
    def state(self) -> str | None:
        """The keyword as it is now."""
        return parts(self.line, self.outline.todo).keyword

    @property
    def indent(self) -> int:
        """The indentation of text right below the headline."""
        return star_count(self.line) + 1 if self.settings.adapt_indentation else 0

    def change(self, entry: str) -> None:
        """Replace the entry."""
        self.touched = self.touched or entry != self.entry
        self.entry = entry

    def align(self) -> None:
        """Put the tags where they belong."""
        self.line = align(self.line, self.settings)

    def count(self) -> None:
        """Bring the statistics cookies above the headline up to date."""
        if not self.settings.provide_todo_statistics:
            return
        start = self.headline.parent or self.headline
        rule, source = start.inherited("COOKIE_DATA")
        recursive = not self.settings.hierarchical_todo_statistics or "recursive" in (rule or "").split()
        parent = self.headline.parent
        while parent and "checkbox" not in (parent.value("COOKIE_DATA") or "").lower().split():
            self.recount(parent, recursive=recursive)
            if not recursive or (source and parent.number <= source.number):
                break
            parent = parent.parent

    def recount(self, parent: Headline, *, recursive: bool) -> None:
        """Bring the cookies of one headline above up to date."""
        line = self.above.get(parent.number, parent.line)
        if "[" not in line:
            return
        states = [self.state_of(one) if recursive or one.level == self.headline.level else None for one in parent.tree]
        done, everything = count_cookies(states, self.outline.todo, self.settings)
        self.above[parent.number] = update_cookies(line, done, everything, self.settings)

    def state_of(self, headline: Headline) -> str | None:
        """Return the keyword of any headline as it is now."""
        return self.state if headline.number == self.headline.number else headline.keyword

    def record(self, text: str | None) -> None:
        """Write the note that is due."""
        if self.note:
            lines = self.note.lines(self.now, text)
            self.change(write_note(self.entry, lines, self.log_drawer(), self.settings, self.indent))

    def log_drawer(self) -> str | None:
        """Return the name of the drawer that notes go into, None if they go into none."""
        own = self.headline.value("LOG_INTO_DRAWER", inherit=True, literal_nil=True)
        if own is not None:
            return {"nil": None, "t": "LOGBOOK"}.get(own, own)
        general = self.settings.log_into_drawer
        return general if isinstance(general, str) else "LOGBOOK" if general else None

    def finish(self) -> str:
        """Return the whole file as it is to be written; a file that was touched ends with a line end."""
        if not self.touched:
            return self.outline.source()
        text, pieces, start = self.outline.text, list[str](), 0
        for number in sorted(self.above):
            above = self.outline.headlines[number]
            pieces += [text[start : above.start], self.above[number]]
            start = above.line_end
        entry = self.entry if self.entry.endswith("\n") else f"{self.entry}\n"
        pieces += [text[start : self.headline.start], entry, text[self.headline.entry_end :]]
        whole = "".join(pieces)
        return self.outline.file.written(whole if whole.endswith("\n") else f"{whole}\n")

    def edited(self) -> Edited:
        """Return what became of the file."""
        before, after = self.headline.keyword or "", self.state or ""
        return Edited(self.finish(), self.touched, before, after, self.line, self.headline.number)


def inherits_property(settings: Settings, name: str) -> bool:
    """Say whether the settings hand a property down."""
    rule = settings.use_property_inheritance
    if isinstance(rule, tuple):
        return name.upper() in (str(item).upper() for item in rule)
    return bool(re.search(rule, name)) if isinstance(rule, str) else bool(rule)
