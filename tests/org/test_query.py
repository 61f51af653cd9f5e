"""Headlines are chosen by what they are like."""

from __future__ import annotations

from datetime import date

import pytest

from bookwheel.errors import Invalid
from bookwheel.org.outline import parse, todo_of
from bookwheel.org.query import Criteria, Span, read_span, select

TEXT = """\
#+TODO: TODO NEXT | DONE
#+TYP_TODO: Fred | Finished
* Garden :outside:
** TODO [#A] Dig the pond
SCHEDULED: <2026-11-16 Mon>
** DONE Plant roses :flowers:
CLOSED: [2026-11-01 Sun] DEADLINE: <2026-11-02 Mon>
:PROPERTIES:
:Owner: Agnes
:END:
*** NEXT Water them
* Old :ARCHIVE:
** TODO Forgotten
* COMMENT Draft
** Fred Hidden
"""


@pytest.mark.parametrize(
    ("criteria", "titles"),
    [
        (Criteria(text="DIG"), ["Dig the pond"]),
        (Criteria(text="DIG", exact_case=True), []),
        (Criteria(todo=True, archived=False), ["Dig the pond", "Plant roses", "Water them"]),
        (Criteria(states=frozenset({"NEXT", "Fred"})), ["Water them", "Hidden"]),
        (Criteria(done=True), ["Plant roses"]),
        (Criteria(tags=frozenset({"outside", "flowers"})), ["Plant roses", "Water them"]),
        (Criteria(tags=frozenset({"outside"}), without_tags=frozenset({"flowers"})), ["Garden", "Dig the pond"]),
        (Criteria(priorities=frozenset("A")), ["Dig the pond"]),
        (Criteria(properties={"owner": "Agnes"}), ["Plant roses", "Water them"]),
        (Criteria(planned={"SCHEDULED": Span(date(2026, 11, 16), date(2026, 11, 16))}), ["Dig the pond"]),
        (Criteria(planned={"DEADLINE": Span(None, date(2026, 11, 1))}), []),
        (Criteria(level=1, archived=False), ["Garden"]),
    ],
)
def test_headlines_are_chosen(criteria: Criteria, titles: list[str]) -> None:
    assert [headline.title for headline in select(parse(TEXT), criteria)] == titles


def test_a_span_is_read_from_iso_dates() -> None:
    assert read_span("2026-11-16", None) == Span(date(2026, 11, 16), None)
    with pytest.raises(Invalid, match="YYYY-MM-DD"):
        read_span("soon", None)


def test_a_state_tells_its_kind() -> None:
    outline = parse(TEXT)

    found = [todo_of(headline) for headline in outline.headlines]

    assert [(todo.state, todo.done, todo.kind) for todo in found if todo] == [
        ("TODO", False, "sequence"),
        ("DONE", True, "sequence"),
        ("NEXT", False, "sequence"),
        ("TODO", False, "sequence"),
        ("Fred", False, "type"),
    ]
