"""Org files as people keep them, and what the tools say of their headlines."""

from __future__ import annotations

import json
from typing import Any

from contracts.harness import Answer, Files, Json

PLAN_ID = "550e8400-e29b-41d4-a716-446655440000"
TASKS = f"""\
#+TITLE: Tasks
#+TODO: TODO(t) NEXT(n!) WAIT(w@/!) | DONE(d) CANCELLED(c@)
#+FILETAGS: :home:
Told before the first headline: an albatross.

* Project Alpha :work:
** TODO [#A] Write the plan :urgent:
SCHEDULED: <2024-06-10 Mon +1w> DEADLINE: <2024-06-20 Thu -2d>
:PROPERTIES:
:ID:       {PLAN_ID}
:Effort:   1:30
:END:
The narwhal swims past the plan.
*** Detail
A small narwhal.
** NEXT Call the harbour
DEADLINE: <2024-07-01 Mon 10:00>
** DONE Weigh anchor
CLOSED: [2024-05-02 Thu 09:00] SCHEDULED: <2024-05-01 Wed>
* WAIT Wind :weather:
Nothing but a NARWHAL, and narwhal again.
"""
ODD = """\
* Q4/Q1 plan? 100% [x] ü #1
Slashes.
** Back\\slash\\..\\..\\etc
Backslashes.
** ../../etc/passwd
Dots.
* Same
First.
* Same
Second.
** Child
Of the second.
* Same
Third.
*\x20
Nothing.
** Below nothing
Deep.
* COMMENT Quiet
A hushed walrus.
** TODO Under quiet
* Attic :ARCHIVE:
A dusty walrus.
** TODO Old task
* TODO [#B] *Bold* and [[https://example.org][a link]] :a:b:
* One
*** Three
***** Five
"""
KINDS = """\
#+TYP_TODO: BUG FEATURE | FIXED
#+SEQ_TODO: DRAFT(d!) SENT
* BUG It leaks
* FIXED It leaked
* DRAFT A letter
* SENT Another letter
* TODO is no keyword here
"""
LIBRARY: Files = {
    "tasks.org": TASKS,
    "odd.org": ODD,
    "kinds.org": KINDS,
    "sub/deep/lonely.org": "* Lonely\nA pangolin.\n",
    "one/twin.org": "* First twin\n",
    "two/twin.org": "* Second twin\n",
    "sub folder/my file[1] ü #.org": "* Odd name\nA quokka.\n",
    "id/inner.org": "* Inside id\n",
    "config/inner.org": "* Inside config\n",
    "tasks.org_archive": "* DONE Archived long ago\n",
    "readme.md": "# No Org\n\n* TODO a list\n",
}
PLAN: Json = {
    "heading": "Write the plan",
    "todo": {"state": "TODO", "type": "todo", "isFinal": False, "sequenceType": "sequence"},
    "priority": "A",
    "tags": ["home", "work", "urgent"],
    "scheduled": "<2024-06-10 Mon +1w>",
    "deadline": "<2024-06-20 Thu -2d>",
    "scheduledDate": "2024-06-10",
    "deadlineDate": "2024-06-20",
    "resourceUri": "org://tasks.org/headline/Project%20Alpha/Write%20the%20plan",
    "orgId": PLAN_ID,
    "idUri": f"org://id/{PLAN_ID}",
    "file": "tasks.org",
    "level": 2,
}
WIND: Json = {
    "heading": "Wind",
    "todo": {"state": "WAIT", "type": "todo", "isFinal": False, "sequenceType": "sequence"},
    "priority": None,
    "tags": ["home", "weather"],
    "scheduled": None,
    "deadline": None,
    "resourceUri": "org://tasks.org/headline/Wind",
    "file": "tasks.org",
    "level": 1,
}


def rows(answer: Answer) -> list[Json]:
    """Return what a search found: an array as text, and the same as data."""
    assert not answer.error, answer.text
    found: list[Json] = json.loads(answer.text)
    assert answer.data == {"result": found}
    return found


def found(answer: Answer) -> list[str]:
    """Return the headings of what a search found."""
    return [one["heading"] for one in rows(answer)]


def told(answer: Answer) -> Json:
    """Return what a tool said: an object as text, and the same as data."""
    assert not answer.error, answer.text
    assert json.loads(answer.text) == answer.data
    assert answer.data is not None
    return answer.data


def fault(answer: Answer) -> Json:
    """Return the error that a tool answered with: an object as text, and the same as data."""
    assert answer.error, answer.text
    assert json.loads(answer.text) == answer.data
    assert answer.data is not None
    assert {"error", "message"} <= answer.data.keys()
    assert all(isinstance(answer.data[key], str) and answer.data[key] for key in ("error", "message"))
    return answer.data


def outline(*headings: tuple[str, int, list[Any]]) -> list[Json]:
    """Return headings as the contract's objects."""
    return [{"title": title, "level": level, "children": outline(*below)} for title, level, below in headings]
