"""Reading by suffix, plain text, and Org."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bookwheel.errors import ParseFailed, Unreadable
from bookwheel.formats import READERS, read, supported
from bookwheel.model import Document, Section, Source


def named(path: str) -> Source:
    return Source("notes", f"/notes/{path}", path)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.md", "markdown"), ("a.MARKDOWN", "markdown"), ("a.mdx", "markdown"), ("a.html", "html"), ("a.HTM", "html"),
     ("a.txt", "plain"), ("a.text", "plain"), ("a.org", "org")],
)  # fmt: skip
def test_the_suffix_chooses_the_reader_and_empty_files_are_fine(name: str, kind: str) -> None:
    assert read(named(name), b"") == Document(named(name), "", kind)


def test_a_suffix_is_supported_in_any_case() -> None:
    assert (supported(".MD"), supported(".exe"), supported("")) == (True, False, False)


@pytest.mark.parametrize("name", ["a.exe", "README"])
def test_an_unknown_suffix_is_unreadable_and_says_what_is_not(name: str) -> None:
    with pytest.raises(Unreadable, match=rf"Unsupported format: {name} cannot be read: .* is not one of \.md"):
        read(named(name), b"text")


@pytest.mark.parametrize("suffix", READERS)
def test_binary_is_refused_whatever_its_name(suffix: str) -> None:
    with pytest.raises(ParseFailed):
        read(named(f"a{suffix}"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0")


def test_importing_the_formats_loads_no_slow_library() -> None:
    program = (
        "import sys, bookwheel.formats as f, bookwheel.model as m\n"
        "f.read(m.Source('l', '/a.md', 'a.md'), b'# A')\n"
        "print({'yaml', 'html_to_markdown', 'charset_normalizer'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"


def test_plain_text_is_headed_by_its_first_line_and_described_by_the_next_three() -> None:
    text = "\ufeff  The  title \r\n\r\ntwo\r  three\nfour\n"

    document = read(named("a.txt"), text.encode())

    assert document == Document(
        named("a.txt"), text, "plain", body=1, heading="The title", paragraph="two three"
    )  # fmt: skip


def test_a_blank_first_line_heads_nothing() -> None:
    document = read(named("memo.txt"), b"\nsecond\n# third")

    assert (document.heading, document.title, document.paragraph) == ("", "memo", "second # third")
    assert document.sections == ()


ORG = """#+TITLE: My notes
#+description: All I
#+DESCRIPTION: know
# comment
:PROPERTIES:
:ID: 1
:END:

First text
goes on.

* TODO [#A] One :work:home:
** DONE Two
*bold* is no headline
* One
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_org_headlines_are_sections(end: str) -> None:
    text = ORG.replace("\n", end)

    document = read(named("a.org"), text.encode())

    start = [text.index("* TODO"), text.index("** DONE"), text.index("* One")]
    assert document == Document(
        named("a.org"),
        text,
        "org",
        {"title": "My notes", "description": "All I know"},
        heading="One",
        paragraph="First text goes on.",
        sections=(
            Section("one", "One", 1, start[0], start[2], 12),
            Section("one/two", "Two", 2, start[1], start[2], 13),
            Section("one-2", "One", 1, start[2], len(text), 15),
        ),
    )


def test_an_org_headline_right_after_a_byte_order_mark_counts() -> None:
    assert read(named("a.org"), "\ufeff* A\n".encode()).sections == (Section("a", "A", 1, 1, 5, 1),)


def test_a_huge_line_is_cut_to_a_title_of_sensible_length() -> None:
    documents = [read(named(f"a{suffix}"), b"# " + b"x" * 1_000_000) for suffix in (".md", ".txt", ".org", ".html")]

    assert max(len(document.title + document.paragraph) for document in documents) < 10_000


def test_stars_without_a_space_are_no_org_headline() -> None:
    assert read(named("a.org"), b"*\r\n**\n*x*\n").sections == ()


def test_hostile_org_is_read_to_its_end() -> None:
    program = (
        "from bookwheel.formats import read\nfrom bookwheel.model import Source\n"
        "for data in (b':a:\\n' * 20_000, b'* ' * 500_000, b'* x :' + b'a:' * 500_000 + b'\\n', b'*' * 1_000_000):\n"
        "    read(Source('l', '/a.org', 'a.org'), data)"
    )

    subprocess.run([sys.executable, "-c", program], timeout=300, check=True)  # a guard against a hang, no measure
