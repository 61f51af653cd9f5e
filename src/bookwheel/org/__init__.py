"""Org as a language, without Emacs: read a file, choose headlines, change them, byte for byte as Org 9.7 does.

Everything is a function over text; what reads and writes files is elsewhere. Nothing in a file is ever evaluated.

Reading
    parse(source, settings, name=…, load=…) → Outline
        `source` is the whole text as decoded, mark and line ends included; `name` the file's name, for its category
        and for `load(name, base) → (location, text) | None`, which is asked for local `#+SETUPFILE`s.
    Outline     headlines · top · at_line(n) · at(position) · by_id(id) · by_path · todo (Keywords) · settings
                preamble (filetags, properties, category, archive, tag_alist) · source() · written(start, end)
                `text` has line feeds whatever the file has; all positions are in it, `written` gives the file's own.
    Headline    level · keyword · done · priority · title · own_tags · tags (inherited too) · path · parent · children
                scheduled, deadline, closed (as written) · timestamp(kind) → Timestamp with date, time, repeater …
                properties · value(name, inherit=…) · id · category · archived · commented · body · logbook · cookies
                line_number · start · line_end · entry_end · end · source (its tree, as the file has it)
    todo_of(headline) → Todo(state, done, kind) | None; kind is "sequence" or "type"
    Keywords    sequences (each: kind, raw, shown with its bar, names, done, keys) · names · done · open · logging

Settings
    Settings() has Org's defaults; assign(settings, 'org-log-done=time') sets one; NAMES lists them.
    parse_option('TODO NEXT | DONE; type: BUG | FIXED') is a value for `todo_keywords`; keywords_of(value) → Keywords.
    show(value) prints a setting or `preamble.tag_alist` as Lisp does.

Choosing
    select(outline, Criteria(text, exact_case, todo, done, states, tags, without_tags, priorities, properties,
    planned={"SCHEDULED": Span(first, last)}, archived, level)); read_span(first, last) reads ISO dates.
    address(headline) → "Plan/Q4%2FQ1?n=2"; find(outline, address) → Headline, or NotFound;
    find_path(outline, titles) → Headline | None.

Writing: each takes a headline and the time, and returns Edited(source, changed, previous, state, headline, number).
    set_todo(headline, state, now, expected=…, note=…)      StateMismatch if the state is not the expected one
    schedule, set_deadline(headline, date, now, note=…)     Invalid, with the form, if it is no date
    unschedule, remove_deadline(headline, now, note=…)
    rename, set_tags, set_priority, put_property, delete_property, add_id, add_note
    archive_target(headline, base) → Target(file, heading); archive(headline, now, path, target, existing) → Archived
    `source` is the new text of the whole file, to be encoded and written as it was read. If `changed` is false there
    is nothing to write. `state` is what really resulted: a task that repeats is open again.

Errors are those of `bookwheel.errors`: Invalid, NotFound, Conflict (StateMismatch with `expected` and `actual`).
"""

from bookwheel.org.address import address, find, find_path
from bookwheel.org.archive import Archived, Target, archive, archive_target
from bookwheel.org.changes import (
    add_id,
    add_note,
    delete_property,
    put_property,
    rename,
    set_priority,
    set_tags,
)
from bookwheel.org.draft import Edited
from bookwheel.org.lisp import show
from bookwheel.org.outline import Headline, Outline, Todo, parse, todo_of
from bookwheel.org.query import Criteria, Span, read_span, select
from bookwheel.org.schedules import remove_deadline, schedule, set_deadline, unschedule
from bookwheel.org.settings import NAMES, Settings, assign
from bookwheel.org.states import StateMismatch, set_todo
from bookwheel.org.timestamps import Timestamp, read_timestamp
from bookwheel.org.todo import Keywords, keywords_of, parse_option

__all__ = [
    "NAMES",
    "Archived",
    "Criteria",
    "Edited",
    "Headline",
    "Keywords",
    "Outline",
    "Settings",
    "Span",
    "StateMismatch",
    "Target",
    "Timestamp",
    "Todo",
    "add_id",
    "add_note",
    "address",
    "archive",
    "archive_target",
    "assign",
    "delete_property",
    "find",
    "find_path",
    "keywords_of",
    "parse",
    "parse_option",
    "put_property",
    "read_span",
    "read_timestamp",
    "remove_deadline",
    "rename",
    "schedule",
    "select",
    "set_deadline",
    "set_priority",
    "set_tags",
    "set_todo",
    "show",
    "todo_of",
    "unschedule",
]
