"""The org contract: what an edit leaves on disk, when it refuses, and who hears of it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from contracts.conftest import Start
from contracts.harness import (
    ERAS,
    Answer,
    Files,
    Json,
    Reader,
    command,
    eventually,
    listening,
    plain,
    requirement,
    serving,
    write,
)
from contracts.notebook import fault, found, told

Anew = Callable[[Files], Reader]
NOW = re.compile(r"\[\d{4}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d\]")
IDENTIFIED = ":PROPERTIES:\n:ID: 11111111-2222-4333-8444-555555555555\n:END:\n"


def set_state(reader: Reader, uri: str, current: str, new: str, **more: object) -> Answer:
    return reader.call("org-update-todo-state", resourceUri=uri, currentState=current, newState=new, **more)


def schedule(reader: Reader, uri: str, **more: object) -> Answer:
    return reader.call("org-schedule-task", resourceUri=uri, **more)


def content(reader: Reader, name: str = "a.org") -> str:
    """Return a file as it is on disk, the time of an edit as NOW."""
    return NOW.sub("[NOW]", (reader.folder / name).read_bytes().decode())


def names(reader: Reader) -> list[str]:
    """Return what is in the folder."""
    return sorted(one.name for one in reader.folder.iterdir())


def tagged(line: str, tags: str) -> str:
    """Return a headline with its tags where Org puts them."""
    return f"{line}{tags.rjust(77 - len(line))}"


@pytest.fixture(scope="module")
def running(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A server whose folder is filled anew for each test."""
    base = tmp_path_factory.mktemp("running")
    folder = write(base / "notes", {})
    with serving(portal, folder, base / "log", folder, "--face", "org", "--store", base / "store") as reader:
        yield reader


@pytest.fixture
def anew(running: Reader) -> Anew:
    """Give that server with some files and no others."""

    def fill(files: Files) -> Reader:
        for one in running.folder.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        write(running.folder, files)
        return running

    return fill


# states


@dataclass(frozen=True)
class Update:
    """A state to set: the file before, and after."""

    current: str
    new: str
    before: str
    after: str
    path: str = "A"
    result: str | None = None  # the state that really results, if it is another
    more: Json = field(default_factory=dict)


