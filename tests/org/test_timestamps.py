"""Timestamps are values, and repeat as Org has it."""

from __future__ import annotations

from datetime import date, datetime, time

import pytest

from bookwheel.errors import Invalid
from bookwheel.org.timestamps import Timestamp, read_timestamp, repeat, shift

NOW = datetime(2026, 11, 15, 10, 0)


@pytest.mark.parametrize(
    ("stamp", "wanted"),
    [
        ("<2026-01-31 Sat +1m>", "<2026-03-03 Tue +1m>"),
        ("<2026-08-31 Mon ++1m>", "<2026-12-01 Tue ++1m>"),
        ("<2024-02-29 Thu +1y>", "<2025-03-01 Sat +1y>"),
        ("<2026-10-19 Mon ++1w>", "<2026-11-16 Mon ++1w>"),
        ("<2026-11-16 Mon ++1w>", "<2026-11-23 Mon ++1w>"),
        ("<2026-11-01 Sun .+2d/4d>", "<2026-11-17 Tue .+2d/4d>"),
        ("<2026-11-15 Sun 08:20-09:10 .+5h>", "<2026-11-15 Sun 15:00-15:50 .+5h>"),
        ("<2026-11-15 Sun 03:00 ++3h>", "<2026-11-15 Sun 12:00 ++3h>"),
        ("<2026-11-10 +1w --2d>", "<2026-11-17 Tue +1w>"),
        ("<1026-11-10 Tue ++1d>", "<2026-11-16 Mon ++1d>"),
    ],
)
def test_a_repeater_gives_the_next_date(stamp: str, wanted: str) -> None:
    assert repeat(stamp, NOW) == wanted


def test_hours_need_a_time() -> None:
    with pytest.raises(Invalid, match="gives no time"):
        repeat("<2026-11-10 Tue +2h>", NOW)


def test_beyond_the_calendar_there_is_no_date() -> None:
    with pytest.raises(Invalid, match="there is no date"):
        shift("<9999-12-31 Fri>", 1, "d")


def test_all_parts_of_a_timestamp_are_read() -> None:
    text = "<2026-11-17 Tue 08:30-09:45 ++1w -2d>"

    found = read_timestamp(text)

    wanted = Timestamp(text, True, date(2026, 11, 17), time(8, 30), None, time(9, 45), "++1w", "-2d")
    assert found == wanted


def test_a_range_ends_on_another_day() -> None:
    text = "[2026-11-17 Tue 08:30]--[2026-11-19 Thu 09:00]"

    found = read_timestamp(f"{text} and more")

    assert found == Timestamp(text, False, date(2026, 11, 17), time(8, 30), date(2026, 11, 19), time(9, 0))


@pytest.mark.parametrize("text", ["<%%(diary-float t 5 1)>", "2026-11-17", "<17 Nov>", ""])
def test_what_is_no_date_is_no_timestamp(text: str) -> None:
    assert read_timestamp(text) is None
