"""The terms of a text: what search can find, and by which words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.index.analysis import LONGEST, STOP_WORDS, analyse, fold, stem, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run runs running", ["run", "run", "run"]),
        ("Index INDEX indexing", ["index", "index", "index"]),
        ("citations", ["citat"]),
        ("library libraries", ["librari", "librari"]),
    ],
)
def test_forms_of_an_english_word_give_one_term(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the lens of a microscope", ["len", "microscop"]),
        ("How do I reset the lens?", ["reset", "len"]),
        ("What is a bookwheel, and why?", ["bookwheel"]),
        ("Where can't I read?", ["read"]),
        ("THE Index", ["index"]),
    ],
)
def test_stop_words_are_left_out(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("text", ["to be or not to be", "what is it", "who", "How?"])
def test_stop_words_are_kept_where_there_is_nothing_else(text: str) -> None:
    found = terms(text)

    assert len(found) == len(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_open_books", ["max_open_books", "max", "open", "book"]),
        ("setGearRatio", ["setgearratio", "set", "gear", "ratio"]),
        ("kebab-case-name", ["kebab-case-name", "kebab", "case", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("parseHTTPResponse", ["parsehttpresponse", "pars", "http", "respons"]),
        ("notes/todo.md", ["notes/todo.md", "note", "todo", "md"]),
        ("src/main.py:42", ["src/main.py:42", "src", "main", "py", "42"]),
        ("2.4.1", ["2.4.1", "2", "4", "1"]),
        ("v2.0", ["v2.0", "v2", "0"]),
        ("E-1042", ["e-1042", "e", "1042"]),
        ("ERR_TOO_LARGE", ["err_too_large", "err", "larg"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        ("node.js", ["node.js", "node", "js"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("someone@example.com", ["someone@example.com", "someon", "exampl", "com"]),
        ("__init__", ["__init__", "init"]),
        ("--store-path", ["store-path", "store", "path"]),
        ("read_file()", ["read_file", "read", "file"]),
    ],
)
def test_an_identifier_gives_itself_whole_and_its_parts(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_c_and_its_descendants_are_told_apart() -> None:
    assert {terms(name)[0] for name in ("C", "C++", "C#")} == {"c", "c++", "c#"}


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Café", "cafe"),
        ("naïve", "naive"),
        ("Straße", "strasse"),
        ("Ångström", "angstrom"),
        ("e\u0301te\u0301", "ete"),
        ("ﬁlm", "film"),
        ("Ｂｏｏｋ", "book"),
        ("İstanbul", "istanbul"),
    ],
)
def test_diacritics_and_typographic_forms_do_not_matter(written: str, typed: str) -> None:
    assert terms(written) == terms(typed)


def test_folding_keeps_the_case() -> None:
    assert fold("Éclair À LA") == "Eclair A LA"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("積読", ["積", "読", "積読"]),
        ("全文検索", ["全", "文", "検", "索", "全文", "文検", "検索"]),
        ("도서관", ["도", "서", "관", "도서", "서관"]),
        ("ガギ", ["ガ", "ギ", "ガギ"]),
        ("日本語python3", ["日", "本", "語", "日本", "本語", "python3"]),
        ("本。読む", ["本", "読", "む", "読む"]),
    ],
)
def test_text_without_spaces_gives_characters_and_pairs(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("word", "sentence"), [("索引", "この索引は小さい"), ("도서", "국립도서관"), ("สมุด", "ห้องสมุดใหม่")]
)
def test_a_word_inside_text_without_spaces_shares_its_terms(word: str, sentence: str) -> None:
    assert set(terms(word)) <= set(terms(sentence))


def test_signs_above_and_below_thai_letters_do_not_part_a_word() -> None:
    assert "มุ" in terms("สมุด") or "มด" in terms("สมุด")


def test_vowel_signs_do_not_part_a_word_of_an_indian_script() -> None:
    assert len(terms("किताब")) == 1


@pytest.mark.parametrize("text", ["the reader's index", "the reader’s index", "reader index"])
def test_a_possessive_is_the_word_itself(text: str) -> None:
    assert terms(text) == ["reader", "index"]


@pytest.mark.parametrize("text", ["don't panic", "don’t panic", "won't can't panic"])
def test_contractions_are_stop_words_with_either_apostrophe(text: str) -> None:
    assert terms(text) == ["panic"]


@pytest.mark.parametrize(
    "text", ['"wheel"', "(wheel)", "**wheel**", "`wheel`", "wheel,", "wheel…", "«wheel»", "[wheel]:"]
)
def test_punctuation_around_a_word_is_no_part_of_it(text: str) -> None:
    assert terms(text) == ["wheel"]


def test_the_longest_word_is_kept_and_a_longer_run_is_not() -> None:
    longest = "7" * LONGEST

    assert terms(longest) == [longest]
    assert terms(longest + "7") == []


def test_of_a_very_long_identifier_the_parts_remain() -> None:
    assert terms("bookwheel_" * 100_000 + "gear") == [stem("bookwheel")] * 100_000 + ["gear"]


@pytest.mark.parametrize("text", ["", " \t\n", "…", "!?", "\0", "---", "\u200b"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert terms(text) == []


def test_no_stop_word_is_left_over_among_many_words() -> None:
    assert terms(" ".join(sorted(STOP_WORDS)) + " lectern") == ["lectern"]


@given(st.text())
@settings(deadline=None, max_examples=400)
def test_any_text_gives_terms_that_are_words(text: str) -> None:
    found = terms(text)

    assert all(term and len(term.split()) == 1 and term == term.strip() for term in found)
    assert all(len(term) <= LONGEST + 2 for term in found)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Z", "Cc"])))
@settings(deadline=None, max_examples=200)
def test_a_run_means_the_same_wherever_it_stands(raw: str) -> None:
    found = terms(f"lectern {raw} lectern")

    assert found == ["lectern", *(term for run in raw.split() for term in analyse(run)), "lectern"]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=LONGEST))
@settings(deadline=None, max_examples=200)
def test_the_case_of_a_word_does_not_matter(word: str) -> None:
    assert terms(word) == terms(word.upper()) == terms(word.capitalize())
