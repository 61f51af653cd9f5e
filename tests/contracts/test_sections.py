"""The sections contract: list the files, look at a table of contents, read only what is needed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bookwheel.faces.sections import CONFIG_KEYS, Sections
from bookwheel.settings import load
from contracts.conftest import Serve
from contracts.harness import Answer, Json, Reader, catalog_of, requirement, spoil, write

LIST, CONTENTS, READ = "list_documentation_files", "table_of_contents", "read_sections"
REST = """\
# REST Conventions

This is the introduction content.

## Introduction

Welcome to REST conventions...

### HTTP Methods

GET and others.

## Versioning

None.
"""


def rows(answer: Answer) -> list[Json]:
    """Return the rows of a good answer, having checked that text and data say the same."""
    assert not answer.error, answer.text
    found: list[Json] = json.loads(answer.text)
    assert answer.data == {"result": found}
    return found


def fault(answer: Answer) -> Json:
    """Return the error of a failed answer, having checked its form."""
    assert answer.error, answer.text
    found: Json = json.loads(answer.text)
    assert answer.data == found
    assert found.keys() == {"error"}
    error: Json = found["error"]
    assert error.keys() == {"code", "message", "details"}
    assert "filename" in error["details"]
    assert any(tool in error["message"] for tool in (LIST, CONTENTS, READ)), error["message"]
    return error


def contents(reader: Reader, filename: str = "page.md") -> list[Json]:
    return rows(reader.call(CONTENTS, filename=filename))


def ids(reader: Reader, filename: str = "page.md") -> list[str]:
    return [one["id"] for one in contents(reader, filename)]


def read(reader: Reader, *section_ids: str, filename: str = "page.md") -> list[Json]:
    return rows(reader.call(READ, filename=filename, section_ids=list(section_ids)))


def names(reader: Reader) -> list[str]:
    return [one["filename"] for one in rows(reader.call(LIST))]


def page(*lines: str) -> dict[str, str]:
    return {"page.md": "".join(f"{line}\n" for line in lines)}


# the tools


@requirement("sections.list.parameters", "sections.toc.parameters", "sections.read.parameters")
def test_the_tools_are_the_specified_three_with_their_parameters(sections: Serve, era: str) -> None:
    tools = sections({}, era).tools()

    shapes = {
        tool["name"]: (
            {name: one["type"] for name, one in tool["inputSchema"].get("properties", {}).items()},
            sorted(tool["inputSchema"].get("required", [])),
        )
        for tool in tools
    }

    assert shapes == {
        LIST: ({}, []),
        CONTENTS: ({"filename": "string"}, ["filename"]),
        READ: ({"filename": "string", "section_ids": "array"}, ["filename", "section_ids"]),
    }


@requirement("sections.reserved.described")
def test_description_of_read_sections_names_the_reserved_ids(sections: Serve) -> None:
    (tool,) = [one for one in sections({}).tools() if one["name"] == READ]

    assert "_preamble" in tool["description"]
    assert "_document" in tool["description"]


# the listing


@requirement(
    "sections.metadata.optional",
    "sections.metadata.title",
    "sections.metadata.description",
    "sections.metadata.keywords",
    "sections.list.all",
    "sections.list.filename",
    "sections.list.title",
    "sections.list.description",
    "sections.list.keywords",
    "sections.list.size",
    "sections.answer.text",
    "sections.answer.structured",
)
def test_listing_shows_each_file_with_its_metadata(sections: Serve, era: str) -> None:
    described = (
        "---\nTitle: REST Conventions\nDescription: Conventions for RESTful API design.\n"
        'Keywords: ["REST", "HTTP", "API Design"]\n---\n# Heading\n\nText.\n'
    )
    reader = sections({"api/rest.md": described, "api/deep/er/x.md": "---\ntitle: X\ndescription: Y\n---\n"}, era)

    assert rows(reader.call(LIST)) == [
        {"filename": "api/deep/er/x.md", "title": "X", "description": "Y", "keywords": [], "size": "32b"},
        {
            "filename": "api/rest.md",
            "title": "REST Conventions",
            "description": "Conventions for RESTful API design.",
            "keywords": ["REST", "HTTP", "API Design"],
            "size": f"{len(described)}b",
        },
    ]


@requirement("sections.title", "sections.list.title", "model.front-matter.keys")
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Heading\n", "my.page"),
        ("---\nAuthor: me\n---\n# Heading\n", "my.page"),
        ("---\nTitle: Given\n---\n# Heading\n", "Given"),
        ("---\nTITLE: Given\n---\n", "Given"),
        ("---\ntitle: Given\n---\n", "Given"),
        ("", "my.page"),
    ],
)
def test_title_is_that_of_the_front_matter_or_the_file_name_but_never_a_heading(
    sections: Serve, text: str, title: str
) -> None:
    (found,) = rows(sections({"sub/my.page.md": text}).call(LIST))

    assert found["title"] == title


@requirement("sections.size", "sections.list.size")
@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0b"), (512, "512b"), (1023, "1023b"), (1024, "1.0kb"), (1536, "1.5kb"), (1_048_576, "1024.0kb")],
)
def test_size_is_in_bytes_below_1024_and_in_kilobytes_from_there(sections: Serve, size: int, shown: str) -> None:
    (found,) = rows(sections({"page.md": b"x" * size}).call(LIST))

    assert found["size"] == shown


@requirement("sections.list.sorted", "sections.list.all")
def test_listing_is_sorted_by_filename(sections: Serve) -> None:
    wanted = ["B.md", "a b.md", "a.md", "a/b.md", "a/b/c.md", "guide #1 [x] 100%.md", "zz.md", "ü.md"]

    assert names(sections(dict.fromkeys(reversed(wanted), "# T\n"))) == sorted(wanted)


@requirement("sections.list.all")
def test_listing_of_an_empty_folder_is_empty(sections: Serve) -> None:
    assert rows(sections({}).call(LIST)) == []


# patterns and limits

TREE = dict.fromkeys(
    [
        "README.md",
        "page.tmp.md",
        "guide.txt",
        "docs/a.md",
        "docs/b.tmp.md",
        "docs/deep/c.md",
        "drafts/d.md",
        "node_modules/e.md",
        "node_modules/x/f.md",
    ],
    "# T\n",
)


@requirement("sections.patterns.defaults", "sections.patterns.root", "sections.patterns.any-depth")
def test_default_patterns_are_those_of_the_specification(sections: Serve) -> None:
    reader = sections(TREE)

    assert names(reader) == ["README.md", "docs/a.md", "docs/deep/c.md", "drafts/d.md"]
    for hidden in ("page.tmp.md", "docs/b.tmp.md", "node_modules/e.md"):
        assert fault(reader.call(CONTENTS, filename=hidden))["code"] == "FILE_NOT_FOUND"


@requirement(
    "sections.config.include", "sections.config.exclude", "sections.patterns.root", "sections.patterns.any-depth"
)
@pytest.mark.parametrize(
    ("include", "exclude", "found"),
    [
        (["**/*.md"], ["drafts/**"], ["README.md", "docs/a.md", "docs/b.tmp.md", "docs/deep/c.md", "page.tmp.md"]),
        (["docs/**/*.md"], [], ["docs/a.md", "docs/b.tmp.md", "docs/deep/c.md"]),
        (["docs/*.md"], [], ["docs/a.md", "docs/b.tmp.md"]),
        (["c.md", "README.md"], [], ["README.md", "docs/deep/c.md"]),
        (["*.md"], ["*.tmp.md", "d.md"], ["README.md", "docs/a.md", "docs/deep/c.md"]),
        (["**/*.md"], ["**/deep/**", "*.tmp.md"], ["README.md", "docs/a.md", "drafts/d.md"]),
    ],
)
def test_patterns_choose_the_files(sections: Serve, include: list[str], exclude: list[str], found: list[str]) -> None:
    tree = {name: text for name, text in TREE.items() if not name.startswith("node_modules")}

    assert names(sections(tree, include_patterns=include, exclude_patterns=exclude)) == found


@requirement("sections.config.defaults")
def test_defaults_are_the_specifications_example_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    chosen = load({}, {}, CONFIG_KEYS)

    assert (chosen.max_file_size, chosen.refresh_interval, chosen.watch) == (10_485_760, 300, True)


@requirement("sections.error.file-too-large", "sections.config.max-file-size")
def test_file_over_the_limit_is_too_large_and_one_at_the_limit_is_not(sections: Serve) -> None:
    reader = sections({"over.md": "# T\n" + "x" * 97, "page.md": "# T\n" + "x" * 96}, max_file_size=100)

    for answer in (
        reader.call(CONTENTS, filename="over.md"),
        reader.call(READ, filename="over.md", section_ids=["t"]),
    ):
        error = fault(answer)
        assert (error["code"], error["details"]["filename"]) == ("FILE_TOO_LARGE", "over.md")
    assert ids(reader) == ["t"]


@requirement("sections.error.file-too-large", "sections.config.defaults")
def test_default_limit_is_ten_mebibytes(sections: Serve) -> None:
    reader = sections({"page.md": b"# T\n" + b"x" * 10_485_756, "over.md": b"# T\n" + b"x" * 10_485_757})

    assert contents(reader) == [{"id": "t", "title": "T", "level": 1, "character_count": 10_485_760}]
    assert fault(reader.call(CONTENTS, filename="over.md"))["code"] == "FILE_TOO_LARGE"


# the table of contents


@requirement(
    "sections.toc.id",
    "sections.toc.title",
    "sections.toc.level",
    "sections.toc.character-count",
    "sections.section.definition",
    "sections.id.example",
    "sections.id.slashes",
    "sections.hierarchy.levels",
    "sections.answer.text",
    "sections.answer.structured",
)
def test_table_of_contents_is_that_of_the_specifications_example(sections: Serve, era: str) -> None:
    reader = sections({"page.md": REST}, era)

    assert contents(reader) == [
        {"id": "rest-conventions", "title": "REST Conventions", "level": 1, "character_count": len(REST)},
        {
            "id": "rest-conventions/introduction",
            "title": "Introduction",
            "level": 2,
            "character_count": REST.index("## Versioning") - REST.index("## Introduction"),
        },
        {
            "id": "rest-conventions/introduction/http-methods",
            "title": "HTTP Methods",
            "level": 3,
            "character_count": REST.index("## Versioning") - REST.index("### HTTP"),
        },
        {
            "id": "rest-conventions/versioning",
            "title": "Versioning",
            "level": 2,
            "character_count": len(REST) - REST.index("## Versioning"),
        },
    ]


SLUGS = {
    "Getting Started": "getting-started",
    "UPPER lower": "upper-lower",
    "C++ / C#: a (short) guide!": "c-c-a-short-guide",
    "--- trimmed ---": "trimmed",
    "snake_case and __more__x": "snake_case-and-__more__x",
    "a.b.c/d\\e": "a-b-c-d-e",
    "Größe & Maße": "größe-maße",
    "ÉCOLE": "école",
    "Привет, Мир": "привет-мир",
    "日本語 見出し": "日本語-見出し",
    "2024-11-05 Release": "2024-11-05-release",
    "¡!¿?": "section",
    "🐋": "section",
    "🐋 whale 🐋 song": "whale-song",
    "tab\tand  blanks": "tab-and-blanks",
}


@requirement("sections.id.lowercase", "sections.id.hyphens", "sections.ids.slug", "sections.ids.empty")
@pytest.mark.parametrize(("title", "slug"), SLUGS.items(), ids=map(ascii, SLUGS))
def test_id_is_the_slug_of_the_title(sections: Serve, title: str, slug: str) -> None:
    reader = sections(page(f"# {title}", "text"))

    assert ids(reader) == [slug]
    assert read(reader, slug)[0]["content"] == f"# {title}\ntext\n"


OUTLINES: dict[str, tuple[list[str], list[str]]] = {
    "siblings": (["# A", "## X", "## X", "## X"], ["a", "a/x", "a/x-2", "a/x-3"]),
    "tops": (["# A", "# A", "# A"], ["a", "a-2", "a-3"]),
    "cousins are no siblings": (["# A", "## X", "# B", "## X"], ["a", "a/x", "b", "b/x"]),
    "children of repeated ones": (["# A", "## X", "# A", "## X"], ["a", "a/x", "a-2", "a-2/x"]),
    "a number in use is skipped": (["# X", "# X 2", "# X"], ["x", "x-2", "x-3"]),
    "numbers in use are skipped": (["# X", "# X 2", "# X 3", "# X"], ["x", "x-2", "x-3", "x-4"]),
    "same slug, other title": (["# A b", "# A-B"], ["a-b", "a-b-2"]),
    "empty headings": (["#", "# ##", "# ¿"], ["section", "section-2", "section-3"]),
    "a level is left out": (["# A", "### B", "## C", "###### D"], ["a", "a/b", "a/c", "a/c/d"]),
    "begins below the top": (["### A", "## B", "# C", "## D"], ["a", "b", "c", "c/d"]),
    "all levels": (
        ["# A", "## B", "### C", "#### D", "##### E", "###### F", "####### G"],
        ["a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e", "a/b/c/d/e/f"],
    ),
    "reserved": (
        ["# _preamble", "# _document", "# _document", "## _document"],
        ["_preamble-2", "_document-2", "_document-3", "_document-3/_document"],
    ),
}


@requirement(
    "sections.ids.repeated",
    "sections.ids.empty",
    "sections.ids.parent",
    "sections.id.slashes",
    "sections.hierarchy.levels",
    "sections.toc.headings-only",
    "sections.reserved.heading",
)
@pytest.mark.parametrize(("headings", "wanted"), OUTLINES.values(), ids=OUTLINES)
def test_ids_are_paths_of_slugs_and_each_is_used_once(sections: Serve, headings: list[str], wanted: list[str]) -> None:
    reader = sections(page(*headings))

    found = contents(reader)

    assert [one["id"] for one in found] == wanted
    assert [one["level"] for one in found] == [len(line.split(" ")[0]) for line in headings][: len(wanted)]


TITLES = {
    "# Title #": "Title",
    "## Title ######": "Title",
    "# Title#": "Title#",
    "# C# #": "C#",
    "#   Title   ": "Title",
    "   ### Title": "Title",
    "# Title # more": "Title # more",
    "#\tTitle\t#": "Title",
}


@requirement("sections.closing-marks", "sections.toc.title", "sections.read.title")
@pytest.mark.parametrize(("line", "title"), TITLES.items(), ids=map(ascii, TITLES))
def test_closing_marks_are_no_part_of_the_title(sections: Serve, line: str, title: str) -> None:
    reader = sections(page(line, "text"))

    (found,) = contents(reader)

    assert found["title"] == title
    assert [one["title"] for one in read(reader, found["id"])] == [title]


NO_HEADINGS = {
    "empty file": "",
    "text alone": "Just text.\n",
    "underlined": "Title\n=====\n\nLower\n-----\n",
    "no blank after the mark": "#Title\n#1 of 2\n",
    "seven marks": "####### Seven\n",
    "backtick fence": "```\n# not\n```\n",
    "tilde fence": "~~~ sh\n# not\n~~~\n",
    "unclosed fence": "```\n# not\n",
    "fence closed by the other kind": "```\n~~~\n# not\n```\n",
    "indented code": "text\n\n    # not\n",
    "tab-indented code": "\t# not\n",
    "comment": "<!--\n# not\n\n# not either\n-->\n",
    "front matter": "---\n# not\nTitle: T\n---\n",
    "escaped": "\\# not\n",
}


@requirement(
    "sections.toc.headings-only",
    "sections.implementation.no-setext",
    "model.scanner.atx-only",
    "model.scanner.fences",
    "model.scanner.indented-code",
    "model.scanner.comments",
    "model.scanner.front-matter",
)
@pytest.mark.parametrize("text", NO_HEADINGS.values(), ids=NO_HEADINGS)
def test_what_is_no_heading_is_not_in_the_table_of_contents(sections: Serve, text: str) -> None:
    assert contents(sections({"page.md": text})) == []


@requirement("model.scanner.fences", "sections.section.span")
def test_fenced_heading_does_not_end_a_section(sections: Serve) -> None:
    text = "# A\n\n```\n# not\n```\n\ntext\n\n# B\n"
    reader = sections({"page.md": text})

    assert read(reader, "a", "b") == [
        {"title": "A", "content": text.removesuffix("# B\n")},
        {"title": "B", "content": "# B\n"},
    ]


# reading


@requirement("sections.section.definition", "sections.section.span", "sections.read.title", "sections.read.content")
def test_section_reaches_from_its_heading_to_the_next_of_the_same_or_a_higher_level(sections: Serve, era: str) -> None:
    reader = sections({"page.md": REST}, era)

    assert read(reader, "rest-conventions", "rest-conventions/introduction", "rest-conventions/versioning") == [
        {"title": "REST Conventions", "content": REST},
        {"title": "Introduction", "content": REST[REST.index("## Intro") : REST.index("## Versioning")]},
        {"title": "Versioning", "content": "## Versioning\n\nNone.\n"},
    ]


@requirement("sections.read.order")
def test_results_come_one_for_each_id_in_the_order_of_the_request(sections: Serve) -> None:
    reader = sections(page("# A", "# B", "## C"))

    assert [one["title"] for one in read(reader, "b/c", "a", "b/c", "b", "a")] == ["C", "A", "C", "B", "A"]


@requirement("sections.read.empty")
def test_no_ids_give_no_sections(sections: Serve, era: str) -> None:
    answer = sections(page("# A"), era).call(READ, filename="page.md", section_ids=[])

    assert answer == Answer(["[]"], {"result": []})


NASTY = {
    "windows line ends": "# A\r\n\r\ntext\r\n## B\r\nmore\r\n",
    "old line ends": "# A\rtext\r## B\rmore\r",
    "byte order mark": "\ufeff# A\ntext\n",
    "front matter and mark": "\ufeff---\r\nTitle: T\r\n---\r\npre\r\n# A\r\n",
    "beyond the basic plane": "# \U0001f40b Wale\n\U0001f40b\U0001f1e9\U0001f1ea e\u0301\n## Ü\n",
    "odd separators": "# A\u2028x\ny\x0b\x0c\x1c\x85z\n## B\n",
    "no final newline": "# A\n## B",
    "trailing blanks": "# A  \n\n \n## B\n\n\n",
    "long": "# A\n" + "word " * 50_000 + "\n## B\n",
}


@requirement("sections.character-count", "sections.toc.character-count", "model.scanner.bom-crlf")
@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_character_count_is_the_length_of_what_is_read(sections: Serve, text: str) -> None:
    reader = sections({"page.md": text})
    found = contents(reader)

    pieces = [one["content"] for one in read(reader, *[one["id"] for one in found])]

    assert found
    assert [one["character_count"] for one in found] == [len(piece) for piece in pieces]
    assert all(piece in text and piece.startswith("#") for piece in pieces)


SCRIPTS = [
    "Crème brûlée",
    "e\u0301te\u0301",
    "हिन्दी भाषा",
    "ภาษาไทย",
    "தமிழ் மொழி",
    "العَرَبِيَّة",
    "עִבְרִית",
    "བོད་ཡིག",
    "မြန်မာဘာသာ",
    "ភាសាខ្មែរ",
    "Tiếng Việt",
    "İstanbul Straße ǅ",
    "½ x² ①",
    "word\u200djoined\u00ad soft",
    "❤\ufe0f heart",
    "x" * 300,
]


@requirement("sections.toc.id", "sections.ids.slug", "sections.read.content")
@pytest.mark.parametrize("title", SCRIPTS, ids=ascii)
def test_every_id_that_is_listed_can_be_read(sections: Serve, title: str) -> None:
    reader = sections(page(f"# {title}", f"## {title}", f"## {title}"))

    assert [one["content"].count(title) for one in read(reader, *ids(reader))] == [3, 1, 1]


HEADINGS = ["# A", "# A 2", "## A", "### B #", "#", "###### \u0130", "# _document", "# \U0001f40b \u2028 x"]
BLOCKS = ["text", "", "```", "~~~", "<!--", "-->", "<div>", "---", "===="]
DECOYS = ["    # code", "> # quote", "- # item", "\t# tab", "\ufeff# mark"]
LINES = st.sampled_from([*HEADINGS, *BLOCKS, *DECOYS])
TEXTS = st.builds("".join, st.lists(st.builds(str.__add__, LINES, st.sampled_from(["\n", "\r\n", "\r"])), max_size=12))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Sections]:
    """A folder, and the face on it without a protocol between."""
    base = tmp_path_factory.mktemp("bare")
    folder = write(base / "library", {})
    return folder, Sections(catalog_of(folder, base / "store"))


@requirement("sections.character-count", "sections.section.span", "sections.ids.repeated", "sections.toc.headings-only")
@settings(deadline=None, max_examples=200)
@given(text=TEXTS)
def test_sections_of_any_text_count_right_and_join_to_the_whole(bare: tuple[Path, Sections], text: str) -> None:
    folder, face = bare
    write(folder, {"page.md": text})
    answer = face.call(CONTENTS, {"filename": "page.md"})
    assume(not answer.error)  # its front matter may be broken
    found = json.loads(answer.text)
    wanted = [*[one["id"] for one in found], "_document"]

    read_answer = face.call(READ, {"filename": "page.md", "section_ids": wanted})
    *pieces, body = [one["content"] for one in json.loads(read_answer.text)]

    assert len(set(wanted)) == len(wanted)
    assert [one["character_count"] for one in found] == [len(piece) for piece in pieces]
    tails: list[str] = []
    for place in reversed(range(len(found))):
        after = (n for n in range(place + 1, len(found)) if found[n]["level"] <= found[place]["level"])
        following = next(after, None)
        tails.insert(0, pieces[place] + (tails[following - place - 1] if following is not None else ""))
    assert all(body.endswith(tail) for tail in tails)
    before = body.removesuffix(tails[0]) if tails else body
    if before.strip():
        preamble = face.call(READ, {"filename": "page.md", "section_ids": ["_preamble"]})
        assert [one["content"] for one in json.loads(preamble.text)] == [before]


@requirement("sections.reserved.preamble", "sections.reserved.document")
@pytest.mark.parametrize(
    ("head", "preamble", "rest"),
    [
        ("", "Before.\n\n", "# A\n\nText.\n"),
        ("---\nTitle: T\n---\n", "Before.\n", "# A\n"),
        ("", "No heading at all.\n", ""),
        ("---\r\nTitle: T\r\n---\r\n", "Before.\r\n", "## A\r\n"),
    ],
)
def test_reserved_ids_read_what_is_before_the_first_heading_and_the_whole_body(
    sections: Serve, head: str, preamble: str, rest: str
) -> None:
    reader = sections({"page.md": head + preamble + rest})

    assert [one["content"] for one in read(reader, "_preamble", "_document")] == [preamble, preamble + rest]


@requirement("sections.reserved.preamble", "sections.toc.headings-only")
def test_preamble_that_is_not_there_is_a_section_that_is_not_found(sections: Serve) -> None:
    reader = sections({"page.md": "---\nTitle: T\n---\n# A\n"})

    error = fault(reader.call(READ, filename="page.md", section_ids=["a", "_preamble"]))

    assert error["code"] == "SECTION_NOT_FOUND"
    assert "_preamble" in error["message"]
    assert [one["content"] for one in read(reader, "_document")] == ["# A\n"]


# errors


@requirement("sections.error.section-not-found", "sections.read.missing", "sections.error.format")
def test_all_missing_sections_are_named_together(sections: Serve, era: str) -> None:
    reader = sections(page("# A", "## B"), era)

    error = fault(reader.call(READ, filename="page.md", section_ids=["b", "a", "a/c", "a/b", "größe"]))

    assert (error["code"], error["details"]["filename"]) == ("SECTION_NOT_FOUND", "page.md")
    assert all(one in error["message"] for one in ("b", "a/c", "größe"))
    assert CONTENTS in error["message"]


@requirement("sections.error.invalid-section-id", "sections.read.malformed", "sections.error.format")
@pytest.mark.parametrize(
    "bad", ["", "/x", "a//b", "Bad Id!!", "a/", "/", "a b", "../a", "a\0", "a\n", "a#b"], ids=ascii
)
def test_malformed_id_is_an_invalid_section_id(sections: Serve, bad: str) -> None:
    reader = sections(page("# A", "## B"))

    error = fault(reader.call(READ, filename="page.md", section_ids=["a", bad]))

    assert (error["code"], error["details"]["filename"]) == ("INVALID_SECTION_ID", "page.md")
    assert CONTENTS in error["message"]


@requirement("sections.error.invalid-section-id")
@pytest.mark.parametrize("wrong", [[5], [None], [["a"]], "a", {"a": 1}])
def test_ids_of_a_wrong_type_are_invalid_section_ids(sections: Serve, wrong: object) -> None:
    error = fault(sections(page("# A")).call(READ, filename="page.md", section_ids=wrong))

    assert (error["code"], error["details"]["filename"]) == ("INVALID_SECTION_ID", "page.md")


@requirement("sections.error.file-not-found", "sections.error.format", "sections.errors.object", "sections.errors.next")
@pytest.mark.parametrize("filename", ["absent.md", "guides", "guides/", "page", "PAGE.MD/x", "x" * 5000, "page.txt"])
def test_unknown_file_is_not_found(sections: Serve, filename: str) -> None:
    reader = sections({"page.md": "# A\n", "page.txt": "A\n", "guides/b.md": "# B\n"})

    for answer in (
        reader.call(CONTENTS, filename=filename),
        reader.call(READ, filename=filename, section_ids=["a"]),
        reader.call(READ, filename=filename, section_ids=[]),
    ):
        error = fault(answer)
        assert (error["code"], error["details"]) == (
            "FILE_NOT_FOUND",
            {"filename": filename, "search_path": str(reader.folder)},
        )
        assert LIST in error["message"]


@requirement("sections.errors.object", "sections.error.format")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (CONTENTS, {}),
        (CONTENTS, {"filename": 5}),
        (CONTENTS, {"filename": None}),
        (CONTENTS, {"filename": ["page.md"]}),
        (CONTENTS, {"filename": ""}),
        (READ, {}),
        (READ, {"filename": "page.md"}),
        (READ, {"section_ids": ["a"]}),
        (READ, {"filename": "page.md", "section_ids": None}),
        (READ, {"filename": {}, "section_ids": ["a"]}),
    ],
)
def test_arguments_that_break_the_schema_are_the_contracts_errors(
    sections: Serve, era: str, tool: str, arguments: dict[str, object]
) -> None:
    fault(sections(page("# A"), era).call(tool, **arguments))


@requirement(
    "sections.error.parse-error",
    "sections.implementation.valid-yaml",
    "sections.implementation.yaml",
    "model.front-matter.sections",
)
@pytest.mark.parametrize(
    "block", ["Title: [unclosed", "Title: a: b", "\tTitle: x", "- a\n- list", '"unclosed', "a: &x 1\nb: *y"]
)
def test_broken_front_matter_is_a_parse_error_but_the_file_is_listed(sections: Serve, block: str) -> None:
    text = f"---\n{block}\n---\n# A\n"
    reader = sections({"page.md": text, "z.md": "# Z\n"})

    for answer in (
        reader.call(CONTENTS, filename="page.md"),
        reader.call(READ, filename="page.md", section_ids=["a"]),
    ):
        error = fault(answer)
        assert (error["code"], error["details"]) == ("PARSE_ERROR", {"filename": "page.md"})
    assert names(reader) == ["page.md", "z.md"]
    assert ids(reader, "z.md") == ["z"]


# containment

OUTSIDE = [
    "../{}",
    "..%2f{}",
    "%2e%2e/{}",
    "%2e%2e%2F{}",
    "guides/../../{}",
    "guides/%2e%2e/%2e%2e/{}",
    "..\\{}",
    "..%5c{}",
    "guides\\..\\..\\{}",
    "/{}",
    "%2f{}",
    "C:\\{}",
    "%252e%252e/{}",
    "file:///{}",
    "docs://../{}",
    "../{}\0.md",
    "../{}%00.md",
    "page.md\0{}",
    "linked/{}",
    "linked%2f{}",
]


@pytest.fixture
def fenced(sections: Serve, tmp_path: Path) -> Reader:
    """A sections server with a secret beside its folder, and links that lead to it."""
    (tmp_path / "secret.md").write_text("# The secret\n")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "linked").symlink_to(tmp_path)
    (tmp_path / "library" / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "library" / "dangling.md").symlink_to(tmp_path / "absent.md")
    return sections({"page.md": "# A\n", "guides/b.md": "# B\n"})


def refused(reader: Reader, filename: str, tool: str) -> str:
    """Return the refusal of a file by a tool, without the file's name."""
    more: dict[str, Any] = {"section_ids": ["the-secret"]} if tool == READ else {}
    error = fault(reader.call(tool, filename=filename, **more))
    assert error["code"] in {"FILE_NOT_FOUND", "PERMISSION_DENIED"}
    assert error["details"]["filename"] == filename
    return f"{error['code']} {error['message'].replace(filename, 'NAME')}"


