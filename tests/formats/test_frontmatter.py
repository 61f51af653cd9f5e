"""Front matter: what is read, what is refused, and that nothing in it can do harm."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import frontmatter
from bookwheel.formats.frontmatter import split


def test_front_matter_is_a_mapping_with_keys_in_lower_case() -> None:
    text = "---\nTitle: REST\nKEYWORDS: [a, b]\n1: x\nnested: {Key: v}\n---\nbody"

    assert split(text) == (
        {"title": "REST", "keywords": ["a", "b"], "1": "x", "nested": {"Key": "v"}},
        text.index("body"),
        "",
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_are_understood(mark: str, end: str) -> None:
    text = mark + end.join(["--- ", "a: 1", "b: two", "---", "body"])

    assert split(text) == ({"a": 1, "b": "two"}, text.index("body"), "")


@pytest.mark.parametrize(
    "text",
    ["", "text", "---", "---\n", "---\na: 1\n", "---\na: 1\n...\n", "----\na: 1\n----\n", " ---\na: 1\n---\n",
     "\n---\na: 1\n---\n", "---\na: 1\n----\n", "---\na: 1\n ---\n", "--- x\na: 1\n---\n", "# A\n\n---\na: 1\n---\n"],
)  # fmt: skip
def test_what_does_not_open_and_close_is_no_front_matter(text: str) -> None:
    assert split(text) == ({}, 0, "")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("blank", ["", " \t"])
def test_a_rule_above_a_blank_line_opens_no_front_matter(blank: str, mark: str, end: str) -> None:
    text = mark + end.join(["---", blank, "Prose: with a colon.", "", "---", "", "More."])

    assert split(text) == ({}, len(mark), "")


def test_without_front_matter_the_body_begins_after_a_byte_order_mark() -> None:
    assert split("\ufefftext") == ({}, 1, "")


@pytest.mark.parametrize("block", ["", "\n", "# a comment\n", "null\n"])
def test_empty_front_matter_is_no_problem(block: str) -> None:
    assert split(f"---\n{block}---\nbody") == ({}, len(f"---\n{block}---\n"), "")


def test_front_matter_may_end_the_file() -> None:
    assert split("---\na: 1\n---") == ({"a": 1}, 12, "")


def test_the_last_of_equal_keys_wins() -> None:
    assert split("---\na: 1\nA: 2\nb: 3\nb: 4\n---\n")[0] == {"a": 2, "b": 4}


def test_every_value_fits_into_json() -> None:
    block = (
        "d: 2024-01-02\nt: 2024-01-02 03:04:05\nl: [2024-01-02, {x: 2024-01-02}]\ns: !!set {a, b}\n"
        "n: .nan\ni: -.inf\nb: !!binary aGk=\no: !!omap [a: 1]\nh: 0x" + "f" * 9_000 + "\n2024-01-02: k\n"
    )

    metadata = split(f"---\n{block}---\n")[0]

    assert json.loads(json.dumps(metadata, allow_nan=False)) == metadata
    assert metadata | {"h": ""} == {
        "d": "2024-01-02", "t": "2024-01-02T03:04:05", "l": ["2024-01-02", {"x": "2024-01-02"}], "s": ["a", "b"],
        "n": "nan", "i": "-inf", "b": "hi", "o": [["a", 1]], "h": "", "2024-01-02": "k",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("a: b: c\n", "the front matter is not valid YAML at line 2: mapping values are not allowed in this context"),
        ("x: 1\na: [1\n", "the front matter is not valid YAML at line 4: did not find expected ',' or ']'"),
        ("- a\n- b\n", "the front matter is not a list of names with values"),
        ("just text\n", "the front matter is not a list of names with values"),
        ("a: &x 1\n", "the front matter uses an anchor or alias at line 2, which is not supported"),
        ("a: 1\nb: *x\n", "the front matter uses an anchor or alias at line 3, which is not supported"),
        ("a: 2024-13-45\n", "the front matter is not valid YAML: ValueError"),
        ("a: !!python/object/apply:os.getcwd []\n", "the front matter is not valid YAML at line 2: "),
        ("a: " + "[" * 51 + "]" * 51 + "\n", "the front matter is nested more than 50 levels deep"),
        ("a: " + "x" * 70_000 + "\n", "the front matter is longer than 64 KiB"),
        ("a: \x01\n", "the front matter is not valid YAML"),
    ],
)
def test_a_problem_is_a_sentence_and_the_body_still_begins_below(block: str, problem: str) -> None:
    text = f"---\n{block}---\nbody"

    metadata, body, found = split(text)

    assert (metadata, text[body:]) == ({}, "body")
    assert found.startswith(problem)
    assert "\n" not in found


BOMBS = {
    "flow": "'a: ' + '[' * 60_000",
    "many flows": "'[' * 100_000",
    "mappings": "'{a: ' * 15_000",
    "dashes": "'- ' * 30_000",
    "questions": "'? ' * 30_000",
    "aliases": r"'a: &a [x,x]\n' + ''.join(f'k{i}: &k{i} [*k{i-1},*k{i-1}]\n' for i in range(1, 99))",
    "recursion": r"'a: &a [*a]'",
    "indents": r"''.join(' ' * i + 'a:\n' for i in range(300))",
    "digits": "'a: ' + '9' * 60_000",
    "sexagesimal": "'a: 1' + ':1' * 20_000",
    "quotes": "'a: \"' + 'x' * 60_000",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_a_problem_and_the_process_lives(bomb: str) -> None:
    program = f"from bookwheel.formats.frontmatter import split\nprint(split('---\\n' + {BOMBS[bomb]} + '\\n---\\n'))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("({}, ") or bomb == "sexagesimal"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,? \n\t0.1", max_size=60))
def test_no_front_matter_makes_it_fail(block: str) -> None:
    text = f"---\n{block}\n---\nbody"

    metadata, body, _ = split(text)

    assert json.dumps(metadata)
    assert text[body:].endswith("body")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["a", "b: ", "- ", "? ", ": ", "[", "{", "]", "}", ", ", "\n", "  ", "'", '"', "#", "!",
                                 "|", ">", "%", "1", "yes", "\t", "2024-13-45"]), max_size=30))  # fmt: skip
def test_what_is_parsed_once_gives_what_the_guard_would_let_pass(parts: list[str]) -> None:
    text = "---\na" + "".join(parts) + "\n---\n"
    once = split(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontmatter, "_RISK", re.compile(""))
        assert split(text) == once


WORDS = st.sampled_from([
    "a", "Title", "yes", "No", "NULL", "on", "true", "y", "e-1", "x_y", "a.b", "(c)", "1", "0x1", "-", " ", "  ", ", ",
    "/", '"', "'", "#", " #", ": ", ":", "\\", "[", "{", "2024-01-02", "é", "~", "<<",
])  # fmt: skip
TEXTS = st.lists(WORDS, max_size=4).map("".join)


@settings(max_examples=1_000, deadline=None)
@given(st.lists(st.tuples(WORDS, TEXTS, st.sampled_from(["", '"'])), min_size=1, max_size=3))
def test_pairs_of_words_and_texts_are_what_yaml_makes_of_them(lines: list[tuple[str, str, str]]) -> None:
    block = "".join(f"{key}: {quote}{text}{quote}\n" for key, text, quote in lines)

    found = frontmatter.pairs(block)

    assert not found or found == yaml.safe_load(block)