REPEATED = '- State "DONE"       from "TODO"       [NOW]\n'
ABOVE = "#+TITLE:  x \n\n*  TODO   Odd   :a:\n  SCHEDULED:   <2024-01-01>\n\t* no headline \n"
BELOW = " \n* TODO   B\t:b:\n\n\n"
UPDATES: dict[str, Update] = {
    "done": Update("TODO", "DONE", "* TODO A\nText.\n", "* DONE A\nText.\n"),
    "open again": Update("DONE", "TODO", "* DONE A\n", "* TODO A\n"),
    "first state": Update("", "TODO", "* A\n", "* TODO A\n"),
    "no state": Update("TODO", "", "* TODO A\n", "* A\n"),
    "the same": Update("TODO", "TODO", "* TODO A\nText.", "* TODO A\nText.\n"),
    "priority": Update("TODO", "DONE", "* TODO [#A] A\n", "* DONE [#A] A\n"),
    "tags": Update("TODO", "DONE", "* TODO A :x:y:\n", tagged("* DONE A", ":x:y:") + "\n"),
    "deep": Update("TODO", "DONE", "* P\n** Q\n*** TODO A\n", "* P\n** Q\n*** DONE A\n", "P/Q/A"),
    "elsewhere": Update("TODO", "DONE", f"{ABOVE}* TODO A\n{BELOW}", f"{ABOVE}* DONE A\n{BELOW}"),
    "count": Update(
        "TODO", "DONE", "* P [0/2]\n** TODO A\n** TODO B\n", "* P [1/2]\n** DONE A\n** TODO B\n", "P%20%5B0%2F2%5D/A"
    ),
    "share": Update(
        "TODO", "DONE", "* P [0%]\n** TODO A\n** TODO B\n", "* P [50%]\n** DONE A\n** TODO B\n", "P%20%5B0%25%5D/A"
    ),
    "final newline": Update("TODO", "DONE", "* TODO A", "* DONE A\n"),
    "final newline of the text": Update("TODO", "DONE", "* TODO A\nText.", "* DONE A\nText.\n"),
    "scheduled": Update(
        "TODO", "DONE", "* TODO A\nSCHEDULED: <2024-06-10 Mon>\n", "* DONE A\nSCHEDULED: <2024-06-10 Mon>\n"
    ),
    "closed without a log": Update(
        "DONE", "TODO", "* DONE A\nCLOSED: [2024-05-02 Thu]\n", "* TODO A\nCLOSED: [2024-05-02 Thu]\n"
    ),
    "closed no more": Update(
        "DONE", "TODO", "#+STARTUP: logdone\n* DONE A\nCLOSED: [2024-05-02 Thu]\n", "#+STARTUP: logdone\n* TODO A\n"
    ),
    "repeated": Update(
        "TODO",
        "DONE",
        "* TODO A\nSCHEDULED: <2024-06-10 Mon +1w>\nText.\n",
        "* TODO A\nSCHEDULED: <2024-06-17 Mon +1w>\n:PROPERTIES:\n:LAST_REPEAT: [NOW]\n:END:\n" + REPEATED + "Text.\n",
        result="TODO",
    ),
    "repeated deadline": Update(
        "TODO",
        "DONE",
        "* TODO A\nDEADLINE: <2024-01-31 Wed 10:00 +1m -3d>\n",
        "* TODO A\nDEADLINE: <2024-03-02 Sat 10:00 +1m -3d>\n:PROPERTIES:\n:LAST_REPEAT: [NOW]\n:END:\n" + REPEATED,
        result="TODO",
    ),
    "sequence of the file": Update(
        "NEXT", "WAIT", "#+TODO: NEXT WAIT | OVER\n* NEXT A\n", "#+TODO: NEXT WAIT | OVER\n* WAIT A\n"
    ),
    "type of the file": Update(
        "BUG", "FIXED", "#+TYP_TODO: BUG | FIXED\n* BUG A\n", "#+TYP_TODO: BUG | FIXED\n* FIXED A\n"
    ),
    "logged": Update(
        "NEXT",
        "OVER",
        "#+TODO: NEXT | OVER(o!)\n* NEXT A\nText.\n",
        '#+TODO: NEXT | OVER(o!)\n* OVER A\n- State "OVER"       from "NEXT"       [NOW]\nText.\n',
    ),
    "with a note": Update(
        "NEXT",
        "OVER",
        "#+TODO: NEXT | OVER(o@)\n* NEXT A\n",
        '#+TODO: NEXT | OVER(o@)\n* OVER A\n- State "OVER"       from "NEXT"       [NOW] \\\\\n  It was rain.\n',
        more={"note": "It was rain."},
    ),
    "log of the file": Update(
        "TODO", "DONE", "#+STARTUP: logdone\n* TODO A\n", "#+STARTUP: logdone\n* DONE A\nCLOSED: [NOW]\n"
    ),
    "identified": Update("TODO", "DONE", f"* TODO A\n{IDENTIFIED}", f"* DONE A\n{IDENTIFIED}"),
}


