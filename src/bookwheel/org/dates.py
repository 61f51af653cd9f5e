"""Dates as people and programs give them: `2026-12-24`, with weekday, time, repeater, warning, brackets or without."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time

from bookwheel.errors import Invalid
from bookwheel.org.timestamps import write

FORM = "YYYY-MM-DD, with a time (10:00 or 10:00-11:30), a repeater (+1w) and a warning (-2d) if you like"

_DATE = re.compile(
    r"(?P<open>[<\[])?\s*(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?:\s+[^\W\d_]+\.?)?"
    r"(?:[\sT]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?:--?(?P<end>\d{1,2}):(?P<last>\d{2}))?)?"
    r"(?P<cookies>(?:\s+(?:\+\+|\.\+|\+|--?)\d+[hdwmy](?:/\d+[hdwmy])?)*)\s*(?(open)[>\]])",
    re.ASCII,
)

_NUMBERS = ("year", "month", "day", "hour", "minute", "end", "last")


@dataclass(frozen=True, slots=True)
class PlannedDate:
    """A day, perhaps with a time or a span of time, perhaps with repeater and warning."""

    when: datetime
    timed: bool
    until: str  # `-11:30`, empty without
    cookies: str

    def stamp(self, extra: str) -> str:
        """Return the active timestamp, with *extra* at its end."""
        return write(self.when, timed=self.timed, extra=self.until + extra)


def read_date(text: str) -> PlannedDate:
    """Return the date *text* means. Raises Invalid if it means none."""
    found = _DATE.fullmatch(text.strip())
    if not found:
        raise Invalid(f"{text!r} is no date; write {FORM}", date=text)
    year, month, day, hour, minute, end, last = (int(found[name] or 0) for name in _NUMBERS)
    try:
        when = datetime(year, month, day, hour, minute)
        time(end, last)
    except ValueError as error:
        raise Invalid(f"{text!r} is no date: {error}; write {FORM}", date=text) from error
    until = f"-{end:02}:{last:02}" if found["end"] else ""
    return PlannedDate(when, bool(found["hour"]), until, " ".join(found["cookies"].split()))
