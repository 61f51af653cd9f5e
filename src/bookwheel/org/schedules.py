"""Set and remove the dates of a headline: SCHEDULED and DEADLINE."""

from __future__ import annotations

import re
from datetime import datetime

from bookwheel.org.dates import read_date
from bookwheel.org.draft import Draft, Edited
from bookwheel.org.notes import Note
from bookwheel.org.outline import Headline
from bookwheel.org.planning import Kind, set_stamp
from bookwheel.org.planning import drop as drop_stamp
from bookwheel.org.settings import NOTE

_COOKIES = re.compile(r"[.+-]+[0-9]+[hdwmy](?:[/ ][-+]?[0-9]+[hdwmy])?")


def schedule(headline: Headline, date: str, now: datetime, *, note: str | None = None) -> Edited:
    """Set SCHEDULED; a repeater of the old date stays unless *date* has its own. Raises Invalid if it is no date."""
    return plan(headline, "SCHEDULED", date, now, note)


def set_deadline(headline: Headline, date: str, now: datetime, *, note: str | None = None) -> Edited:
    """Set DEADLINE; a repeater and warning of the old date stay unless *date* has its own."""
    return plan(headline, "DEADLINE", date, now, note)


def unschedule(headline: Headline, now: datetime, *, note: str | None = None) -> Edited:
    """Remove SCHEDULED; a headline without stays as it is."""
    return unplan(headline, "SCHEDULED", now, note)


def remove_deadline(headline: Headline, now: datetime, *, note: str | None = None) -> Edited:
    """Remove DEADLINE; a headline without stays as it is."""
    return unplan(headline, "DEADLINE", now, note)


def plan(headline: Headline, kind: Kind, date: str, now: datetime, note: str | None) -> Edited:
    """Set the date of *kind*, in front of what else is planned; CLOSED goes."""
    draft = Draft(headline, now)
    wanted, old = read_date(date), headline.planned(kind)
    cookies = first_cookies(wanted.cookies) or first_cookies(old)
    stamp = wanted.stamp("")
    with_cookies = wanted.stamp(f" {cookies}" if cookies else "")
    draft.change(set_stamp(draft.entry, kind, with_cookies, draft.indent, fold=True))
    draft.touched = True
    how = draft.settings.log_reschedule if kind == "SCHEDULED" else draft.settings.log_redeadline
    if old and how and old != stamp:
        purpose = "reschedule" if kind == "SCHEDULED" else "redeadline"
        draft.note = Note(purpose, stamp, old, asks=how == NOTE)
    draft.record(note)
    return draft.edited()


def first_cookies(text: str | None) -> str:
    """Return the repeater in *text*, with a warning right behind it, or else the warning; more than that Org drops."""
    found = _COOKIES.search(text or "")
    return found[0] if found else ""


def unplan(headline: Headline, kind: Kind, now: datetime, note: str | None) -> Edited:
    """Remove the date of *kind*."""
    draft, old = Draft(headline, now), headline.planned(kind)
    if old:
        how = draft.settings.log_reschedule if kind == "SCHEDULED" else draft.settings.log_redeadline
        if how:
            draft.note = Note("delschedule" if kind == "SCHEDULED" else "deldeadline", None, old, asks=how == NOTE)
        draft.change(drop_stamp(draft.entry, kind, fold=True))
        draft.record(note)
    return draft.edited()
