"""Set the TODO state of a headline, with all that Org keeps up with it.

CLOSED, notes, the statistics above, the tags' column, and for a task that repeats its dates and the state it goes
back to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from bookwheel.errors import Conflict, Invalid
from bookwheel.org.draft import Draft, Edited, inherits_property
from bookwheel.org.headline import COMMENT, parts
from bookwheel.org.lines import set_keyword, star_count, tidy, toggle_comment
from bookwheel.org.lisp import Value
from bookwheel.org.notes import Note
from bookwheel.org.outline import Headline
from bookwheel.org.planning import clear as clear_planning
from bookwheel.org.planning import drop as drop_stamp
from bookwheel.org.planning import line_of as planning_line
from bookwheel.org.planning import set_stamp
from bookwheel.org.planning import stamp as stamp_in
from bookwheel.org.properties import put as put_value
from bookwheel.org.repeat import repeats, shifted
from bookwheel.org.settings import NOTE, STARTUP, STATE
from bookwheel.org.timestamps import REPEATER, write
from bookwheel.org.todo import Keywords, marks

_CLOCK = re.compile(r"^[ \t]*CLOCK:", re.MULTILINE)


class StateMismatch(Conflict):
    """The headline is not in the state the caller believes."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(
            f"the headline is {actual or 'without a state'}, not {expected or 'without a state'}; read it again",
            expected=expected,
            actual=actual,
        )


@dataclass(frozen=True, slots=True)
class Logging:
    """What changes of state record."""

    done: Value
    repeat: Value
    states: dict[str, tuple[Value, Value]]


def set_todo(
    headline: Headline, state: str, now: datetime, *, expected: str | None = None, note: str | None = None
) -> Edited:
    """Set the TODO state, empty for none; *note* is written where the state asks for one.

    Raises StateMismatch if the state is not the *expected* one, Invalid if the file has no such state.
    """
    draft = Draft(headline, now)
    actual = draft.state or ""
    if expected is not None and expected != actual:
        raise StateMismatch(expected, actual)
    if state and state not in headline.outline.todo.names:
        known = ", ".join(headline.outline.todo.names)
        raise Invalid(f"{state} is no state in this file; there are {known}", state=state)
    forbid_blocked(headline, state)
    settings = draft.settings
    change_state(draft, state, Logging(settings.log_done, settings.log_repeat, dict(draft.outline.todo.logging)))
    draft.record(note)
    return draft.edited()


def change_state(draft: Draft, state: str, log: Logging) -> None:
    """Change the state of a *draft* and all that depends on it but the note."""
    todo = draft.outline.todo
    found = parts(draft.line, todo)
    commented = found.commented and found.text.partition(" ")[0].endswith(COMMENT)  # else a tab hides a keyword
    if commented:
        draft.line = toggle_comment(draft.line, todo)
    previous = changed_keyword(draft.line, todo)
    draft.line = set_keyword(draft.line, state, todo)
    own = draft.headline.value("LOGGING", inherit=True, literal_nil=True, fold=False)
    if own is not None:
        log = local_logging(own, todo)
    ended = state in todo.done and previous not in todo.done
    if log.states or log.done:
        record_change(draft, state, previous, log, ended=ended)
    draft.align()
    draft.count()
    if not (ended and repeat_task(draft, state, previous, log)):
        draft.line = tidy(draft.line, todo)
    if commented:
        draft.line = toggle_comment(draft.line, todo)


def changed_keyword(line: str, todo: Keywords) -> str | None:
    """Return the keyword a new one would replace."""
    found = todo.change.match(line, star_count(line))
    return found[1] if found else None


def local_logging(value: str, todo: Keywords) -> Logging:
    """Return what a LOGGING property says: words of a `#+STARTUP` line, and keywords with marks."""
    log = Logging(None, None, {})
    for word in value.split():
        name, setting = STARTUP.get(word, ("", None))
        mark = marks(word)
        if name == "log_done":
            log = replace(log, done=setting)
        elif name == "log_repeat":
            log = replace(log, repeat=setting)
        elif mark and mark[0] in todo.names:
            log.states[mark[0]] = mark[1:]
    return log


