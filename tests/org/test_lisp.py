"""Lisp values are read as data, and settings are made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.errors import Invalid
from bookwheel.org.lisp import Pair, Symbol, Value, read, show
from bookwheel.org.outline import parse
from bookwheel.org.settings import Settings, assign
from bookwheel.org.todo import keywords_of, parse_option

atoms = st.none() | st.just(True) | st.integers() | st.text() | st.sampled_from(["time", "a-b"]).map(Symbol)
values = st.recursive(atoms, lambda inner: st.lists(inner, min_size=1).map(tuple), max_leaves=8)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("t", True),
        (" nil ", None),
        ("()", None),
        ("77", 77),
        ("-77", -77),
        ("?w", 119),
        ('"a \\"b\\" \\\\"', 'a "b" \\'),
        ("time", Symbol("time")),
        ("'time", Symbol("time")),
        ('(("work" . ?w) ("home"))', (Pair("work", 119), ("home",))),
        ('("a" . ("b"))', ("a", "b")),
        ('(sequence "TODO(t!)" "|" "DONE")', (Symbol("sequence"), "TODO(t!)", "|", "DONE")),
    ],
)
def test_a_literal_is_read_as_data(text: str, value: Value) -> None:
    assert read(text) == value


@pytest.mark.parametrize("text", ["", "(", ")", "(a", "t t", '"open', "(a . b c)", "(" * 500])
def test_what_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        read(text)


@given(values)
def test_a_value_that_is_shown_is_read_again(value: Value) -> None:
    assert read(show(value)) == value


def test_an_association_list_is_shown_as_lisp_shows_it() -> None:
    assert show(read('(("work" . ?w) (:newline) ("home"))')) == '(("work" . 119) (:newline) ("home"))'


def test_a_setting_is_named_after_its_variable() -> None:
    assert assign(Settings(), "org-log-done=time") == Settings(log_done=Symbol("time"))


@pytest.mark.parametrize("assignment", ["org-log-doen=t", "org-log-done", "log_done=t"])
def test_an_unknown_setting_is_refused(assignment: str) -> None:
    with pytest.raises(Invalid, match="is no setting; there are org-todo-keywords"):
        assign(Settings(), assignment)


def test_keywords_can_be_given_in_one_line() -> None:
    keywords = keywords_of(parse_option("TODO(t) NEXT | DONE; type: BUG FEATURE | FIXED"))

    assert [(one.kind, one.names, one.done) for one in keywords.sequences] == [
        ("sequence", ("TODO", "NEXT", "DONE"), ("DONE",)),
        ("type", ("BUG", "FEATURE", "FIXED"), ("FIXED",)),
    ]
    assert keywords.sequences[0].keys == {"TODO": "t"}


def test_no_keywords_are_none_at_all() -> None:
    outline = parse("* TODO a\n", Settings(todo_keywords=parse_option("")))

    assert (outline.todo.names, outline.headlines[0].title) == ((), "TODO a")


def test_a_missing_bar_is_shown_before_the_last_keyword() -> None:
    assert keywords_of(read('((sequence "A" "B"))')).sequences[0].shown == ("A", "|", "B")
