"""Smaller edits of a headline: its title, tags, priority, properties, and a note."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bookwheel.errors import Invalid
from bookwheel.org.draft import Draft, Edited
from bookwheel.org.lines import set_priority as prioritise_line
from bookwheel.org.lines import set_tags as tag_line
from bookwheel.org.lines import set_title as title_line
from bookwheel.org.notes import Note
from bookwheel.org.outline import Headline
from bookwheel.org.properties import SPECIAL
from bookwheel.org.properties import delete as delete_value
from bookwheel.org.properties import put as put_value
from bookwheel.org.schedules import remove_deadline, schedule, set_deadline, unschedule
from bookwheel.org.states import set_todo


def rename(headline: Headline, title: str, now: datetime) -> Edited:
    """Give the headline another title."""
    draft = Draft(headline, now)
    line = title_line(draft.line, title, draft.outline.todo, draft.settings)
    return with_line(draft, line)


def set_tags(headline: Headline, tags: Sequence[str], now: datetime) -> Edited:
    """Give the headline these tags and no others."""
    draft = Draft(headline, now)
    return with_line(draft, tag_line(draft.line, tags, draft.outline.todo, draft.settings))


def set_priority(headline: Headline, priority: str, now: datetime) -> Edited:
    """Give the headline a priority, or take it away if it is empty."""
    draft = Draft(headline, now)
    draft.line = prioritise_line(draft.line, priority, draft.outline.todo, draft.settings)
    return draft.edited()


def with_line(draft: Draft, line: str) -> Edited:
    """Return the file with the headline's line replaced, if it differs."""
    if line != draft.line:
        draft.line = line
    return draft.edited()


def put_property(headline: Headline, name: str, value: str, now: datetime) -> Edited:
    """Set a property. TODO, PRIORITY, SCHEDULED and DEADLINE set what they name.

    Raises Invalid for the other names that Org keeps for itself.
    """
    if name == "TODO":
        return set_todo(headline, value, now)
    if name == "PRIORITY":
        return set_priority(headline, value, now)
    if name == "SCHEDULED":
        return schedule(headline, value, now) if value else unschedule(headline, now)
    if name == "DEADLINE":
        return set_deadline(headline, value, now) if value else remove_deadline(headline, now)
    if name in SPECIAL:
        raise Invalid(f"{name} is not a property that can be set", name=name)
    draft = Draft(headline, now)
    draft.change(put_value(draft.entry, name, value, indent=draft.indent))
    draft.touched = True
    return draft.edited()


def delete_property(headline: Headline, name: str, now: datetime) -> Edited:
    """Remove a property and what adds to it."""
    draft = Draft(headline, now)
    draft.change(delete_value(draft.entry, name))
    return draft.edited()


def add_id(headline: Headline, identifier: str, now: datetime) -> Edited:
    """Give the headline an ID, unless it has one."""
    if headline.id:
        return Draft(headline, now).edited()
    return put_property(headline, "ID", identifier, now)


def add_note(headline: Headline, text: str, now: datetime) -> Edited:
    """Write a note into the entry, with the time."""
    draft = Draft(headline, now, note=Note("note", asks=True))
    draft.record(text)
    return draft.edited()
