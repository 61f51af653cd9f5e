"""Timestamps: `<2026-11-16 Mon 09:00-10:30 ++1w -2d>` as values, shifted, and repeated.

Dates that no calendar has, such as the 31st of February, go over into the next month, as Org has it. Diary sexps are
kept as text.
"""

from __future__ import annotations

import datetime as dates
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from bookwheel.errors import Invalid

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

ANY = re.compile(r"[\[<]\d{4}-\d{2}-\d{2}(?: [^\n]{0,1000}?)?[\]>]", re.ASCII)
REPEATER = re.compile(r"<[0-9]{4}-[0-9]{2}-[0-9]{2} [^>\n]{0,200}?([.+]?\+[0-9]+[hdwmy](?:/[0-9]+[hdwmy])?)")
_WHEN = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?: +[^\]+0-9>\r\n -]+)?(?: +([0-9]{1,2}):([0-9]{2}))?")
_UNTIL = re.compile(r"[0-9]{1,2}:[0-9]{2}--?([0-9]{1,2}):([0-9]{2})")
_REPEAT = re.compile(r"(\.\+|\+\+|\+)([0-9]+)([hdwmy])(?:/([0-9]+)([hdwmy]))?")
_WARNING = re.compile(r"(?<![-0-9])(--?)([0-9]+)([hdwmy])")
_EXTRA = re.compile(r"((?:-[012][0-9]:[0-5][0-9])?(?: +[.+]?-?[-+][0-9]+[hdwmy](?:/[0-9]+[hdwmy])?)*)[\]>]")
_TIMED = re.compile(r".{10}.*?[0-9]+:[0-9][0-9]")
_DELAY = re.compile(r" --[0-9]+[hdwmy]")
_END_TIME = re.compile(r"-([012][0-9]):([0-5][0-9])")
_STEP = re.compile(r"([.+])?(\+[0-9]+)([hdwmy])")


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A timestamp, with its parts; times are None where none is given."""

    raw: str
    active: bool
    date: dates.date
    time: dates.time | None = None
    end_date: dates.date | None = None
    end_time: dates.time | None = None
    repeater: str | None = None  # `+1w`, `++1w`, `.+2d/3d`
    warning: str | None = None  # `-3d`, `--3d`


def read_timestamp(text: str) -> Timestamp | None:
    """Return the timestamp or range *text* begins with; None if it is no date, as a diary sexp."""
    first = ANY.match(text)
    begin = _WHEN.search(first[0]) if first else None
    if not first or not begin:
        return None
    second = ANY.match(text, first.end() + 2) if text.startswith("--", first.end()) else None
    end = _WHEN.search(second[0]) if second else None
    until, repeat, warning = (pattern.search(first[0][11:]) for pattern in (_UNTIL, _REPEAT, _WARNING))
    start = moment(*map(int, begin.group(1, 2, 3)))
    return Timestamp(
        text[: (second or first).end()],
        text.startswith("<"),
        start.date(),
        clock(begin[4], begin[5]),
        moment(*map(int, end.group(1, 2, 3))).date() if end else None,
        clock(*until.groups()) if until else clock(end[4], end[5]) if end else None,
        repeat[0] if repeat else None,
        warning[0] if warning else None,
    )


def clock(hour: str | None, minute: str | None) -> dates.time | None:
    """Return the time of day; None if there is none or no clock shows it."""
    if hour is None or minute is None or int(hour) > 23 or int(minute) > 59:
        return None
    return dates.time(int(hour), int(minute))


def moment(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    """Return the moment, what is too much of a part going over into the next. Raises Invalid beyond the year 9999."""
    years, months = divmod(month - 1, 12)
    try:
        return datetime(year + years, months + 1, 1) + timedelta(days=day - 1, hours=hour, minutes=minute)
    except (ValueError, OverflowError) as error:
        raise Invalid(f"there is no date {year}-{month}-{day}", date=f"{year}-{month}-{day}") from error


def write(when: datetime, *, timed: bool, active: bool = True, extra: str = "") -> str:
    """Return the timestamp of *when*, with the time of day if *timed*, and *extra* before its bracket."""
    text = f"{when.year:04}-{when.month:02}-{when.day:02} {DAYS[when.weekday()]}"
    text += f" {when.hour:02}:{when.minute:02}" if timed else ""
    return f"<{text}{extra}>" if active else f"[{text}{extra}]"


def when(stamp: str) -> datetime:
    """Return the moment a timestamp names, midnight if it gives no time. Raises Invalid if there is no date in it."""
    found = _WHEN.search(stamp)
    if not found:
        raise Invalid(f"{stamp} is no timestamp", timestamp=stamp)
    return moment(*(int(part or 0) for part in found.groups()))


def shift(stamp: str, count: int, unit: str, *, lasting: bool = True) -> str:
    """Return *stamp* moved by *count* of *unit* (minute, h, d, w, m, y), its weekday made right.

    A delay for the first time only (`--2d`) goes if the change is not *lasting*.
    """
    found = _EXTRA.search(stamp)
    extra = found[1] if found else ""
    if not lasting:
        extra = _DELAY.sub("", extra)
    if unit in ("h", "minute"):
        extra = _END_TIME.sub(lambda end: later(end, count, unit), extra, count=1)
    moved = add(when(stamp), count, unit)
    return write(moved, timed=bool(_TIMED.match(stamp)), active=stamp.startswith("<"), extra=extra)


def later(end: re.Match[str], count: int, unit: str) -> str:
    """Return the end of a span of hours, moved; what is more than an hour too much is not carried, as in Org."""
    hour, minute = int(end[1]) + (count if unit == "h" else 0), int(end[2]) + (count if unit == "minute" else 0)
    if minute < 0:
        hour, minute = hour - 1, minute + 60
    if minute > 59:
        hour, minute = hour + 1, minute - 60
    return f"-{hour % 24:02}:{minute:02}"


def add(start: datetime, count: int, unit: str) -> datetime:
    """Return *start* moved by *count* of *unit*; a month after 31 January is 3 March."""
    days = count * 7 if unit == "w" else count if unit == "d" else 0
    return moment(
        start.year + (count if unit == "y" else 0),
        start.month + (count if unit == "m" else 0),
        start.day + days,
        start.hour + (count if unit == "h" else 0),
        start.minute + (count if unit == "minute" else 0),
    )


def repeat(stamp: str, now: datetime) -> str:
    """Return the next *stamp* of one with a repeater, as marking a task done at *now* leaves it.

    `+` adds the interval once, `++` until it lies in the future, `.+` counts from today (or now, for hours).
    Raises Invalid for hours without a time of day.
    """
    step = _STEP.search(stamp[11:])
    if not step:
        return stamp
    mode, count, unit = step[1], int(step[2]), step[3]
    if unit == "h" and not re.search(r"[0-9]{1,2}:[0-9]{2}", stamp[: 11 + step.end()]):
        raise Invalid(f"{stamp} repeats by hours but gives no time", timestamp=stamp)
    if mode == ".":
        stamp = restart(stamp, unit, now)
    elif mode == "+":
        stamp = shift(catch_up(stamp, count, unit, now), -count, unit)
    return shift(stamp, count, unit, lasting=False)


def restart(stamp: str, unit: str, now: datetime) -> str:
    """Return *stamp* moved to today, or to now if it repeats by hours."""
    if unit == "h":
        return shift(stamp, int((now - when(stamp)).total_seconds() // 60), "minute")
    return shift(stamp, (now.date() - when(stamp).date()).days, "d")


def catch_up(stamp: str, count: int, unit: str, now: datetime) -> str:
    """Return *stamp* moved, at least once, until it lies in the future. Raises Invalid if it never would."""
    if count <= 0:
        raise Invalid(f"{stamp} repeats without an interval", timestamp=stamp)
    stamp = shift(stamp, count * enough(when(stamp), count, unit, now), unit)
    while when(stamp) <= now if unit == "h" else when(stamp).date() <= now.date():
        stamp = shift(stamp, count, unit)
    return stamp


def enough(start: datetime, count: int, unit: str, now: datetime) -> int:
    """Return how many intervals, at least one, can be added at once: for months and years the calendar decides."""
    hours = {"h": 1, "d": 24, "w": 168}.get(unit)
    return max(1, int((now - start) / timedelta(hours=hours * count))) if hours else 1
