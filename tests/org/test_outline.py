"""An outline answers by line, position and ID, and gives every part of an entry as the file has it."""

from __future__ import annotations

from datetime import date, time

import pytest

from bookwheel.org.outline import parse

TEXT = """\
Before.
* House [1/2]
** DONE Roof
CLOSED: [2026-11-03 Tue 16:45] DEADLINE: <2026-11-04 Wed 18:00 +1w -2d>
:PROPERTIES:
:ID: roof-1
:END:
:LOGBOOK:
- State "DONE"       from "TODO"       [2026-11-03 Tue 16:45]
:END:
Text about ID: roof-1 and :ID: roof-2.

*** Slate
** TODO Walls
:PROPERTIES:
:ID: roof-2
:END:
"""


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_parts_of_an_entry_are_what_the_file_has(ending: str) -> None:
    outline = parse("\ufeff" + TEXT.replace("\n", ending))

    roof = outline.headlines[1]

    assert roof.body.startswith(":LOGBOOK:\n")
    assert roof.body.endswith("roof-2.\n\n")
    assert roof.logbook.count("\n") == 2
    assert roof.source == TEXT[TEXT.index("** DONE") : TEXT.index("** TODO")].replace("\n", ending)
    assert outline.headlines[0].cookies == ["[1/2]"]
    assert [headline.line_number for headline in outline.headlines] == [2, 3, 13, 14]


def test_a_tree_knows_its_family() -> None:
    house, roof, slate, walls = parse(TEXT).headlines

    assert (house.children, house.parent, slate.ancestors) == ([roof, walls], None, [house, roof])
    assert (list(house.tree), house.last, roof.last) == ([roof, slate, walls], walls, slate)
    assert parse(TEXT).top[0].title == "House [1/2]"


def test_a_headline_is_found_by_line_and_position() -> None:
    outline = parse(TEXT)

    assert [outline.at_line(number) for number in (1, 2, 11)] == [None, *outline.headlines[:2]]
    assert [outline.at(TEXT.index(word)) for word in ("Before", "Text", "Slate")] == [None, *outline.headlines[1:3]]


def test_a_headline_is_found_by_its_id() -> None:
    outline = parse(TEXT)

    assert outline.by_id("roof-1") is outline.headlines[1]
    assert outline.by_id("roof-2") is outline.headlines[3]
    assert outline.by_id("roof") is None


def test_dates_are_values_too() -> None:
    deadline = parse(TEXT).headlines[1].timestamp("DEADLINE")

    assert deadline
    assert (deadline.date, deadline.time, deadline.repeater, deadline.warning) == (
        date(2026, 11, 4),
        time(18, 0),
        "+1w",
        "-2d",
    )
    assert parse("* a\nSCHEDULED: <%%(diary-float t 5 1)>\n").headlines[0].timestamp("SCHEDULED") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TODO", "DONE"),
        ("ITEM", "Roof"),
        ("DEADLINE", "<2026-11-04 Wed 18:00 +1w -2d>"),
        ("TAGS", None),
        ("id", "roof-1"),
    ],
)
def test_what_is_no_property_can_be_asked_for_like_one(name: str, value: str | None) -> None:
    assert parse(TEXT).headlines[1].value(name) == value


def test_a_file_without_a_name_has_no_category() -> None:
    assert parse("* a\n").headlines[0].category == "???"
    assert parse("* a\n", name="folder/notes.org").headlines[0].category == "notes"
