"""What holds for every text: nothing is lost, an edit touches what it must, and a state set back is the file again."""

from __future__ import annotations

from datetime import datetime
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.errors import Conflict, Invalid
from bookwheel.org.outline import Headline, parse
from bookwheel.org.schedules import schedule, unschedule
from bookwheel.org.settings import Settings, assign
from bookwheel.org.states import StateMismatch, set_todo

NOW = datetime(2026, 11, 15, 10, 0)

anything = st.text(st.sampled_from("* TODNE:#+[]<>-/0129aé紙\t \r\n\ufeff\u2028"), max_size=200)
plain_lines = st.sampled_from(
    [
        "* TODO one",
        "** DONE two",
        "* three",
        "*** TODO four [0/1]",
        "text",
        "",
        "- item",
        "  more",
        ":X:",
        ":END:",
        "#+begin_src",
    ]
)
plain_texts = st.lists(plain_lines, min_size=1, max_size=12).map(
    lambda lines: "* TODO first\n" + "\n".join(lines) + "\n"
)


def changed(before: str, after: str) -> list[str]:
    """Return the lines of *before* that are not in *after*."""
    old, new = before.split("\n"), after.split("\n")
    parts = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [line for tag, start, end, _, _ in parts if tag in ("replace", "delete") for line in old[start:end]]


def first(text: str, *assignments: str) -> Headline:
    settings = Settings()
    for assignment in assignments:
        settings = assign(settings, assignment)
    return parse(text, settings).headlines[0]


@given(anything | st.text())
def test_parse_and_print_is_the_identity(text: str) -> None:
    assert parse(text).source() == text


@given(anything | st.text())
def test_headlines_and_what_is_before_them_are_the_whole_text(text: str) -> None:
    outline = parse(text)

    starts = [*(headline.start for headline in outline.headlines), len(outline.text)]
    pieces = [outline.text[: starts[0]], *(outline.text[h.start : h.entry_end] for h in outline.headlines)]

    assert "".join(pieces) == outline.text


@given(anything)
def test_every_part_of_any_headline_can_be_asked_for(text: str) -> None:
    for headline in parse(text).headlines:
        assert headline.line.startswith("*" * headline.level + " ")
        assert headline.title in headline.line
        assert headline.end >= headline.entry_end > headline.start
        assert set(headline.own_tags) <= set(headline.tags)
        assert headline.scheduled is None or headline.scheduled in headline.planning
        assert all(value.strip() in headline.source for value in headline.properties.values() if "+" not in text)


@given(plain_texts, st.sampled_from(["", "TODO", "DONE"]), st.data())
def test_a_state_changes_its_line_and_the_cookie_above(text: str, state: str, data: st.DataObject) -> None:
    headline = data.draw(st.sampled_from(parse(text).headlines))

    after = set_todo(headline, state, NOW)

    allowed = {headline.line, headline.parent.line if headline.parent else ""}
    assert set(changed(text, after.source)) <= allowed
    assert after.state == state


@given(plain_texts, st.sampled_from(["", "TODO", "DONE"]), st.data())
def test_a_state_set_and_set_back_restores_the_file(text: str, state: str, data: st.DataObject) -> None:
    start = data.draw(st.sampled_from(parse(text).headlines))
    settled = set_todo(start, start.keyword or "", NOW).source  # cookies and blanks as Org leaves them

    there = set_todo(parse(settled).headlines[start.number], state, NOW)
    back = set_todo(parse(there.source).headlines[start.number], there.previous, NOW)

    assert back.source == settled


@given(plain_texts, st.data())
def test_a_date_adds_one_line_and_its_removal_takes_it_away(text: str, data: st.DataObject) -> None:
    headline = data.draw(st.sampled_from(parse(text).headlines))

    there = schedule(headline, "2026-12-24", NOW)
    back = unschedule(parse(there.source).headlines[headline.number], NOW)

    assert changed(text, there.source) == []
    assert back.source == text