def record_change(draft: Draft, state: str, previous: str | None, log: Logging, *, ended: bool) -> None:
    """Put CLOSED on or take it off, and prepare the note of a change."""
    todo, settings = draft.outline.todo, draft.settings
    how = log.states.get(state, (None, None))[0] or log.states.get(previous or "", (None, None))[1]
    if (not state and not settings.closed_keep_when_no_todo) or (state in todo.open and previous not in todo.open):
        draft.change(clear_planning(draft.entry, "CLOSED", fold=False))
    if ended and log.done:
        stamp = write(draft.now, timed=bool(settings.log_done_with_time), active=False)
        draft.change(set_stamp(draft.entry, "CLOSED", stamp, draft.indent, fold=False))
        if not how and log.done == NOTE:
            draft.note = Note("done", state, previous, asks=True)
    if state and how:
        draft.note = Note("state", state, previous, asks=how == NOTE)


def repeat_task(draft: Draft, state: str, previous: str | None, log: Logging) -> bool:
    """Open a task again that has just been done but repeats, and move its dates; say whether it does."""
    if not repeats(draft.entry):
        return False
    how = STATE if log.repeat is True else log.repeat
    change_state(draft, repeat_state(draft, previous), Logging(None, how, {}))
    draft.change(clear_planning(draft.entry, "CLOSED", fold=False))
    if how or _CLOCK.search(draft.entry):
        put_last_repeat(draft)
    if how and draft.note:
        draft.note = replace(draft.note, asks=draft.note.asks or how == NOTE)
    elif how:
        draft.note = Note("state", state, previous or "", asks=how == NOTE)
    scheduled = stamp_in(planning_line(draft.entry, fold=False), "SCHEDULED")
    if scheduled and not REPEATER.search(scheduled):
        draft.change(drop_stamp(draft.entry, "SCHEDULED", fold=False))
    draft.change(shifted(draft.entry, draft.now))
    return True


def repeat_state(draft: Draft, previous: str | None) -> str:
    """Return the state a repeating task goes back to."""
    todo, general = draft.outline.todo, draft.settings.todo_repeat_to_state
    inherit = inherits_property(draft.settings, "REPEAT_TO_STATE")
    wanted = draft.headline.value("REPEAT_TO_STATE", inherit=inherit, fold=False)
    wanted = wanted or (general if isinstance(general, str) else (previous or "") if general else None)
    sequence = todo.sequence(previous) if previous else None
    if wanted and wanted in todo.names:
        return wanted
    if not sequence or not previous:
        return ""
    return previous if sequence.kind == "type" else sequence.names[0]


def put_last_repeat(draft: Draft) -> None:
    """Note down when a repeating task was done last."""
    stamp = write(draft.now, timed=True, active=False)
    draft.change(put_value(draft.entry, "LAST_REPEAT", stamp, fold=False, indent=draft.indent))


def forbid_blocked(headline: Headline, state: str) -> None:
    """Raise Conflict if the task must wait for others, where the settings enforce that."""
    todo = headline.outline.todo
    if not headline.outline.settings.enforce_todo_dependencies or headline.keyword in todo.done:
        return
    if state not in todo.done or headline.value("NOBLOCKING"):
        return
    blocking = next((one for one in headline.tree if one.keyword in todo.open), None) or earlier(headline)
    if blocking:
        raise Conflict(f"{blocking.title} must be done first", blocking=blocking.title)


def earlier(headline: Headline) -> Headline | None:
    """Return the task that must be done before *headline*, or before a task it belongs to, where order matters."""
    todo, parent = headline.outline.todo, headline.parent
    while parent:
        if parent.value("ORDERED"):
            before = (one for one in parent.tree if one.number < headline.number)
            blocking = next((one for one in before if one.keyword in todo.open), None)
            if blocking:
                return blocking
        if parent.keyword not in todo.open:
            return None
        headline, parent = parent, parent.parent
    return None
