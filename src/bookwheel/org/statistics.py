"""Statistics cookies: `[1/3]` and `[33%]` in a headline count the tasks below it that are done."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bookwheel.org.elements import is_verbatim
from bookwheel.org.lines import align
from bookwheel.org.settings import Settings, items
from bookwheel.org.todo import Keywords

_LINK = re.compile(r"\[\[(?:[^\]\[]|\\.)+\](?:\[.+?\])?\]")
_COOKIE = re.compile(r"(\[[0-9]*%\])|(\[[0-9]*/[0-9]*\])")


def update(line: str, done: int, everything: int, settings: Settings) -> str:
    """Return a headline's *line* with its cookies telling that *done* of *everything* is done, tags aligned anew."""
    start = 0
    while found := _COOKIE.search(line, start):
        new = f"[{100 * done // max(1, everything)}%]" if found[1] else f"[{done}/{everything}]"
        start = found.start() + len(new)
        if is_verbatim(line, 0, found.start()) or in_link(line, found.start()):
            start = found.end()
        elif new != found[0]:
            line = align(line[: found.start()] + new + line[found.end() :], settings)
    return line


def in_link(line: str, position: int) -> bool:
    """Say whether *position* is in a link."""
    return any(found.start() <= position < found.end() for found in _LINK.finditer(line))


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