@pytest.fixture(scope="module")
def edited(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A server of files that are each edited once."""
    base = tmp_path_factory.mktemp("edited")
    files = {f"{name}.org": case.before for name, case in UPDATES.items()}
    files |= {f"{name}.org": case.before for name, case in PLANS.items()}
    folder = write(base / "notes", files)
    with serving(portal, folder, base / "log", folder, "--face", "org", "--store", base / "store") as reader:
        yield reader


@requirement(
    "org.update.uri",
    "org.update.current",
    "org.update.new",
    "org.update.success",
    "org.write.bytes",
    "org.write.elsewhere",
    "org.write.result",
    "org.file-settings",
    "org.no-ids",
    "org.note",
)
@pytest.mark.parametrize("name", UPDATES)
def test_state_is_set_as_org_sets_it(edited: Reader, name: str) -> None:
    case = UPDATES[name]

    answer = told(set_state(edited, f"org://{name}.org/headline/{case.path}", case.current, case.new, **case.more))

    assert answer == {
        "success": True,
        "previousState": case.current,
        "newState": case.new if case.result is None else case.result,
    }
    assert content(edited, f"{name}.org") == case.after


# dates


@dataclass(frozen=True)
class Plan:
    """Dates to set: the file before, and after, and what is said of the dates."""

    arguments: Json
    before: str
    after: str
    scheduled: str | None = None
    deadline: str | None = None


PLANS: dict[str, Plan] = {
    "a schedule": Plan(
        {"scheduled": "2024-12-25"},
        "* TODO A\nText.\n",
        "* TODO A\nSCHEDULED: <2024-12-25 Wed>\nText.\n",
        "<2024-12-25 Wed>",
    ),
    "a deadline": Plan(
        {"deadline": "2024-12-25"}, "* A\n", "* A\nDEADLINE: <2024-12-25 Wed>\n", None, "<2024-12-25 Wed>"
    ),
    "without newline": Plan(
        {"deadline": "2024-12-25"}, "* A", "* A\nDEADLINE: <2024-12-25 Wed>\n", None, "<2024-12-25 Wed>"
    ),
    "both at once": Plan(
        {"scheduled": "2024-12-24", "deadline": "2024-12-25"},
        "* TODO A\n",
        "* TODO A\nDEADLINE: <2024-12-25 Wed> SCHEDULED: <2024-12-24 Tue>\n",
        "<2024-12-24 Tue>",
        "<2024-12-25 Wed>",
    ),
    "one more": Plan(
        {"scheduled": "2024-12-24"},
        "* TODO A\nDEADLINE: <2024-12-25 Wed>\n",
        "* TODO A\nSCHEDULED: <2024-12-24 Tue> DEADLINE: <2024-12-25 Wed>\n",
        "<2024-12-24 Tue>",
        "<2024-12-25 Wed>",
    ),
    "before the drawer": Plan(
        {"scheduled": "2024-12-25"},
        f"* A\n{IDENTIFIED}",
        f"* A\nSCHEDULED: <2024-12-25 Wed>\n{IDENTIFIED}",
        "<2024-12-25 Wed>",
    ),
    "another date": Plan(
        {"scheduled": "2025-01-01"},
        "* A\nSCHEDULED: <2024-12-25 Wed>\n",
        "* A\nSCHEDULED: <2025-01-01 Wed>\n",
        "<2025-01-01 Wed>",
    ),
    "no schedule": Plan(
        {"removeScheduled": True},
        "* A\nDEADLINE: <2024-12-25 Wed> SCHEDULED: <2024-12-24 Tue>\n",
        "* A\nDEADLINE: <2024-12-25 Wed>\n",
        None,
        "<2024-12-25 Wed>",
    ),
    "no deadline": Plan({"removeDeadline": True}, "* A\nDEADLINE: <2024-12-25 Wed>\nText.\n", "* A\nText.\n"),
    "neither": Plan(
        {"removeDeadline": True, "removeScheduled": True},
        "* A\nDEADLINE: <2024-12-25 Wed> SCHEDULED: <2024-12-24 Tue>\nText.\n",
        "* A\nText.\n",
    ),
    "nothing to remove": Plan({"removeScheduled": True}, "* A  :x:\nText.", "* A  :x:\nText."),
    "one for the other": Plan(
        {"removeScheduled": True, "deadline": "2024-12-25"},
        "* A\nSCHEDULED: <2024-12-24 Tue>\n",
        "* A\nDEADLINE: <2024-12-25 Wed>\n",
        None,
        "<2024-12-25 Wed>",
    ),
}
FORMS: dict[str, str] = {
    "2024-12-25": "<2024-12-25 Wed>",
    "<2024-12-25>": "<2024-12-25 Wed>",
    "<2024-12-25 Wed>": "<2024-12-25 Wed>",
    "2024-12-25 Wed": "<2024-12-25 Wed>",
    "2024-12-25 Mon": "<2024-12-25 Wed>",
    "2024-12-25 10:00": "<2024-12-25 Wed 10:00>",
    "2024-12-25 Wed 9:05": "<2024-12-25 Wed 09:05>",
    "2024-12-25 10:00-11:30": "<2024-12-25 Wed 10:00-11:30>",
    "2024-12-25 +1w": "<2024-12-25 Wed +1w>",
    "<2024-12-25 Wed 10:00 ++1m -2d>": "<2024-12-25 Wed 10:00 ++1m -2d>",
    "2024-12-25 .+1d": "<2024-12-25 Wed .+1d>",
    "2024-12-25 -3d": "<2024-12-25 Wed -3d>",
    " 2024-02-29 ": "<2024-02-29 Thu>",
}
PLANS |= {
    f"form {number}": Plan({"scheduled": form}, "* A\n", f"* A\nSCHEDULED: {stamp}\n", stamp)
    for number, (form, stamp) in enumerate(FORMS.items())
}


@requirement(
    "org.schedule.uri",
    "org.schedule.scheduled",
    "org.schedule.deadline",
    "org.schedule.remove-scheduled",
    "org.schedule.remove-deadline",
    "org.schedule.returns",
    "org.dates",
    "org.write.bytes",
    "org.write.elsewhere",
    "org.no-ids",
)
@pytest.mark.parametrize("name", PLANS)
def test_dates_are_set_and_removed_as_org_does(edited: Reader, name: str) -> None:
    case = PLANS[name]

    answer = told(schedule(edited, f"org://{name}.org/headline/A", **case.arguments))

    assert (answer["success"], answer["scheduled"], answer["deadline"]) == (True, case.scheduled, case.deadline)
    assert answer["scheduledDate"] == (case.scheduled and case.scheduled[1:11])
    assert answer["deadlineDate"] == (case.deadline and case.deadline[1:11])
    assert content(edited, f"{name}.org") == case.after


BAD = ["tomorrow", "2024-13-40", "", "25.12.2024", "2024-12-25 25:00", "2024-02-30", "20241225", "<2024-12-25", "+1w"]


@pytest.fixture
def plainly(anew: Anew) -> Reader:
    """A server of a few plain tasks."""
    return anew(
        {
            "a.org": "* TODO A\nText.\n* TODO B\n",
            "dated.org": "* A\nDEADLINE: <2024-12-25 Wed> SCHEDULED: <2024-12-24 Tue>\n",
            "noted.org": "#+TODO: TODO | DONE(d@)\n* TODO A\n",
        }
    )


@requirement("org.dates.bad", "org.errors")
def test_what_is_no_date_is_an_error_that_shows_the_form(plainly: Reader) -> None:
    answers = [
        fault(schedule(plainly, "org://dated.org/headline/A", **{kind: given}))
        for given in BAD
        for kind in ("scheduled", "deadline")
    ]

    assert {one["error"] for one in answers} == {"Invalid argument"}
    assert [one["message"] for one in answers if "YYYY-MM-DD" not in one["message"]] == []
    assert content(plainly, "dated.org") == "* A\nDEADLINE: <2024-12-25 Wed> SCHEDULED: <2024-12-24 Tue>\n"


@requirement("org.dates.bad", "org.errors", "org.schedule.remove-scheduled", "org.schedule.remove-deadline")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"removeScheduled": False},
        {"scheduled": "2024-01-01", "removeScheduled": True},
        {"deadline": "2024-01-01", "removeDeadline": True},
        {"scheduled": "2024-01-01", "deadline": "soon"},
    ],
)
def test_nothing_is_changed_if_part_of_it_cannot_be(plainly: Reader, arguments: Json) -> None:
    answer = fault(schedule(plainly, "org://a.org/headline/A", **arguments))

    assert answer["error"] == "Invalid argument"
    assert content(plainly) == "* TODO A\nText.\n* TODO B\n"


# compare and set


@requirement("org.update.current", "org.update.mismatch", "org.errors")
@pytest.mark.parametrize(("path", "actual", "expected"), [("A", "TODO", "DONE"), ("A", "TODO", ""), ("B", "", "TODO")])
def test_another_state_is_a_mismatch_and_nothing_is_written(anew: Anew, path: str, actual: str, expected: str) -> None:
    reader = anew({"a.org": "* TODO A\n* B\n"})
    before = (reader.folder / "a.org").stat()

    answer = fault(set_state(reader, f"org://a.org/headline/{path}", expected, "DONE"))
    after = (reader.folder / "a.org").stat()

    assert answer.keys() == {"error", "message", "actualState", "expectedState"}
    assert (answer["error"], answer["actualState"], answer["expectedState"]) == ("State mismatch", actual, expected)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@requirement("org.update.new", "org.errors")
@pytest.mark.parametrize("state", ["NONSENSE", "done", "TODO DONE", "DONE\n* Injected", ":x:", "|"])
def test_state_must_be_one_of_the_file(plainly: Reader, state: str) -> None:
    answer = fault(set_state(plainly, "org://a.org/headline/A", "TODO", state))

    assert answer["error"] == "Invalid argument"
    assert "TODO" in answer["message"]
    assert "DONE" in answer["message"]
    assert content(plainly) == "* TODO A\nText.\n* TODO B\n"


@requirement("org.update.uri", "org.errors")
@pytest.mark.parametrize(
    ("uri", "error"),
    [
        ("org://a.org/headline/Absent", "Not found"),
        ("org://absent.org/headline/A", "Not found"),
        ("org-id://absent", "Not found"),
        ("org://a.org", "Invalid argument"),
        ("org://a.org/outline", "Invalid argument"),
        ("", "Not found"),
    ],
)
def test_edit_of_what_is_no_headline_is_an_error(plainly: Reader, uri: str, error: str) -> None:
    assert fault(set_state(plainly, uri, "TODO", "DONE"))["error"] == error
    assert fault(schedule(plainly, uri, scheduled="2024-01-01"))["error"] == error


@requirement("org.update.uri", "org.uri.accepted", "org.uri.nth")
def test_every_spelling_of_a_headline_is_edited(org: Start) -> None:
    text = f"* Same\n* Same\n* A/B \\ ..\n* Known\n{IDENTIFIED}* \n"
    reader = org({"sub/a.org": text})

    for uri in (
        "org://sub/a.org/headline/Same?n=2",
        "org-headline://a.org#A%2FB%20%5C%20..",
        "org-id://11111111-2222-4333-8444-555555555555",
        "org://sub/a.org/headline/",
    ):
        assert told(set_state(reader, uri, "", "TODO"))["newState"] == "TODO"

    assert content(reader, "sub/a.org") == (
        f"* Same\n* TODO Same\n* TODO A/B \\ ..\n* TODO Known\n{IDENTIFIED}* TODO \n"
    )


@requirement("org.note", "org.update.new")
def test_note_may_be_left_out_where_a_state_wants_one(plainly: Reader) -> None:
    told(set_state(plainly, "org://noted.org/headline/A", "TODO", "DONE"))

    assert content(plainly, "noted.org").startswith("#+TODO: TODO | DONE(d@)\n* DONE A\n")


@requirement("org.write.bytes")
@pytest.mark.parametrize("mark", [".+", "++"])
def test_repeater_that_catches_up_leads_into_the_future(anew: Anew, mark: str) -> None:
    reader = anew({"a.org": f"* TODO A\nSCHEDULED: <2024-06-10 Mon {mark}1d>\n"})
    today = date.today()

    told(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))

    days = {(today + timedelta(days=ahead)).strftime("%Y-%m-%d %a") for ahead in (1, 2)}  # midnight may pass
    assert re.search(r"SCHEDULED: <(\S+ \S+) ", content(reader))[1] in days  # type: ignore[index]


# settings

SETTINGS: dict[str, tuple[list[str], str, str]] = {
    "log done": (["--org-log-done", "time"], "* TODO A\n", "* DONE A\nCLOSED: [NOW]\n"),
    "log nothing": (["--org-log-done", "none"], "* TODO A\n", "* DONE A\n"),
    "log by variable": (["--org-set", "org-log-done=time"], "* TODO A\n", "* DONE A\nCLOSED: [NOW]\n"),
    "no alignment": (["--org-set", "org-auto-align-tags=nil"], "* TODO A  :x:\n", "* DONE A  :x:\n"),
    "column": (["--org-set", "org-tags-column=20"], "* TODO A :x:\n", "* DONE A            :x:\n"),
    "no column": (["--org-set", "org-tags-column=0"], "* TODO A     :x:\n", "* DONE A :x:\n"),
    "drawer": (
        ["--org-set", "org-log-into-drawer=t"],
        "#+TODO: TODO | DONE(d!)\n* TODO A\n",
        '#+TODO: TODO | DONE(d!)\n* DONE A\n:LOGBOOK:\n- State "DONE"       from "TODO"       [NOW]\n:END:\n',
    ),
    "drawer of a name": (
        ["--org-set", 'org-log-into-drawer="HISTORY"'],
        "#+TODO: TODO | DONE(d!)\n* TODO A\n",
        '#+TODO: TODO | DONE(d!)\n* DONE A\n:HISTORY:\n- State "DONE"       from "TODO"       [NOW]\n:END:\n',
    ),
    "repeat unlogged": (
        ["--org-set", "org-log-repeat=nil"],
        "* TODO A\nSCHEDULED: <2024-06-10 Mon +1w>\n",
        "* TODO A\nSCHEDULED: <2024-06-17 Mon +1w>\n",
    ),
    "two settings": (
        ["--org-set", "org-log-done=time", "--org-set", "org-auto-align-tags=nil"],
        "* TODO A :x:\n",
        "* DONE A :x:\nCLOSED: [NOW]\n",
    ),
    "keywords": (
        ["--org-todo-keywords", "type: TODO | DONE(d!)"],
        "* TODO A\n",
        '* DONE A\n- State "DONE"       from "TODO"       [NOW]\n',
    ),
}


@requirement("org.write.settings", "org.setting.set", "org.setting.keywords", "org.defaults")
@pytest.mark.parametrize("name", SETTINGS)
def test_what_org_leaves_is_a_matter_of_settings(org: Start, name: str) -> None:
    options, before, after = SETTINGS[name]
    reader = org({"a.org": before}, *options)

    told(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))

    assert content(reader) == after


# bytes


GERMAN = b"Der M\xfcller f\xe4hrt \xfcber die Br\xfccke.\n" * 50
CODINGS: dict[str, bytes] = {
    "windows": b"#+TITLE: x\r\n* TODO A\r\nText.\r\n",
    "mark": b"\xef\xbb\xbf* TODO A\n",
    "mark-windows": b"\xef\xbb\xbf* TODO A\r\n",
    "latin": b"* TODO A\nCaf\xe9 cr\xe8me.\n",
    "latin-windows": b"# -*- coding: latin-1 -*-\r\n* TODO A\r\n\xfc\r\n",
    "long-latin": b"* TODO A\n" + GERMAN,
    "wide": "\ufeff* TODO A\nü\n".encode("utf-16-le"),
    "unicode": "* TODO A\nü 日本 \U0001f40b \u2028 \u0085 \x0c\n".encode(),
    "decomposed": "* TODO A\n* o\u0308 \u00f6\n".encode(),
}


@requirement("org.write.elsewhere", "org.write.bytes")
def test_line_ends_mark_and_coding_survive(anew: Anew) -> None:
    reader = anew({f"{name}.org": before for name, before in CODINGS.items()})

    for name in CODINGS:
        told(set_state(reader, f"org://{name}.org/headline/A", "TODO", "DONE"))

    assert {name: (reader.folder / f"{name}.org").read_bytes() for name in CODINGS} == {
        name: before.replace(b"TODO", b"DONE").replace(b"T\0O\0D\0O\0", b"D\0O\0N\0E\0")
        for name, before in CODINGS.items()
    }


@requirement("org.write.elsewhere")
def test_new_lines_end_as_the_others_do(anew: Anew) -> None:
    reader = anew({"a.org": "* TODO A\r\nText.\r\n"})

    told(schedule(reader, "org://a.org/headline/A", scheduled="2024-12-25"))

    assert content(reader) == "* TODO A\r\nSCHEDULED: <2024-12-25 Wed>\r\nText.\r\n"


@requirement("org.write.elsewhere", "org.errors")
def test_note_that_the_coding_cannot_hold_is_refused(anew: Anew) -> None:
    before = b"#+TODO: TODO | DONE(d@)\n* TODO A\nCaf\xe9.\n"
    reader = anew({"a.org": before})

    answer = fault(set_state(reader, "org://a.org/headline/A", "TODO", "DONE", note="日本"))

    assert answer["error"] == "Invalid argument"
    assert (reader.folder / "a.org").read_bytes() == before


@requirement("org.write.elsewhere", "org.errors", "model.bad-file.others")
def test_file_that_is_no_text_is_never_written(anew: Anew) -> None:
    before = b"* TODO A\n\0\xff\xfe\n" * 20
    reader = anew({"a.org": before, "b.org": "* TODO B\n"})

    answer = fault(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))

    assert "a.org" in answer["message"] or "text" in answer["message"]
    assert (reader.folder / "a.org").read_bytes() == before


# files


@requirement("org.write.swap")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o666])
def test_mode_is_kept_and_nothing_is_left_beside(anew: Anew, mode: int) -> None:
    reader = anew({"a.org": "* TODO A\n"})
    (reader.folder / "a.org").chmod(mode)

    told(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))

    assert (reader.folder / "a.org").stat().st_mode & 0o7777 == mode
    assert names(reader) == ["a.org"]


@requirement("org.write.swap")
def test_file_is_swapped_and_never_seen_half_written(anew: Anew) -> None:
    reader = anew({"a.org": "* TODO A\n"})
    with open(reader.folder / "a.org") as old:
        told(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))

        assert (old.read(), content(reader)) == ("* TODO A\n", "* DONE A\n")


@requirement("org.write.swap")
def test_link_is_followed_and_stays_one(org: Start, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"real/a.org": "* TODO A\n"})
    (folder / "link.org").symlink_to("real/a.org")
    reader = org({})

    told(set_state(reader, "org://link.org/headline/A", "TODO", "DONE"))

    assert (folder / "link.org").readlink() == Path("real/a.org")
    assert content(reader, "real/a.org") == "* DONE A\n"


@requirement("org.write.changed", "org.update.mismatch")
def test_file_that_changed_since_it_was_read_is_read_again(anew: Anew) -> None:
    reader = anew({"a.org": "* TODO A\n"})
    reader.text("org://a.org/headline/A")

    write(reader.folder, {"a.org": "New first line.\n* TODO A\n"})
    told(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))
    edited = content(reader)
    write(reader.folder, {"a.org": "* NEXT A\n* DONE B\n"})
    answer = fault(set_state(reader, "org://a.org/headline/B", "TODO", "DONE"))

    assert edited == "New first line.\n* DONE A\n"
    assert answer["actualState"] == "DONE"
    assert content(reader) == "* NEXT A\n* DONE B\n"


@requirement("org.write.changed")
def test_file_that_is_gone_is_an_error(anew: Anew) -> None:
    reader = anew({"a.org": "* TODO A\n", "b.org": "* TODO B\n"})
    reader.text("org://a.org")

    (reader.folder / "a.org").unlink()

    assert fault(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))["error"] == "Not found"
    assert names(reader) == ["b.org"]


# locks of Emacs


def gone() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@requirement("org.write.locked", "org.errors")
@pytest.mark.parametrize("kind", ["link", "file"])
@pytest.mark.parametrize("owner", ["here", "here since boot", "elsewhere", "unclear"])
def test_lock_of_emacs_keeps_a_file_as_it_is(anew: Anew, kind: str, owner: str) -> None:
    reader = anew({"a.org": "* TODO A\n"})
    host = socket.gethostname()
    told_by = {
        "here": f"me@{host}.{os.getpid()}",
        "here since boot": f"me@{host}.{os.getpid()}:1700000000",
        "elsewhere": f"you@far.example.{gone()}:1700000000",
        "unclear": "?",
    }[owner]
    lock = reader.folder / ".#a.org"
    lock.symlink_to(told_by) if kind == "link" else lock.write_text(told_by)

    answers = [
        fault(set_state(reader, "org://a.org/headline/A", "TODO", "DONE")),
        fault(schedule(reader, "org://a.org/headline/A", scheduled="2024-01-01")),
    ]

    assert [one["error"] for one in answers] == ["Conflict", "Conflict"]
    assert all("a.org" in one["message"] and "Emacs" in one["message"] for one in answers)
    assert content(reader) == "* TODO A\n"
    assert names(reader) == [".#a.org", "a.org"]


@requirement("org.write.stale-lock")
@pytest.mark.parametrize("boot", ["", ":1700000000"])
def test_lock_of_a_process_that_is_gone_is_ignored(anew: Anew, boot: str) -> None:
    reader = anew({"a.org": "* TODO A\n"})
    (reader.folder / ".#a.org").symlink_to(f"me@{socket.gethostname()}.{gone()}{boot}")

    told(set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))

    assert content(reader) == "* DONE A\n"


@requirement("org.write.locked")
def test_lock_beside_the_target_of_a_link_counts(org: Start, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"real/a.org": "* TODO A\n"})
    (folder / "link.org").symlink_to("real/a.org")
    (folder / "real/.#a.org").symlink_to("you@far.example.1")
    reader = org({})

    assert fault(set_state(reader, "org://link.org/headline/A", "TODO", "DONE"))["error"] == "Conflict"


# many writers


@requirement("org.write.changed", "org.update.current")
def test_edits_at_once_lose_nothing(anew: Anew) -> None:
    count = 24
    reader = anew({"a.org": "".join(f"* TODO Task {number}\n" for number in range(count))})

    def finish(number: int) -> Json:
        return told(set_state(reader, f"org://a.org/headline/Task%20{number}", "TODO", "DONE"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(finish, range(count)))

    assert content(reader) == "".join(f"* DONE Task {number}\n" for number in range(count))


@requirement("org.write.changed", "org.update.current", "org.update.mismatch")
def test_of_two_who_take_a_task_one_gets_it(anew: Anew) -> None:
    reader = anew({"a.org": "* TODO A\n"})

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: set_state(reader, "org://a.org/headline/A", "TODO", "DONE"), range(6)))

    assert sorted(answer.error for answer in answers) == [False, True, True, True, True, True]


@requirement("org.write.changed", "org.update.current")
def test_two_servers_and_a_command_at_once_lose_nothing(org: Start, portal: BlockingPortal, tmp_path: Path) -> None:
    count = 8
    text = "".join(f"* TODO Task {number}\nText.\n" for number in range(3 * count))
    first = org({"a.org": text})
    arguments = (first.folder, "--face", "org", "--store", tmp_path / "store-0")

    def finish(reader: Reader, start: int) -> None:
        for number in range(start, start + count):
            told(set_state(reader, f"org://a.org/headline/Task%20{number}", "TODO", "DONE"))

    def command_line() -> None:
        for number in range(2 * count, 3 * count):
            words = ("org", "todo", f"org://a.org/headline/Task%20{number}", "DONE", "--store", tmp_path / "store-0")
            subprocess.run(
                command(*words), check=True, capture_output=True, env={**os.environ, "BOOKWHEEL_EMBEDDER": "none"}
            )

    first.resources()
    with serving(portal, first.folder, tmp_path / "log", *arguments) as second, ThreadPoolExecutor(3) as pool:
        work = [pool.submit(finish, first, 0), pool.submit(finish, second, count), pool.submit(command_line)]
        for one in work:
            one.result()

    assert content(first) == text.replace("TODO", "DONE")


@requirement("org.write.changed")
def test_program_that_swaps_the_file_all_the_time_loses_nothing(anew: Anew) -> None:
    """A writer that is not ours replaces a line of its own, by a swap, while ours is edited."""
    reader = anew({"a.org": "0\n* TODO A\n"})
    place, other, stop = reader.folder / "a.org", reader.folder / "other", threading.Event()
    written = 0

    def busy() -> None:
        nonlocal written
        while not stop.is_set():
            before = place.read_text()
            other.write_text(f"{written + 1}\n{before.partition(chr(10))[2]}")
            if place.read_text() == before:
                other.replace(place)
                written += 1

    writer = threading.Thread(target=busy)
    writer.start()
    answers = [set_state(reader, "org://a.org/headline/A", state, new) for state, new in [("TODO", "DONE")] * 3]
    stop.set()
    writer.join()

    assert all(not one.error or fault(one)["error"] in {"Conflict", "State mismatch"} for one in answers)
    assert re.fullmatch(r"\d+\n\* (TODO|DONE) A\n", content(reader))


# read-only


@requirement("org.read-only", "composed.read-only")
def test_read_only_has_no_tool_that_writes(org: Start, era: str) -> None:
    reader = org({"a.org": "* TODO A\n"}, "--read-only", era=era)

    tools = [plain(tool) for tool in reader.portal.call(reader.client.list_tools).tools]
    error = reader.refusal(lambda: set_state(reader, "org://a.org/headline/A", "TODO", "DONE"))

    assert {tool["name"] for tool in tools} == {
        "org-search-headlines",
        "org-get-todos",
        "org-search-content",
        "org-get-properties",
        "org-get-todo-config",
        "org-get-tag-config",
    }
    assert {tool["annotations"]["readOnlyHint"] for tool in tools} == {True}
    assert "org-update-todo-state" in error.message
    assert content(reader) == "* TODO A\n"


# who hears of it


@pytest.fixture(params=ERAS)
def heard(request: pytest.FixtureRequest, org: Start, stack: ExitStack) -> Reader:
    """A server with a client that hears of changes, in each era."""
    reader = org({"a.org": "* TODO A\n* TODO B\n"}, era=request.param)
    if request.param == "modern":
        stack.enter_context(listening(reader))
    reader.resources()
    return reader


@requirement("model.list-changed", "org.update.success", "org.resources.listed")
def test_edit_is_told_and_seen_at_once(heard: Reader) -> None:
    told(set_state(heard, "org://a.org/headline/A", "TODO", "DONE"))

    assert found(heard.call("org-get-todos", states=["DONE"])) == ["A"]
    assert heard.text("org://a.org/headline/A") == "* DONE A\n"
    heard.await_change(lambda: True)


@requirement("model.list-changed", "org.resources.listed")
def test_added_changed_and_removed_files_are_told(heard: Reader) -> None:
    def listed(name: str) -> bool:
        return f"org://{name}" in [one["uri"] for one in heard.resources()]

    write(heard.folder, {"sub/b.org": "* TODO New\n"})
    heard.await_change(lambda: listed("sub/b.org"))
    assert found(heard.call("org-get-todos", files=["b.org"])) == ["New"]
    (heard.folder / "a.org").unlink()
    heard.await_change(lambda: not listed("a.org"))
    eventually(lambda: found(heard.call("org-get-todos")), ["New"])
