"""Notes that Org keeps of changes: what they say, and where in an entry they go.

A note is a list item right below the planning line and property drawer, or in the LOGBOOK drawer if the settings or
a LOG_INTO_DRAWER property say so; the newest is on top unless the settings reverse it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from bookwheel.org.elements import enclosing, literal
from bookwheel.org.planning import is_planning
from bookwheel.org.properties import Drawer, drawer_at, line_after
from bookwheel.org.settings import Settings
from bookwheel.org.text import BLANK, indentation
from bookwheel.org.timestamps import ANY, write

HEADINGS = {
    "done": "CLOSING NOTE %t",
    "state": "State %s from %S %t",
    "note": "Note taken on %t",
    "reschedule": "Rescheduled from %S on %t",
    "delschedule": "Not scheduled, was %S on %t",
    "redeadline": "New deadline from %S on %t",
    "deldeadline": "Removed deadline, was %S on %t",
    "refile": "Refiled on %t",
}

_STATE_NOTE = re.compile(r'[ \t]*- +State +(?:"\S+")? +from +(?:"\S+")? +\[\d{4}-\d\d-\d\d(?: .*?)?\]')
_COMMENT = re.compile(r"\A(?:# .*\n[ \t\n]*)+")
_DRAWER_LINE = re.compile(r"[ \t]*:([\w-]+):[ \t]*")
_END = re.compile(r"^[ \t]*:END:[ \t]*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Note:
    """A change to be recorded; `asks` says that people are asked for a text."""

    purpose: str
    state: str | None = None
    previous: str | None = None
    asks: bool = False

    def lines(self, now: datetime, text: str | None) -> list[str]:
        """Return what is written, *text* included if the note asks for one."""
        width = 12 if self.purpose == "state" else 0
        heading = (
            HEADINGS[self.purpose]
            .replace("%t", write(now, timed=True, active=False))
            .replace("%S", quoted(self.previous).ljust(width))
            .replace("%s", quoted(self.state).ljust(width))
        )
        rest = _COMMENT.sub("", (text or "").lstrip(" \t\n")).rstrip() if self.asks else ""
        return [f"{heading} \\\\", *rest.split("\n")] if rest else [heading]


def quoted(state: str | None) -> str:
    """Return a state or timestamp as a note quotes it."""
    if state is None:
        return ""
    return f'"[{state[1:-1]}]"' if state.startswith("<") and ANY.search(state) else f'"{state}"'


def add(entry: str, note: list[str], drawer: str | None, settings: Settings, indent: int) -> str:
    """Return *entry* with a *note* of these lines, in the *drawer* of that name if there is one.

    *indent* is that of text right below the headline.
    """
    indent, start = margin(entry, indent)
    if drawer:
        entry, place, indent = open_drawer(entry, start, drawer, settings, indent)
    else:
        start, indent = after_drawers(entry, start, indent, settings)
        place = first_text(entry, start)
        if not settings.log_states_order_reversed:
            place, indent = behind_notes(entry, start, place, indent)
    return insert_item(entry, place, note, indent)


def margin(entry: str, indent: int) -> tuple[int, int]:
    """Return the indentation of what follows planning line and property drawer, and where it begins."""
    start = line_after(entry, 0)
    if is_planning(entry, start):
        indent, start = line_indentation(entry, start), line_after(entry, start)
    drawer = drawer_at(entry, start)
    if drawer:
        return line_indentation(entry, drawer_margin(entry, drawer)), line_after(entry, drawer.end)
    return indent, start


def drawer_margin(entry: str, drawer: Drawer) -> int:
    """Return where the line begins that text below *drawer* is indented like: its first, or its last if empty."""
    return drawer.start if drawer.last > drawer.first else entry.rfind("\n", 0, drawer.end) + 1


def line_indentation(text: str, start: int) -> int:
    """Return the indentation of the line that begins at *start*."""
    return indentation(text[start:].partition("\n")[0])


def first_text(entry: str, start: int) -> int:
    """Return where the first line with text from *start* on begins; the last line if there is none."""
    place = start + len(entry[start:]) - len(entry[start:].lstrip(" \t\n"))
    return max(start, entry.rfind("\n", 0, place) + 1)


def after_drawers(entry: str, start: int, indent: int, settings: Settings) -> tuple[int, int]:
    """Return where clock lines and drawers from *start* on end, if notes go after them, and the indentation there."""
    wanted = settings.log_state_notes_insert_after_drawers
    while wanted and start < len(entry):
        line = entry[start:].partition("\n")[0]
        drawer = _DRAWER_LINE.fullmatch(line)
        if not line.strip(BLANK):
            start = line_after(entry, start)
        elif line.lstrip(BLANK).startswith("CLOCK:"):
            start, indent = line_after(entry, start), indentation(line)
        elif drawer and (wanted is True or drawer[1].upper() == "LOGBOOK") and (end := _END.search(entry, start)):
            start, indent = line_after(entry, end.end()), indentation(line)
        else:
            break
    return start, indent


def behind_notes(entry: str, start: int, place: int, indent: int) -> tuple[int, int]:
    """Return where the state notes that begin at *place* end, and their indentation; else *start*."""
    if _STATE_NOTE.match(entry, place):
        indent = line_indentation(entry, place)
    while _STATE_NOTE.match(entry, place):
        place = item_end(entry, place, indent)
    return max(start, line_after(entry, len(entry[:place].rstrip(" \t\n")))), indent


def item_end(entry: str, start: int, indent: int) -> int:
    """Return where the list item at *start*, indented by *indent*, ends."""
    place, blank = line_after(entry, start), 0
    while place < len(entry) and blank < 2:
        line = entry[place:].partition("\n")[0]
        if line.strip(BLANK) and indentation(line) <= indent:
            break
        blank = 0 if line.strip(BLANK) else blank + 1
        place = line_after(entry, place)
    return place


def open_drawer(entry: str, start: int, name: str, settings: Settings, indent: int) -> tuple[str, int, int]:
    """Return *entry* with the drawer *name*, where in it a note goes, and its indentation."""
    spans = list(literal(entry, 0, len(entry)))
    for found in re.compile(rf"^[ \t]*:{re.escape(name)}:[ \t]*$", re.MULTILINE | re.IGNORECASE).finditer(entry, start):
        end = _END.search(entry, found.end())
        if end and not enclosing(spans, found.start()):
            place = line_after(entry, found.end()) if settings.log_states_order_reversed else end.start()
            return entry, place, line_indentation(entry, found.start())
    space = " " * indent
    before = entry[:start] if entry[:start].endswith("\n") else f"{entry[:start]}\n"
    opened = f"{before}{space}:{name}:\n"
    return f"{opened}{space}:END:\n{entry[start:]}", len(opened), indent


def insert_item(entry: str, place: int, note: list[str], indent: int) -> str:
    """Return *entry* with a list item of the lines of *note* at *place*, on a line of its own."""
    space = " " * indent
    item = "\n".join([f"{space}- {note[0]}", *(f"{space}  {line}" if line else "" for line in note[1:])])
    before, (line, feed, after) = entry[:place], entry[place:].partition("\n")
    if before and not before.endswith("\n"):
        before += "\n"
    if not line.strip(BLANK):
        return before + item + feed + after
    return f"{before}{item}\n{entry[place:]}"