@requirement("model.containment.refused", "model.containment.no-hint", "model.containment.decode-once")
@pytest.mark.parametrize("tool", [CONTENTS, READ])
@pytest.mark.parametrize("spelling", OUTSIDE)
def test_what_lies_outside_is_refused_alike_whether_it_exists_or_not(fenced: Reader, tool: str, spelling: str) -> None:
    there, absent = (refused(fenced, spelling.format(name), tool) for name in ("secret.md", "absent.md"))

    assert there == absent


@requirement("model.containment.refused")
@pytest.mark.parametrize("tool", [CONTENTS, READ])
def test_absolute_paths_are_refused(fenced: Reader, tmp_path: Path, tool: str) -> None:
    places = ["/etc/passwd", str(tmp_path / "secret.md"), str(tmp_path / "library" / "page.md"), "/page.md"]

    assert len({refused(fenced, place, tool) for place in places}) == 1


@requirement("model.containment.links", "model.containment.no-hint")
@pytest.mark.parametrize("tool", [CONTENTS, READ])
def test_links_that_lead_out_are_neither_listed_nor_read(fenced: Reader, tool: str) -> None:
    assert names(fenced) == ["guides/b.md", "page.md"]
    assert refused(fenced, "link.md", tool) == refused(fenced, "dangling.md", tool)


