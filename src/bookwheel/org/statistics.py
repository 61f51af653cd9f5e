"""Statistics cookies: `[1/3]` and `[33%]` in a headline count the tasks below it that are done."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bookwheel.org.elements import Span, enclosing, verbatim
from bookwheel.org.lines import align
from bookwheel.org.settings import Settings, items
from bookwheel.org.todo import Keywords

_LINK = re.compile(r"\[\[[^\]\[]{1,2000}\](?:\[.{1,2000}?\])?\]")
_COOKIE = re.compile(r"(\[[0-9]*%\])|(\[[0-9]*/[0-9]*\])")


def update(line: str, done: int, everything: int, settings: Settings) -> str:
    """Return a headline's *line* with its cookies telling that *done* of *everything* is done, tags aligned anew."""
    percent, share = f"[{100 * done // max(1, everything)}%]", f"[{done}/{everything}]"
    untouched = [*verbatim(line), *(Span(*found.span(), "link") for found in _LINK.finditer(line))]
    untouched.sort()
    new = _COOKIE.sub(
        lambda found: found[0] if enclosing(untouched, found.start()) else percent if found[1] else share, line
    )
    return align(new, settings) if new != line else line


def count(states: Iterable[str | None], keywords: Keywords, settings: Settings) -> tuple[int, int]:
    """Return how many of *states* are done, and how many count at all."""
    rule = settings.provide_todo_statistics
    done = everything = 0
    for state in states:
        ended = state in keywords.done
        everything += counts(state, rule, ended=ended)
        done += ended and counts_done(state, rule)
    return done, everything


def counts(state: str | None, rule: object, *, ended: bool) -> bool:
    """Say whether a headline in *state* is one of those that `org-provide-todo-statistics` tells to count."""
    if rule is True:
        return state is not None
    if not isinstance(rule, tuple):
        return rule == "all-headlines"
    if isinstance(rule[0], str):
        return state in rule or ended
    return state in items(rule[0]) or (ended and state in items(rule[1] if len(rule) > 1 else None))


def counts_done(state: str | None, rule: object) -> bool:
    """Say whether a headline whose task is done counts as such."""
    if not isinstance(rule, tuple) or isinstance(rule[0], str):
        return True
    return state in items(rule[1] if len(rule) > 1 else None)
