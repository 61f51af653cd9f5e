"""Answers within a budget of tokens: how texts are counted, and where they are cut."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bookwheel.budget import count, cut

SENTENCES = ("The wheel turns.", "Does it stop?", "It does not!", "Each shelf stays level.", "So do the books.")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("four words of text", 5),
        ("é" * 8, 2),
        ("索引", 2),
        ("全文検索の索引", 7),
        ("책바퀴", 3),
        ("หนังสือ", 7),
        ("本 book", 3),
    ],
)
def test_letters_count_by_four_and_wide_characters_one_by_one(text: str, tokens: int) -> None:
    assert count(text) == tokens


@given(st.text(max_size=400), st.integers(0, 120))
@example("a" * 50, 3)
@example("本" * 50, 3)
@example("a本" * 50, 3)
@example("本" * 20 + "a" * 400, 30)
@example("a" * 400 + "本" * 20, 101)
@example("One. " * 40, 0)
def test_what_is_kept_begins_the_text_and_is_never_over_the_budget(text: str, tokens: int) -> None:
    kept = cut(text, tokens)

    assert text.startswith(kept)
    assert count(kept) <= tokens


@given(st.text(max_size=400), st.integers(0, 20))
def test_a_text_that_fits_is_untouched(text: str, room: int) -> None:
    assert cut(text, count(text) + room) == text


@given(st.lists(st.sampled_from(SENTENCES), min_size=2, max_size=20), st.integers(6, 60))
def test_only_whole_sentences_are_kept_and_as_many_as_fit(sentences: list[str], tokens: int) -> None:
    beginnings = [" ".join(sentences[:size]) for size in range(len(sentences) + 1)]

    assert cut(" ".join(sentences), tokens) == max((one for one in beginnings if count(one) <= tokens), key=len)


@pytest.mark.parametrize(
    ("text", "tokens", "kept"),
    [
        ("One two. Three four five.", 2, "One two."),
        ("One two. Three four five.", 4, "One two."),
        ('He said "stop." Then he went.', 5, 'He said "stop."'),
        ("Release 2.4.1 mends it. More follows here.", 7, "Release 2.4.1 mends it."),
        ("一二三。四五六。", 5, "一二三。"),
        ("# Anchor\n\nAn anchor holds.\n", 5, "# Anchor"),
        ("List:\n- one item\n- another item\n", 6, "List:\n- one item"),
        ("1. first\n2. second of them\n", 5, "1. first"),
    ],
)
def test_a_text_is_cut_where_a_sentence_ends(text: str, tokens: int, kept: str) -> None:
    assert cut(text, tokens) == kept


@pytest.mark.parametrize(
    ("text", "tokens", "kept"),
    [
        ("alpha beta gamma delta", 3, "alpha beta"),
        ("alpha beta gamma delta", 4, "alpha beta gamma"),
        ("ab cdefg hij", 2, "ab cdefg"),
        ("unbroken" * 10, 2, "unbroken"),
        ("本" * 10, 4, "本本本本"),
        ("alpha beta", 0, ""),
    ],
)
def test_a_sentence_that_is_too_long_is_cut_where_a_word_ends(text: str, tokens: int, kept: str) -> None:
    assert cut(text, tokens) == kept
