"""What Org's variables say, as values; a file's own `#+STARTUP` line overrides some of them.

A field is named after its variable: `log_done` is `org-log-done`. Defaults are those of Org 9.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from bookwheel.errors import Invalid
from bookwheel.org.lisp import Pair, Symbol, Value, read

TIME, NOTE, STATE = Symbol("time"), Symbol("note"), Symbol("state")


@dataclass(frozen=True, slots=True)
class Settings:
    """The variables that decide how a file is read and what a write leaves."""

    todo_keywords: Value = ((Symbol("sequence"), "TODO", "DONE"),)
    log_done: Value = None
    log_done_with_time: Value = True
    log_repeat: Value = TIME
    log_reschedule: Value = None
    log_redeadline: Value = None
    log_refile: Value = None
    log_into_drawer: Value = None
    log_states_order_reversed: Value = True
    log_state_notes_insert_after_drawers: Value = None
    closed_keep_when_no_todo: Value = None
    todo_repeat_to_state: Value = None
    enforce_todo_dependencies: Value = None
    provide_todo_statistics: Value = True
    hierarchical_todo_statistics: Value = True
    auto_align_tags: Value = True
    tags_column: Value = -77
    adapt_indentation: Value = None
    use_tag_inheritance: Value = True
    tags_exclude_from_inheritance: Value = None
    tags_sort_function: Value = None
    tag_alist: Value = None
    tag_persistent_alist: Value = None
    use_property_inheritance: Value = None
    global_properties: Value = None
    priority_highest: Value = 65  # A
    priority_lowest: Value = 67
    priority_default: Value = 66
    archive_location: Value = "%s_archive::"
    archive_save_context_info: Value = tuple(map(Symbol, ("time", "file", "olpath", "category", "todo", "itags")))


DEFAULTS = Settings()
NAMES: Mapping[str, str] = {f"org-{field.name.replace('_', '-')}": field.name for field in fields(Settings)}

STARTUP: Mapping[str, tuple[str, Value]] = {
    "logdone": ("log_done", TIME),
    "lognotedone": ("log_done", NOTE),
    "nologdone": ("log_done", None),
    "logrepeat": ("log_repeat", STATE),
    "lognoterepeat": ("log_repeat", NOTE),
    "nologrepeat": ("log_repeat", None),
    "logdrawer": ("log_into_drawer", True),
    "nologdrawer": ("log_into_drawer", None),
    "logstatesreversed": ("log_states_order_reversed", True),
    "nologstatesreversed": ("log_states_order_reversed", None),
    "logreschedule": ("log_reschedule", TIME),
    "lognotereschedule": ("log_reschedule", NOTE),
    "nologreschedule": ("log_reschedule", None),
    "logredeadline": ("log_redeadline", TIME),
    "lognoteredeadline": ("log_redeadline", NOTE),
    "nologredeadline": ("log_redeadline", None),
    "logrefile": ("log_refile", TIME),
    "lognoterefile": ("log_refile", NOTE),
    "nologrefile": ("log_refile", None),
    "noptag": ("tag_persistent_alist", None),
}


def assign(settings: Settings, assignment: str) -> Settings:
    """Return *settings* with `NAME=VALUE` done, the value being a Lisp literal.

    Raises Invalid if there is no such variable or the value cannot be read.
    """
    name, equals, literal = assignment.partition("=")
    field = NAMES.get(name.strip())
    if not equals or not field:
        raise Invalid(f"{name.strip()} is no setting; there are {', '.join(NAMES)}", name=name.strip())
    return replace(settings, **{field: read(literal)})


def start(settings: Settings, options: str) -> Settings:
    """Return *settings* with the words of a `#+STARTUP` line heeded."""
    changes = [STARTUP[word] for word in options.lower().split() if word in STARTUP]
    return replace(settings, **dict(changes)) if changes else settings


def items(value: Value) -> tuple[Value, ...]:
    """Return the items of a list; none of anything else."""
    return value if isinstance(value, tuple) else ()


def pairs(value: Value) -> dict[str, Value]:
    """Return the strings of an association list with what each stands for; the first of a name counts."""
    found: dict[str, Value] = {}
    for item in items(value):
        if isinstance(item, Pair) and isinstance(item.first, str):
            found.setdefault(item.first, item.rest)
    return found
