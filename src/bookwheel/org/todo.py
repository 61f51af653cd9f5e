"""TODO keywords: the sequences that are in force, what ends a task, and what a change of state records.

`TODO(t) WAIT(w@/!) | DONE(d!)`: in parentheses a key, what is recorded on entering and after a slash on leaving
(`!` the time, `@` a note). Keywords after the bar end a task; without a bar the last one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from bookwheel.org.lisp import Symbol, Value
from bookwheel.org.settings import NOTE, TIME, items
from bookwheel.org.text import words

_WORD = re.compile(r"(.*?)(?:\(([^!@/])?.*?\))?")
_MARKS = re.compile(r"(.*?)\(([^!@/])?([!@])?(?:/([!@]))?\)")
_KEYS = re.compile(r"\(.*\)$")
_HOW: Mapping[str | None, Value] = {"!": TIME, "@": NOTE, None: None}


@dataclass(frozen=True)
class Sequence:
    """Keywords that belong together, in order; `raw` is as written, with keys and bar."""

    kind: str  # "sequence" or "type"
    raw: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The keywords alone."""
        return tuple(match[1] for word in self.raw if word != "|" and (match := _WORD.fullmatch(word)))

    @cached_property
    def done(self) -> tuple[str, ...]:
        """Those that end a task."""
        if "|" not in self.raw:
            return self.names[-1:]
        return tuple(_KEYS.sub("", word) for word in self.raw[self.raw.index("|") + 1 :])

    @property
    def shown(self) -> tuple[str, ...]:
        """As written, with a missing bar put in."""
        return self.raw if "|" in self.raw or not self.raw else (*self.raw[:-1], "|", self.raw[-1])

    @property
    def keys(self) -> dict[str, str]:
        """The fast keys that are given, by keyword."""
        matches = (_WORD.fullmatch(word) for word in self.raw if word != "|")
        return {match[1]: match[2] for match in matches if match and match[2]}


@dataclass(frozen=True)
class Keywords:
    """All sequences in force in a file."""

    sequences: tuple[Sequence, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every keyword in order."""
        return tuple(name for sequence in self.sequences for name in sequence.names)

    @cached_property
    def done(self) -> tuple[str, ...]:
        """Every keyword that ends a task."""
        return tuple(name for sequence in self.sequences for name in sequence.done) or self.names[-1:]

    @cached_property
    def open(self) -> frozenset[str]:
        """Every keyword that does not."""
        return frozenset(self.names) - frozenset(self.done)

    @cached_property
    def logging(self) -> Mapping[str, tuple[Value, Value]]:
        """What is recorded on entering and leaving, for the keywords that ask for it; the last one written counts."""
        found = (marks(word) for sequence in self.sequences for word in sequence.raw if word != "|")
        return {mark[0]: mark[1:] for mark in found if mark}

    def sequence(self, name: str) -> Sequence | None:
        """Return the sequence *name* belongs to."""
        return next((sequence for sequence in self.sequences if name in sequence.names), None)

    @cached_property
    def heading(self) -> re.Pattern[str]:
        """Matches stars, keyword and priority of a headline that ends where its title does."""
        return re.compile(rf"\*+(?: +({self.pattern})(?= |\Z))?(?: +(\[#.\])(?= |\Z))? *")

    @cached_property
    def plain(self) -> re.Pattern[str]:
        """Matches the whole of a headline that all ways of reading agree on: nearly every one."""
        return re.compile(
            rf"(\*+) ++(?>({self.pattern}) ++)?+(?>\[#(.)\] ++)?+(?!COMMENT|\[#|[ \t]|(?:{self.pattern})(?:[ \t]|$))"
            r"(?:(.*[^ \t:\n])|(.*[^ \t\n])[ \t]+:([A-Za-z0-9_@#%:]+):)[ \t]*$",
            re.MULTILINE,
        )

    @cached_property
    def element(self) -> re.Pattern[str]:
        """Matches the same as Org's second parser does, to the end of the line: with `COMMENT`, and more tolerant."""
        return re.compile(rf"\*+[ \t]*(?:({self.pattern})(?: |\Z)[ \t]*)?(?:\[#(.)\][ \t]*)?(COMMENT(?: |\Z)[ \t]*)?")

    @cached_property
    def change(self) -> re.Pattern[str]:
        """Matches what a new state replaces, from behind the stars."""
        return re.compile(rf" +({self.pattern})(?: +|[ \t]*$)| *", re.MULTILINE)

    @cached_property
    def pattern(self) -> str:
        """Matches any keyword; what cannot be where there is none."""
        return "|".join(re.escape(name) for name in sorted(set(self.names) - {""}, key=len, reverse=True)) or r"(?!)"


def marks(word: str) -> tuple[str, Value, Value] | None:
    """Return a keyword with what it records on entering and leaving, if it does."""
    match = _MARKS.fullmatch(word)
    return (match[1], _HOW[match[3]], _HOW[match[4]]) if match and (match[3] or match[4]) else None


def keywords_of(value: Value) -> Keywords:
    """Return the keywords of `org-todo-keywords`."""
    if items(value) and all(isinstance(item, str) for item in items(value)):
        value = ((Symbol("sequence"), *items(value)),)
    return Keywords(
        tuple(Sequence(str(item[0]), tuple(map(str, item[1:]))) for item in items(value) if isinstance(item, tuple))
    )


def from_lines(lines: Iterable[tuple[str, str]], otherwise: Keywords) -> Keywords:
    """Return the keywords that the keyword lines of a file set; *otherwise* if there are none.

    A line is its key (`TODO`, `SEQ_TODO`, `TYP_TODO`) and its value; types come first, `#+SEQ_TODO` last.
    """
    found = [(key, tuple(words(value))) for key, value in lines]
    order = ("TYP_TODO", "TODO", "SEQ_TODO")
    kinds = {"TYP_TODO": "type"}
    sequences = [Sequence(kinds.get(key, "sequence"), names) for want in order for key, names in found if key == want]
    return Keywords(tuple(sequences)) if sequences else otherwise


def parse_option(text: str) -> Value:
    """Return the value of `org-todo-keywords` that a line such as `type: BUG FEATURE | FIXED` means.

    Sequences are parted by semicolons or line ends; an empty text means no keywords at all.
    """
    lines = [line.strip() for line in re.split(r"[;\n]", text) if line.strip()]
    found: list[Value] = []
    for line in lines:
        kind, colon, rest = line.partition(":")
        named = bool(colon) and kind.strip().lower() in ("type", "sequence")
        name = kind.strip().lower() if named else "sequence"
        found.append((Symbol(name), *(rest if named else line).split()))
    return tuple(found) or None
