"""Property drawers: `:PROPERTIES:` to `:END:` right below a headline or its planning line, or at the file's start.

One line that is no property makes the whole drawer ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bookwheel.errors import Invalid
from bookwheel.org.planning import is_planning, line_of
from bookwheel.org.text import SPACES, indentation

SPECIAL = frozenset({"ALLTAGS", "BLOCKED", "CLOCKSUM", "CLOCKSUM_T", "CLOSED", "DEADLINE", "FILE", "ITEM", "PRIORITY"})
SPECIAL |= {"SCHEDULED", "TAGS", "TIMESTAMP", "TIMESTAMP_IA", "TODO"}

_DRAWER = rf"[ \t]*:PROPERTIES:[ \t]*\n((?:[ \t]*:[^{SPACES}]+:(?:[ \t].*)?[ \t]*\n)*?)[ \t]*:END:[ \t]*(?=\n|\Z)"
_FOLDED = re.compile(_DRAWER, re.IGNORECASE)
_STRICT = re.compile(_DRAWER)
_LINE = re.compile(rf"^[ \t]*:([^{SPACES}]+):(?:$|[ \t]+(.*?))[ \t]*$", re.MULTILINE)
_NAME = re.compile(rf"[^{SPACES}]+")


class Drawer(NamedTuple):
    """Where a drawer and the lines in it are."""

    start: int
    first: int
    last: int
    end: int


class Property(NamedTuple):
    """A line of a drawer."""

    name: str
    value: str
    start: int
    end: int


def drawer_at(text: str, start: int, *, fold: bool = True) -> Drawer | None:
    """Return the property drawer whose first line begins at *start*."""
    found = (_FOLDED if fold else _STRICT).match(text, start)
    return Drawer(found.start(), found.start(1), found.end(1), found.end()) if found else None


def lines(text: str, drawer: Drawer) -> Iterator[Property]:
    """Yield the properties of *drawer*."""
    for found in _LINE.finditer(text, drawer.first, drawer.last):
        yield Property(found[1], found[2] or "", found.start(), found.end())


def merged(found: list[Property]) -> dict[str, str]:
    """Return the values by name in upper case: the first of a name counts, and every `NAME+` adds to it."""
    base: dict[str, str] = {}
    values: dict[str, list[str]] = {}
    for line in found:
        name = line.name.upper().removesuffix("+")
        if name in SPECIAL:
            continue
        if line.name.endswith("+"):
            values.setdefault(name, []).append(line.value)
        elif name not in base:
            base[name] = line.value
            values.setdefault(name, []).insert(0, line.value)
    return {name: " ".join(parts) for name, parts in values.items()}


def local_values(found: list[Property]) -> Mapping[str, tuple[str | None, list[str]]]:
    """Return by name in upper case the value, the last of a name, and what `NAME+` lines add."""
    values: dict[str, str] = {}
    added: dict[str, list[str]] = {}
    for line in found:
        name = line.name.upper()
        if name.endswith("+"):
            added.setdefault(name.removesuffix("+"), []).append(line.value)
        else:
            values[name] = line.value
    return {name: (values.get(name), added.get(name, [])) for name in values.keys() | added.keys()}


def after_planning(entry: str, *, fold: bool = True) -> int:
    """Return where the line below the headline and the planning line of *entry* begins."""
    start = line_after(entry, 0)
    return line_after(entry, start) if is_planning(entry, start, fold=fold) else start


def line_after(text: str, position: int) -> int:
    """Return where the line after *position* begins; the end of *text* if there is none."""
    feed = text.find("\n", position)
    return len(text) if feed < 0 else feed + 1


def put(entry: str, name: str, value: str, *, fold: bool = True, indent: int = 0) -> str:
    """Return *entry* with the property set: its line replaced, or added to the drawer, which is made if need be.

    Raises Invalid if *name* cannot be that of a property.
    """
    if not _NAME.fullmatch(name) or "\n" in value:
        raise Invalid(f"{name!r} cannot be the name of a property with this value", name=name)
    entry = with_drawer(entry, fold=fold, indent=indent)
    drawer = drawer_at(entry, after_planning(entry, fold=fold), fold=fold)
    if not drawer:
        raise Invalid("the property drawer of this headline cannot be read", name=name)
    known = list(lines(entry, drawer))
    same = next((line for line in known if line.name.upper() == name.upper()), None)
    place = known.index(same) if same else len(known)
    margin = entry[known[place - 1].start :] if place else entry[drawer.start :]
    indent = indentation(margin.partition("\n")[0])
    written = " " * indent + f"{f':{name}:':<10} {value}".rstrip(" \t")
    if same:
        return entry[: same.start] + written + entry[same.end :]
    return f"{entry[: drawer.last]}{written}\n{entry[drawer.last :]}"


def with_drawer(entry: str, *, fold: bool = True, indent: int = 0) -> str:
    """Return *entry* with a property drawer; a new one is indented like the planning line, or by *indent*."""
    start = after_planning(entry, fold=fold)
    if drawer_at(entry, start, fold=fold):
        return entry
    planned = line_of(entry, fold=fold)
    margin = " " * (indentation(planned) if planned else indent)
    before = entry[:start] if entry[:start].endswith("\n") else f"{entry[:start]}\n"
    return f"{before}{margin}:PROPERTIES:\n{margin}:END:\n{entry[start:]}"


def delete(entry: str, name: str) -> str:
    """Return *entry* without the property and what adds to it; an empty drawer goes too."""
    drawer = drawer_at(entry, after_planning(entry))
    if not drawer:
        return entry
    wanted = (name.upper(), f"{name.upper()}+")
    kept = [line for line in lines(entry, drawer) if line.name.upper() not in wanted]
    if kept:
        body = "".join(entry[line.start : line_after(entry, line.end)] for line in kept)
        return entry[: drawer.first] + body + entry[drawer.last :]
    return entry[: drawer.start] + entry[line_after(entry, drawer.end) :]