@given(anything, anything, st.sampled_from(["TODO", "DONE"]))
def test_any_headline_takes_any_state_and_nothing_before_it_moves(before: str, after: str, state: str) -> None:
    outline = parse(f"{before}\n* {after}")
    headline = outline.headlines[-1]

    edited = set_todo(headline, state, NOW)

    above = headline.parent.start if headline.parent else headline.start
    assert parse(edited.source).text[:above] == outline.text[:above]
    assert edited.state == state


def test_a_state_that_is_not_the_expected_one_is_a_conflict() -> None:
    with pytest.raises(StateMismatch) as caught:
        set_todo(first("* TODO a\n"), "DONE", NOW, expected="NEXT")

    assert caught.value.details == {"expected": "NEXT", "actual": "TODO"}


def test_no_state_is_expected_as_an_empty_one() -> None:
    assert set_todo(first("* a\n"), "TODO", NOW, expected="").source == "* TODO a\n"


def test_a_state_the_file_does_not_have_is_refused() -> None:
    with pytest.raises(Invalid, match="NEXT is no state in this file; there are TODO, DONE"):
        set_todo(first("* TODO a\n"), "NEXT", NOW)


def test_a_task_that_repeats_is_reported_as_open_again() -> None:
    after = set_todo(first("* TODO a\nSCHEDULED: <2026-11-10 Tue +1w>\n"), "DONE", NOW)

    assert (after.previous, after.state) == ("TODO", "TODO")


def test_no_word_of_a_headline_is_lost_where_a_tab_hides_its_keyword() -> None:
    after = set_todo(first("* \tDONE [#A] COMMENT hidden\n"), "TODO", NOW)

    assert after.source == "* TODO DONE [#A] COMMENT hidden\n"


def test_removing_what_is_not_there_changes_nothing() -> None:
    after = unschedule(first("* TODO a"), NOW)

    assert (after.source, after.changed) == ("* TODO a", False)


@pytest.mark.parametrize("date", ["tomorrow", "2024-13-40", "2024-02-30", "+1w", "", "2026-12-24 25:00", "<2026-12-24"])
def test_what_is_no_date_is_refused_with_the_form(date: str) -> None:
    with pytest.raises(Invalid, match="YYYY-MM-DD"):
        schedule(first("* a\n"), date, NOW)


@pytest.mark.parametrize(
    ("date", "stamp"),
    [
        ("2026-12-24", "<2026-12-24 Thu>"),
        ("2026-2-3", "<2026-02-03 Tue>"),
        ("2026-12-24 Thu 10:00", "<2026-12-24 Thu 10:00>"),
        ("2026-12-24T10:00", "<2026-12-24 Thu 10:00>"),
        ("2026-12-24 Mon 9:00-10:30 ++1w -2d", "<2026-12-24 Thu 09:00-10:30 ++1w -2d>"),
        ("<2026-12-24 Do .+1d/3d>", "<2026-12-24 Thu .+1d/3d>"),
    ],
)
def test_a_date_may_have_weekday_time_repeater_and_warning(date: str, stamp: str) -> None:
    assert schedule(first("* a\n"), date, NOW).source == f"* a\nSCHEDULED: {stamp}\n"


def test_a_task_waits_for_its_children_where_that_is_enforced() -> None:
    waiting = first("* TODO a\n** TODO b\n", "org-enforce-todo-dependencies=t")

    with pytest.raises(Conflict, match="b must be done first"):
        set_todo(waiting, "DONE", NOW)


def test_a_task_waits_for_those_before_it_where_order_matters() -> None:
    text = "* a\n:PROPERTIES:\n:ORDERED: t\n:END:\n** TODO b\n** TODO c\n"
    last = parse(text, assign(Settings(), "org-enforce-todo-dependencies=t")).headlines[-1]

    with pytest.raises(Conflict, match="b must be done first"):
        set_todo(last, "DONE", NOW)
