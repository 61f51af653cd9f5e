"""The writes whose results are compared with Org's own: every headline of every case, in turn with every setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import cycle
from pathlib import Path

from bookwheel.org import changes, schedules, states
from bookwheel.org.draft import Edited
from bookwheel.org.outline import Headline, parse
from bookwheel.org.settings import Settings, assign

CASES = Path(__file__).with_name("cases")
NOW = datetime(2026, 11, 15, 10, 0)
NOTE = "first line\n\nand a third"
ID = "00000000-0000-4000-8000-000000000001"
DATES = (
    "2026-12-24",
    "2026-12-24 10:00",
    "2026-12-24 9:15-11:00",
    "<2026-12-24 Thu .+1d/3d -2d>",
    "<2027-01-31 Sun +1m>",
)
SETTINGS: tuple[dict[str, str], ...] = (
    {},
    {"org-log-done": "time"},
    {"org-log-done": "time", "org-log-into-drawer": "t"},
    {},
    {"org-log-done": "note", "org-log-states-order-reversed": "nil"},
    {"org-log-repeat": "nil", "org-tags-column": "0"},
    {"org-log-repeat": "note", "org-tags-column": "50"},
    {"org-adapt-indentation": "t", "org-log-done": "time"},
    {"org-log-into-drawer": '"TRACK"', "org-log-reschedule": "note", "org-log-redeadline": "time"},
    {"org-auto-align-tags": "nil", "org-todo-repeat-to-state": "t"},
    {"org-closed-keep-when-no-todo": "t", "org-log-done": "time", "org-log-done-with-time": "nil"},
    {
        "org-hierarchical-todo-statistics": "nil",
        "org-log-state-notes-insert-after-drawers": "t",
        "org-log-done": "note",
    },
    {"org-provide-todo-statistics": "all-headlines"},
)


@dataclass(frozen=True)
class Operation:
    """One write to one headline, named by its line."""

    name: str
    file: str
    line: int
    verb: str
    value: str = ""
    settings: dict[str, str] = field(default_factory=dict)


def operations() -> Iterator[Operation]:
    """Yield every write that is compared."""
    settings = cycle(SETTINGS)
    for path in sorted(CASES.glob("*.org")):
        for headline in headlines(path):
            for verb, value in dict.fromkeys(writes(headline)):
                name = f"{path.stem}:{headline.line_number}:{verb}:{value}"
                yield Operation(name, path.name, headline.line_number, verb, value, next(settings))


def headlines(path: Path) -> list[Headline]:
    """Return the headlines of a case."""
    return list(parse(path.read_bytes().decode(), name=path.name).headlines)


def writes(headline: Headline) -> Iterator[tuple[str, str]]:
    """Yield the writes for one headline."""
    turn = headline.number
    todo = headline.outline.todo
    yield from (("todo", state) for state in dict.fromkeys(("", todo.done[0], todo.names[turn % len(todo.names)])))
    yield "schedule", DATES[turn % len(DATES)]
    yield "deadline", DATES[(turn + 2) % len(DATES)]
    yield from (("unschedule", ""), ("remove-deadline", ""))
    smaller = [("rename", "Another title"), ("tags", "new:two"), ("tags", ""), ("put", "Owner=eve"), ("put", "New=")]
    smaller += [("delete", "Owner"), ("id", ID), ("note", NOTE), ("priority", "C" if turn % 2 else "A")]
    yield smaller[turn % len(smaller)]
    yield smaller[(turn * 2 + 3) % len(smaller)]


def settings_of(operation: Operation) -> Settings:
    """Return the settings an operation runs with."""
    found = Settings()
    for name, value in operation.settings.items():
        found = assign(found, f"{name}={value}")
    return found


def perform(operation: Operation, source: str) -> Edited:
    """Return what an operation makes of *source*."""
    headline = parse(source, settings_of(operation), name=operation.file).at_line(operation.line)
    assert headline
    return VERBS[operation.verb](headline, operation.value)


VERBS: dict[str, Callable[[Headline, str], Edited]] = {
    "todo": lambda headline, value: states.set_todo(headline, value, NOW, note=NOTE),
    "schedule": lambda headline, value: schedules.schedule(headline, value, NOW, note=NOTE),
    "deadline": lambda headline, value: schedules.set_deadline(headline, value, NOW, note=NOTE),
    "unschedule": lambda headline, _: schedules.unschedule(headline, NOW, note=NOTE),
    "remove-deadline": lambda headline, _: schedules.remove_deadline(headline, NOW, note=NOTE),
    "rename": lambda headline, value: changes.rename(headline, value, NOW),
    "tags": lambda headline, value: changes.set_tags(headline, value.split(":") if value else [], NOW),
    "put": lambda headline, value: changes.put_property(headline, value.split("=")[0], value.split("=")[1], NOW),
    "delete": lambda headline, value: changes.delete_property(headline, value, NOW),
    "id": lambda headline, value: changes.add_id(headline, value, NOW),
    "note": lambda headline, value: changes.add_note(headline, value, NOW),
    "priority": lambda headline, value: changes.set_priority(headline, value, NOW),
}
