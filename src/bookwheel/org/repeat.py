"""Which timestamps of an entry repeat, and the entry with all of them moved on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from bookwheel.org.elements import enclosing, holds_objects, literal, verbatim
from bookwheel.org.properties import after_planning, drawer_at, line_after
from bookwheel.org.timestamps import ANY, REPEATER, repeat


def repeats(entry: str) -> bool:
    """Say whether *entry* repeats: its first repeater counts, and one of nothing does not."""
    first = next(repeating(entry), None)
    return first is not None and int("".join(filter(str.isdigit, first[2].partition("/")[0]))) != 0


def repeating(entry: str) -> Iterator[tuple[int, int, str]]:
    """Yield where timestamps with a repeater begin and end in *entry*, with the repeater.

    Planning lines and drawers count if they are in capitals; in lower case they are not text either.
    """
    spans, quoted = list(literal(entry, 0, len(entry))), verbatim(entry)
    data, read = metadata(entry, fold=True), metadata(entry, fold=False)
    for found in REPEATER.finditer(entry):
        stamp, place = ANY.match(entry, found.start()), found.start()
        if not stamp or stamp.end() < found.end():
            continue
        text = not within(place, data) and not enclosing(quoted, place)
        if within(place, read) or (text and holds_objects(entry, place, spans)):
            yield place, stamp.end(), found[1]


def metadata(entry: str, *, fold: bool) -> list[range]:
    """Return where the planning line and the property drawer of *entry* are."""
    start, end = line_after(entry, 0), after_planning(entry, fold=fold)
    drawer = drawer_at(entry, end, fold=fold)
    return [range(start, end), range(drawer.first, drawer.last) if drawer else range(0)]


def within(position: int, places: list[range]) -> bool:
    """Say whether *position* is in one of *places*."""
    return any(position in place for place in places)


def shifted(entry: str, now: datetime) -> str:
    """Return *entry* with every timestamp that repeats moved as its repeater says."""
    pieces, start = list[str](), 0
    for first, last, _ in repeating(entry):
        pieces += [entry[start:first], repeat(entry[first:last], now)]
        start = last
    return "".join(pieces) + entry[start:]
