"""Markdown's sections, titles and first paragraphs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import markdown, read
from bookwheel.formats.inline import plain
from bookwheel.formats.outline import slug
from bookwheel.model import Section, Source

NOTE = Source("notes", "/notes/note.md", "note.md")
HANGS = 300  # seconds: only stops a hang, all hostile texts together take a few


def ids(text: str) -> list[str]:
    return [section.id for section in markdown.sections(text)]


def titles(text: str) -> list[str]:
    return [section.title for section in markdown.sections(text)]


def test_a_section_reaches_to_the_next_heading_of_its_level_or_above() -> None:
    text = "intro\n# A\na\n## B\nb\n### C\n## D\nd\n# E"

    assert markdown.sections(text) == (
        Section("a", "A", 1, 6, 32, 2),
        Section("a/b", "B", 2, 12, 25, 4),
        Section("a/b/c", "C", 3, 19, 25, 6),
        Section("a/d", "D", 2, 25, 32, 7),
        Section("e", "E", 1, 32, 35, 9),
    )


def test_ids_follow_the_example_of_the_specification() -> None:
    text = "# REST Conventions\n## Introduction\n### HTTP Methods\n"

    assert ids(text) == [
        "rest-conventions",
        "rest-conventions/introduction",
        "rest-conventions/introduction/http-methods",
    ]


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (["# A", "# A", "# A-2"], ["a", "a-2", "a-2-2"]),
        (["# A", "# A-2", "# A"], ["a", "a-2", "a-3"]),
        (["# A", "## B", "# A", "## B"], ["a", "a/b", "a-2", "a-2/b"]),
        (["# A", "### B", "## B"], ["a", "a/b", "a/b-2"]),
        (["## B", "# A", "## B"], ["b", "a", "a/b"]),
        (["#", "# !?", "# ***"], ["section", "section-2", "section-3"]),
        (["# _preamble", "# _document", "## _document"], ["_preamble-2", "_document-2", "_document-2/_document"]),
    ],
)
def test_a_repeated_id_gets_the_next_free_number(headings: list[str], expected: list[str]) -> None:
    assert ids("\n".join(headings)) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Über  Größe & Maß", "über-größe-maß"),
        ("snake_case_name()", "snake_case_name"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("ภาษาไทย ที่นี่", "ภาษาไทย-ที่นี่"),
        ("日本語、テスト", "日本語-テスト"),
        ("cafe\u0301 Cafe", "café-cafe"),
        ("⚙️ Setup", "setup"),
        ("1️⃣ First", "1-first"),
        ("C++ / C#", "c-c"),
        ("--", "section"),
        ("a/b", "a-b"),
    ],
)
def test_a_slug_keeps_the_letters_of_every_script(title: str, expected: str) -> None:
    assert slug(title) == expected


def test_a_long_title_does_not_multiply_in_the_ids_below_it() -> None:
    text = f"# {'x' * 100_000}\n" + "## y\n" * 1_000

    assert sum(map(len, ids(text))) < 1_000_000


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# A ##", "A"),
        ("# A#", "A#"),
        ("# A \\#", "A #"),
        ("#\tTab \t #", "Tab"),
        ("## ##", ""),
        ("#", ""),
        ("   ###### deep", "deep"),
        ("# a # b", "a # b"),
    ],
)
def test_closing_marks_are_no_part_of_a_title(line: str, title: str) -> None:
    assert titles(line) == [title]


@pytest.mark.parametrize(
    "line", ["#x", "####### seven", "    # code", "\t# code", "\\# no", "> # q", "- # i", "1. # i"]
)
def test_what_only_resembles_a_heading_is_none(line: str) -> None:
    assert markdown.sections(line) == ()


def test_underlined_lines_are_no_headings() -> None:
    assert titles("Title\n=====\n\nOther\n---\n\n# Real") == ["Real"]


@pytest.mark.parametrize(
    "block",
    [
        "```\n# x\n```",
        "~~~ sh\n# x\n```\n# y\n~~~",
        "````\n```\n# x\n````",
        "   ```\n# x\n   ```",
        "<!--\n# x\n\n# y\n-->",
        "<pre>\n\n# x\n</pre>",
        "<script>\n\n# x\n</script>",
        "<style>\n# x\n\n# y\n</style>",
        "<div>\n# x\n",
        "<custom-tag>\n# x\n",
        "- item\n\n  # in the item\n",
        "1. item\n   ```\n   # x\n   ```",
        "- ```\n  # x\n  ```",
        "<![CDATA[\n# x\n]]>",
        "<?php\n# x\n?>",
    ],
)
def test_a_heading_counts_after_a_block_but_not_in_it(block: str) -> None:
    assert titles(f"{block}\n# Real") == ["Real"]


def test_an_indented_line_after_a_quote_goes_on_with_it() -> None:
    assert titles("> quote\n    # lazy\n<a>\n# Real") == ["Real"]  # markdown-it-py loses this one


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_and_stays(end: str) -> None:
    text = end.join(["# A", "a", "", "```", "# no", "```", "## B #", "b", ""])

    found = markdown.sections(text)

    assert [(section.title, section.line) for section in found] == [("A", 1), ("B", 7)]
    assert text[found[1].start :] == f"## B #{end}b{end}"


def test_a_line_separator_is_no_line_end() -> None:
    found = markdown.sections("# A\u2028# B\x0c# C\x85# D\n# E")

    assert [(section.title, section.line) for section in found] == [("A # B # C # D", 1), ("E", 2)]


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("plain words", "plain words"),
        ("`code` and ``a ` b``", "code and a ` b"),
        ("**bold** *it* ***both*** __b__ _i_ ~~gone~~", "bold it both b i gone"),
        ("**bold *in* it**", "bold in it"),
        ("snake_case_name and _snake_case_", "snake_case_name and snake_case"),
        ("a * b and 2 * 3 * 4", "a * b and 2 * 3 * 4"),
        ("*.py and *.md", "*.py and *.md"),
        ("f(*args, **kwargs)", "f(*args, **kwargs)"),
        ("[text](url) [t](<u r> 'x') [p](a(b)c)", "text t p"),
        ("![alt](src) [![badge](a)](b)", "alt badge"),
        ("[1.0.0] - 2020", "[1.0.0] - 2020"),
        ("a[i][j]", "a[i][j]"),
        ("<b>x</b><br/>y <!-- no -->z", "x y z"),
        ("List<String> and a < b > c", "List<String> and a < b > c"),
        ("<https://x.org/a_b_c>", "https://x.org/a_b_c"),
        ("R&amp;D &lt;x&gt; &#35; &nosuch; AT&T", "R&D <x> # &nosuch; AT&T"),
        (r"\*not\* \_it\_ C:\dir", r"*not* _it_ C:\dir"),
        ("`*a*` `[b](c)` `<b>`", "*a* [b](c) <b>"),
        ("**`code`**: _[link](x)_", "code: link"),
        ("unclosed `tick and *star", "unclosed `tick and *star"),
        ("~tilde~ ~~~", "~tilde~ ~~~"),
        ("nul \0" + "0\0 `x`", "nul \ufffd0\ufffd x"),
    ],
)
def test_inline_markup_is_reduced_to_what_a_reader_sees(written: str, seen: str) -> None:
    assert plain(written) == seen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# T\n\nFirst *one*\nsecond  line.\n\nOther", "First one second line."),
        ("![logo](a.png)\n[![b](c)](d) [![e][f]][g]\n\nText", "Text"),
        ("![logo](a.png)\nText below", "Text below"),
        ("---\n***\n\nText", "Text"),
        ("```\ncode\n```\n<!-- c\n\nd -->\n<div>\nhtml\n</div>\n\nText", "Text"),
        ("    code\n\nText", "Text"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |\n\nText", "Text"),
        ("- *item* one\n- item two", "item one"),
        ("3. three\n", "three"),
        ("> quoted\n> words\nand more\n\nText", "quoted words and more"),
        ("Title\n=====\n\nText", "Text"),
        ("[ref]: http://x\n\nText", "Text"),
        ("<a href='x'><img src='y'></a>\n\nText", "Text"),
        ("# Only\n## headings", ""),
        ("", ""),
        ("Text # not a heading\n# Heading", "Text # not a heading"),
    ],
)
def test_the_first_paragraph_is_the_first_text_a_reader_meets(text: str, expected: str) -> None:
    assert markdown.paragraph(text) == expected


def test_a_document_keeps_its_text_and_knows_its_parts() -> None:
    data = "\ufeff---\r\nTitle: T\r\n---\r\n# H *1*\r\n\r\nText.\r\n".encode()

    document = read(NOTE, data)

    assert document.text.encode() == data
    assert (document.metadata, document.problem, document.kind) == ({"title": "T"}, "", "markdown")
    assert document.text[document.body :] == "# H *1*\r\n\r\nText.\r\n"
    assert (document.title, document.heading, document.paragraph) == ("T", "H 1", "Text.")
    assert [section.line for section in document.sections] == [4]


def test_a_heading_right_after_a_byte_order_mark_counts() -> None:
    document = read(NOTE, "\ufeff# A\n".encode())

    assert (document.heading, document.sections[0].start) == ("A", 1)


def test_the_heading_is_the_first_of_the_top_level() -> None:
    assert read(NOTE, b"## Two\n# One\n").heading == "One"


LINES = st.one_of(
    st.sampled_from(["# A", "# A-2", "## A", "### B", "#", "# _document", "```", "~~~", "", "- x", "<div>", "  # in"]),
    st.text(alphabet="#`*_-[]()<>&; aé\u0301\u2028\t\\", max_size=12),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=20), st.sampled_from(["\n", "\r\n", "\r"]))
def test_sections_nest_and_their_ids_are_unique_and_well_formed(lines: list[str], end: str) -> None:
    text = end.join(lines)

    found = markdown.sections(text)

    assert len({section.id for section in found}) == len(found)
    for i, section in enumerate(found):
        assert 0 <= section.start < section.end <= len(text)
        assert text[section.start : section.end].lstrip(" ").startswith("#" * section.level)
        assert section.start == 0 or text[section.start - 1] in "\r\n"
        assert section.line == 1 + len(re.findall(r"\r\n|\r|\n", text[: section.start]))
        assert re.fullmatch(r"[^/\s]+(/[^/\s]+)*", section.id)
        later = [other.start for other in found[i + 1 :] if other.level <= section.level]
        assert section.end == (later[0] if later else len(text))


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="`*_~[]()!<>&;\\ab1 \0", max_size=40))
def test_reducing_markup_adds_no_letters(text: str) -> None:
    letters = Counter(letter for letter in text if letter.isalnum())

    assert Counter(letter for letter in plain(text) if letter.isalnum()) <= letters


HOSTILE = [
    "x" * 10_000_000,
    "# " + "x" * 10_000_000,
    "- " * 200_000 + "\n" + "\n" * 200_000,
    "> " * 500_000 + "\n" + "a\n" * 100_000,
    "<a " * 500_000,
    '<a b="' * 300_000,
    "[" * 1_000_000,
    "# " + "[](a" * 900 + "\n",
    ("# " + "_a " * 1_200 + "x* " * 100 + "\n") * 20,
    ("# " + "".join("`" * n + " " for n in range(85)) + "\n") * 50,
    " " * 5_000_000,
    "`" * 5_000_000,
    "![" * 500_000,
    "#\n" * 100_000,
    "<!--\n" * 200_000,
    "a\n" * 500_000 + "<a>\n" * 100_000,
]


def test_hostile_text_is_read_to_its_end() -> None:
    program = (
        "import sys\nfrom bookwheel.formats import read\nfrom bookwheel.model import Source\n"
        "for text in sys.stdin.buffer.read().split(b'\\0'):\n    read(Source('l', '/a.md', 'a.md'), text)"
    )

    subprocess.run([sys.executable, "-c", program], input="\0".join(HOSTILE).encode(), timeout=HANGS, check=True)