@requirement("sections.list.filename", "sections.toc.parameters")
@pytest.mark.parametrize("name", ["my file[1] ü #.md", "100%.md", "a%20b.md", "what?.md", "dir #1/x y.md"])
def test_listed_filename_is_what_the_other_tools_take(sections: Serve, name: str) -> None:
    reader = sections({name: "# A\n", "a b.md": "# Other\n"})

    assert name in names(reader)
    assert ids(reader, name) == ["a"]


# one bad file, and files that change


@requirement("model.bad-file.others")
def test_bad_files_do_not_keep_the_others_from_being_listed_and_read(sections: Serve, tmp_path: Path) -> None:
    spoil(tmp_path / "library")
    reader = sections({"a.md": "---\nTitle: [\n---\n", "page.md": "# A\n"})

    assert {"a.md", "page.md"} <= set(names(reader))
    assert ids(reader) == ["a"]


@requirement("sections.fresh")
def test_file_that_was_edited_is_read_as_it_is_now(sections: Serve) -> None:
    reader = sections(page("# A", "old"))
    before = read(reader, "a")

    write(reader.folder, page("# A", "new text", "## B"))

    assert before == [{"title": "A", "content": "# A\nold\n"}]
    assert ids(reader) == ["a", "a/b"]
    assert read(reader, "a") == [{"title": "A", "content": "# A\nnew text\n## B\n"}]


@requirement("sections.fresh")
def test_edits_in_quick_succession_are_all_seen(sections: Serve) -> None:
    reader = sections(page("# A", "text 000"))
    seen = []

    for number in range(100):
        write(reader.folder, page("# A", f"text {number:03}"))
        seen += [one["content"] for one in read(reader, "a")]

    assert seen == [f"# A\ntext {number:03}\n" for number in range(100)]


@requirement("sections.fresh")
def test_edit_that_keeps_size_and_time_is_seen(sections: Serve) -> None:
    reader = sections(page("# A", "old"))
    place = reader.folder / "page.md"
    read(reader, "a")
    status = place.stat()

    write(reader.folder, page("# A", "new"))
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert read(reader, "a") == [{"title": "A", "content": "# A\nnew\n"}]


@requirement("sections.fresh")
def test_file_that_came_after_the_index_was_made_can_be_read(sections: Serve) -> None:
    reader = sections(page("# A"))

    write(reader.folder, {"late.md": "# Late\n"})

    assert ids(reader, "late.md") == ["late"]


@requirement("sections.fresh", "sections.error.file-not-found")
def test_file_that_is_gone_is_not_found_at_once(sections: Serve) -> None:
    reader = sections(page("# A"))
    read(reader, "a")

    (reader.folder / "page.md").unlink()

    assert fault(reader.call(READ, filename="page.md", section_ids=["a"]))["code"] == "FILE_NOT_FOUND"
