"""The docs contract: what a client sees of a folder of Markdown, HTML and text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from mcp import MCPError

from contracts.conftest import Serve
from contracts.harness import Answer, Files, Reader, requirement, spoil

BLURB = " ".join(f"word{number:03}" for number in range(60))  # 8 characters each with its blank
CUT = " ".join(f"word{number:03}" for number in range(18)) + "…"  # 18 of them: 143 characters and the ellipsis
HIT = re.compile(r'(\d+)\. (docs://\S+) - "(.*)" \(relevance: (\d\.\d\d)\)')


def hits(answer: Answer) -> list[tuple[str, str, float, str, str]]:
    """Return (URI, title, relevance, excerpt, location) of each hit, having checked every line of the text."""
    head, *lines = answer.text.split("\n")
    rows = [line for line in lines if line]
    found = []
    for place, (first, second, third) in enumerate(zip(*[iter(rows)] * 3, strict=True), 1):
        match = HIT.fullmatch(first)
        assert match, first
        assert match[1] == str(place)
        assert second.startswith("   Excerpt: ")
        assert third.startswith("   Match location: ")
        found.append((match[2], match[3], float(match[4]), second[12:], third[19:]))
    assert head == f"Search results: {len(found)} matches"
    assert not rows or lines[0] == ""
    return found


def uris(answer: Answer) -> list[str]:
    return sorted(hit[0] for hit in hits(answer))


def entry(name: str, title: str, description: str, mime_type: str = "text/markdown", **more: Any) -> dict[str, Any]:
    return {
        "uri": f"docs://{name}",
        "name": name.rpartition("/")[2],
        "title": title,
        "description": description,
        "mimeType": mime_type,
        "_meta": {"tags": [], **more},
    }


# titles, descriptions and tags

MARKDOWN: dict[str, tuple[str, str, str]] = {
    "front matter before all": ("---\ntitle: Given\ndescription: Said.\n---\n# Heading\n\nText.\n", "Given", "Said."),
    "heading without front matter": ("# Heading\n\nText.\n", "Heading", "Text."),
    "heading where front matter has no title": ("---\nauthor: me\n---\n# Heading\n\nText.\n", "Heading", "Text."),
    "first heading of level one": ("## Lower\n\nText.\n\n# Upper\n\nMore.\n\n# Later\n", "Upper", "Text."),
    "file name where all headings are lower": ("## Lower\n\nText.\n", "page", "Text."),
    "file name where nothing is a heading": ("Text.\n", "page", "Text."),
    "description of the front matter alone": ("---\ndescription: Said.\n---\nText.\n", "page", "Said."),
    "nothing at all": ("", "page", ""),
    "headings alone": ("# Heading\n\n## Lower\n", "Heading", ""),
    "keys in any case": ("---\nTITLE: Given\nDescription: Said.\n---\nText.\n", "Given", "Said."),
    "underlined text is no heading": ("Over\n====\n\nText.\n\n# Heading\n", "Heading", "Text."),
}


@requirement(
    "docs.concept.no-markup",
    "docs.concept.metadata",
    "docs.md.title.front-matter",
    "docs.md.title.heading",
    "docs.md.title.filename",
    "docs.md.description.front-matter",
    "docs.md.description.paragraph",
    "model.front-matter.keys",
    "model.scanner.atx-only",
)
@pytest.mark.parametrize(("text", "title", "description"), MARKDOWN.values(), ids=MARKDOWN)
def test_markdown_is_described_by_the_first_source_that_has_something(
    docs: Serve, text: str, title: str, description: str
) -> None:
    assert docs({"page.md": text}).resource() == entry("page.md", title, description)


HIDDEN_HEADINGS = {
    "backtick fence": "```sh\n# not\n```\n",
    "tilde fence": "~~~\n# not\n~~~\n",
    "fence in a longer fence": "````\n```\n# not\n```\n````\n",
    "indented code": "    # not\n",
    "comment": "<!--\n# not\n-->\n",
    "front matter": "---\nauthor: me\n# not\n---\n",
}


@requirement(
    "model.scanner.fences", "model.scanner.indented-code", "model.scanner.comments", "model.scanner.front-matter"
)
@pytest.mark.parametrize("start", HIDDEN_HEADINGS.values(), ids=HIDDEN_HEADINGS)
def test_title_is_never_taken_from_what_only_looks_like_a_heading(docs: Serve, start: str) -> None:
    assert docs({"page.md": f"{start}\n# Heading\n\nText.\n"}).resource() == entry("page.md", "Heading", "Text.")


NO_PARAGRAPHS = {
    "heading": "## Lower\n",
    "image": "![a ship](ship.png)\n",
    "linked image": "[![build](badge.svg)](https://example.org)\n",
    "rule of dashes": "---\n",
    "rule of stars": "* * *\n",
    "fence": "```\ncode\n```\n",
    "tilde fence": "~~~\ncode\n~~~\n",
    "comment": "<!-- hidden -->\n",
}


@requirement("docs.description.paragraph")
@pytest.mark.parametrize("block", NO_PARAGRAPHS.values(), ids=NO_PARAGRAPHS)
def test_description_passes_over_what_is_no_paragraph(docs: Serve, block: str) -> None:
    reader = docs({"page.md": f"# Heading\n\n{block}\nText.\n"})

    assert reader.resource() == entry("page.md", "Heading", "Text.")


@requirement("docs.description.folded")
def test_description_is_folded_to_single_blanks(docs: Serve) -> None:
    assert docs({"page.md": "# T\n\nOne  two\n\tthree\r\nfour.\n\nNext.\n"}).resource() == entry(
        "page.md", "T", "One two three four."
    )


LONG: dict[str, Files] = {
    "front matter": {"page.md": f"---\ntitle: T\ndescription: {BLURB}\n---\n"},
    "paragraph": {"page.md": f"# T\n\n{BLURB}\n"},
    "meta": {"page.html": f'<title>T</title><meta name="description" content="{BLURB}"><p>Text.</p>'},
    "html paragraph": {"page.html": f"<title>T</title><p>{BLURB}</p>"},
    "text lines": {"page.txt": f"T\n{BLURB[:103]}\n{BLURB[104:]}\n"},
}


@requirement(
    "docs.md.description.trimmed",
    "docs.html.description.trimmed",
    "docs.txt.description.trimmed",
    "docs.description.cut",
)
@pytest.mark.parametrize("files", LONG.values(), ids=LONG)
def test_long_description_is_cut_at_a_word_with_an_ellipsis(docs: Serve, files: Files) -> None:
    assert docs(files).resource()["description"] == CUT


@requirement("docs.description.cut")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{'x' * 74} {'y' * 75}", f"{'x' * 74} {'y' * 75}"),
        (f"{'x' * 74} {'y' * 76}", f"{'x' * 74}…"),
        (f"{'x' * 149} y", f"{'x' * 149}…"),
        ("ü" * 151, "ü" * 149 + "…"),
    ],
    ids=["150 characters stay", "151 are cut", "the ellipsis counts", "a single word"],
)
def test_description_has_at_most_150_characters(docs: Serve, text: str, shown: str) -> None:
    assert docs({"page.md": f"# T\n\n{text}\n"}).resource() == entry("page.md", "T", shown)


@requirement("docs.md.tags.given", "docs.md.tags.empty", "docs.tags.meta")
def test_tags_of_the_front_matter_are_in_the_metadata(docs: Serve) -> None:
    reader = docs(
        {
            "flow.md": "---\ntitle: T\ntags: [one, two words]\n---\n",
            "list.md": "---\ntitle: T\nTags:\n  - ü\n---\n",
            "none.md": "# T\n",
        }
    )

    assert reader.resources() == [
        entry("flow.md", "T", "", tags=["one", "two words"]),
        entry("list.md", "T", "", tags=["ü"]),
        entry("none.md", "T", "", tags=[]),
    ]


BROKEN = "---\ntitle: [unclosed\n---\n# Heading\n\nText.\n"


@requirement("model.front-matter.docs")
def test_broken_front_matter_is_ignored_and_the_text_used(docs: Serve) -> None:
    reader = docs({"page.md": BROKEN})

    assert reader.resource() == entry("page.md", "Heading", "Text.")
    assert reader.text("docs://page.md") == BROKEN


HTML: dict[str, tuple[str, str, str]] = {
    "title and meta before all": (
        '<html><head><title>Given</title><meta name="description" content="Said."></head><h1>Heading</h1><p>Text.</p>',
        "Given",
        "Said.",
    ),
    "heading and paragraph": (
        "<h2>Lower</h2><h1>Heading</h1><h1>Later</h1><p>Text.</p><p>More.</p>",
        "Heading",
        "Text.",
    ),
    "empty title": ("<title> </title><h1>Heading</h1>", "Heading", ""),
    "file name": ("<p>Text.</p>", "page", "Text."),
    "marks inside": ("<h1>A <em>fine</em> &amp; new</h1><p>So\n <b>it</b> is.</p>", "A fine & new", "So it is."),
    "meta in another order": (
        "<META content='Said.' NAME='Description'><TITLE>Given</TITLE><P>Text.</P>",
        "Given",
        "Said.",
    ),
}


@requirement(
    "docs.html.title.tag",
    "docs.html.title.heading",
    "docs.html.title.filename",
    "docs.html.description.meta",
    "docs.html.description.paragraph",
    "docs.mime",
)
@pytest.mark.parametrize(("page", "title", "description"), HTML.values(), ids=HTML)
def test_html_is_described_by_the_first_source_that_has_something(
    docs: Serve, page: str, title: str, description: str
) -> None:
    assert docs({"page.html": page}).resource() == entry("page.html", title, description)


@requirement("docs.html.content.markdown", "docs.html.content.no-scripts", "docs.read.html")
def test_html_is_read_as_markdown_without_scripts_and_styles(docs: Serve) -> None:
    page = (
        "<html><head><title>T</title><style>p { color: red }</style></head><body><h1>Heading</h1>"
        "<script>let hidden = 1;</script><p>Some <strong>bold</strong> <a href='x.html'>link</a>.</p>"
        "<ul><li>one</li><li>two</li></ul><STYLE>b { }</STYLE><script src='x.js'></script></body></html>"
    )

    (content,) = docs({"page.html": page}).read("docs://page.html")

    assert {**content, "text": content["text"].split()} == {
        "uri": "docs://page.html",
        "mimeType": "text/markdown",
        "text": ["#", "Heading", "Some", "**bold**", "[link](x.html).", "-", "one", "-", "two"],
    }


TEXTS: dict[str, tuple[str, set[str], str]] = {
    "title and three lines": ("Title\ntwo\nthree\nfour\nfive\n", {"Title"}, "two three four"),
    "windows line ends": ("Title\r\ntwo\r\n", {"Title"}, "two"),
    "byte order mark": ("\ufeffTitle\ntwo\n", {"Title"}, "two"),
    "empty first line": ("\ntwo\nthree\n", {"memo", "memo.txt"}, "two three"),
    "empty file": ("", {"memo", "memo.txt"}, ""),
    "no markup is read": ("# Title\n---\n", {"# Title"}, "---"),
}


@requirement("docs.txt.title.first-line", "docs.txt.title.filename", "docs.txt.description.lines", "docs.mime")
@pytest.mark.parametrize(("text", "titles", "description"), TEXTS.values(), ids=TEXTS)
def test_text_is_described_by_its_first_lines(docs: Serve, text: str, titles: set[str], description: str) -> None:
    found = docs({"memo.txt": text}).resource()

    assert found["title"] in titles
    assert found == entry("memo.txt", found["title"], description, "text/plain")


@requirement("model.scanner.bom-crlf")
def test_byte_order_mark_and_windows_line_ends_are_understood(docs: Serve) -> None:
    reader = docs({"page.md": "\ufeff---\r\ndescription: Said.\r\n---\r\n# Heading\r\n\r\nText.\r\n"})

    assert reader.resource() == entry("page.md", "Heading", "Said.")


# which files, and what they are called


@requirement(
    "docs.concept.formats",
    "docs.formats.markdown",
    "docs.formats.html",
    "docs.formats.text",
    "docs.formats.exactly",
    "docs.name",
    "docs.mime",
    "docs.uri.scheme",
    "docs.resources.list",
)
def test_listing_shows_markdown_html_and_text_and_nothing_else(docs: Serve) -> None:
    others = ["a.mdx", "b.rst", "c.markdown", "d.htm", "e.org", "f.text", "g.md.bak", "md", "h.json", "i.pdf"]
    reader = docs(
        {
            "README.md": "# One\n",
            "api/reference.html": "<title>Two</title>",
            "notes/deep/memo.txt": "Three\n",
            **dict.fromkeys(others, "# Other zebra\n"),
        }
    )

    assert reader.resources() == [
        entry("README.md", "One", ""),
        entry("api/reference.html", "Two", ""),
        entry("notes/deep/memo.txt", "Three", "", "text/plain"),
    ]
    for name in others:
        assert reader.refusal(lambda name=name: reader.read(f"docs://{name}")).code == -32602  # type: ignore[misc]


@requirement("docs.formats.exactly")
@pytest.mark.parametrize("types", [None, [], ["org"], ["rst", ".htm", "markdown", "text", "mdx"]])
def test_search_never_finds_other_kinds_of_files(docs: Serve, types: list[str] | None) -> None:
    others = ["a.mdx", "b.rst", "c.markdown", "d.htm", "e.org", "f.text"]
    reader = docs({"README.md": "# One\n", **dict.fromkeys(others, "zebra\n")})

    answer = reader.call("search_documents", query="zebra", **({} if types is None else {"fileTypes": types}))

    assert answer.text == "Search results: 0 matches"


NAMES = [
    "my file[1] ü #.md",
    "100%.md",
    "50%25.md",
    "what?.md",
    "a%20b.md",
    "plus+and&=;,.md",
    "colon: quote' \"star*.md",
    "日本語/ページ 1.md",
    "dir #1/x y.txt",
    "tilde~{brace}|^`.md",
]


@requirement("model.uri.encoded", "model.uri.accepted")
@pytest.mark.parametrize("name", NAMES)
def test_any_name_round_trips_as_a_uri_encoded_and_raw(docs: Serve, name: str) -> None:
    reader = docs({name: "The text.\n"})

    (uri,) = [one["uri"] for one in reader.resources()]

    assert re.fullmatch(r"docs://(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", uri, re.ASCII)
    assert unquote(uri) == f"docs://{name}"
    assert reader.text(uri) == "The text.\n"
    assert reader.text(f"docs://{name}") == "The text.\n"


@requirement("model.uri.encoded", "model.uri.compared")
def test_the_contracts_own_example_is_encoded_per_segment(docs: Serve) -> None:
    reader = docs({"a b/my file[1] ü #.md": "# T\n"})

    assert reader.resource()["uri"] == "docs://a%20b/my%20file%5B1%5D%20%C3%BC%20%23.md"
    assert reader.text("docs://a b/my%20file[1]%20%c3%bc%20%23.md") == "# T\n"


@requirement("model.uri.encoded", "model.uri.compared")
def test_a_listed_uri_gives_its_own_file_where_another_is_named_like_the_uri(docs: Serve) -> None:
    files = {"a b.md": "blank\n", "a%20b.md": "percent\n", "a%2520b.md": "percent twice\n"}
    reader = docs(files)

    texts = {unquote(one["uri"].removeprefix("docs://")): reader.text(one["uri"]) for one in reader.resources()}

    assert texts == files


# reading

BYTES: dict[str, tuple[str, bytes]] = {
    "windows line ends": ("page.md", b"# T\r\n\r\nText.\r\n"),
    "mixed line ends": ("page.md", b"# T\r\rText.\n\r\n"),
    "byte order mark": ("page.md", b"\xef\xbb\xbf# T\n"),
    "front matter": ("page.md", b"---\ntitle: T\n---\n\n# T\n"),
    "no final newline": ("page.md", b"  # T  \n\ttab\n\n\n  end "),
    "beyond the basic plane": ("page.md", "ü 日本 \U0001f40b e\u0301 \u2028 \u0085\n".encode()),
    "empty": ("page.md", b""),
    "text": ("page.txt", b"\xef\xbb\xbfOne\r\n\x0ctwo\t \r\n"),
}


@requirement("docs.read.bytes", "docs.txt.content", "docs.resources.read", "docs.mime")
@pytest.mark.parametrize(("name", "content"), BYTES.values(), ids=BYTES)
def test_markdown_and_text_read_back_byte_for_byte(docs: Serve, era: str, name: str, content: bytes) -> None:
    (found,) = docs({name: content}, era).read(f"docs://{name}")

    assert {**found, "text": found["text"].encode()} == {
        "uri": f"docs://{name}",
        "mimeType": "text/markdown" if name.endswith(".md") else "text/plain",
        "text": content,
    }


@requirement("model.unknown-resource")
@pytest.mark.parametrize("uri", ["docs://absent.md", "docs://", "docs://guides", "other://README.md", "README.md", ""])
def test_unknown_resource_is_an_error_that_names_it(docs: Serve, era: str, uri: str) -> None:
    reader = docs({"README.md": "# T\n", "guides/a.md": "# A\n"}, era)

    error = reader.refusal(lambda: reader.read(uri))

    assert error.code == -32602
    assert uri in error.message
    assert "not found" in error.message.lower()


# containment

OUTSIDE = [
    "../{}",
    "..%2f{}",
    "..%2F{}",
    "%2e%2e/{}",
    "%2E%2e%2f{}",
    "guides/../../{}",
    "guides/%2e%2e/%2e%2e/{}",
    "./../{}",
    "..\\{}",
    "..%5c{}",
    "guides\\..\\..\\{}",
    "/{}",
    "//{}",
    "%2f{}",
    "C:\\{}",
    "\\\\host\\{}",
    "%252e%252e/{}",
    "../{}%00.md",
    "../{}\0.md",
    "README.md\0{}",
    "linked/{}",
    "linked%2f{}",
    "guides/../linked/{}",
]


@pytest.fixture
def fenced(docs: Serve, tmp_path: Path) -> Reader:
    """A docs server with a secret beside its folder, and links that lead to it."""
    (tmp_path / "secret.md").write_text("# The secret\n")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "linked").symlink_to(tmp_path)
    (tmp_path / "library" / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "library" / "dangling.md").symlink_to(tmp_path / "absent.md")
    return docs({"README.md": "# T\n", "guides/a.md": "# A\n"})


@requirement("model.containment.refused", "model.containment.no-hint", "model.containment.decode-once")
@pytest.mark.parametrize("spelling", OUTSIDE)
def test_what_lies_outside_is_an_unknown_resource_whether_it_exists_or_not(fenced: Reader, spelling: str) -> None:
    def told(name: str) -> tuple[int, str, str]:
        uri = f"docs://{spelling.format(name)}"
        error = fenced.refusal(lambda: fenced.read(uri))
        assert uri in error.message
        return error.code, error.message.replace(uri, "URI"), str(error.data).replace(repr(uri), "URI")

    assert told("secret.md") == told("absent.md") == told("absent")


@requirement("model.containment.refused")
def test_absolute_paths_are_unknown_resources(fenced: Reader, tmp_path: Path) -> None:
    places = ["/etc/passwd", str(tmp_path / "secret.md"), str(tmp_path / "library" / "README.md"), "/README.md"]

    errors = [fenced.refusal(lambda place=place: fenced.read(f"docs://{place}")) for place in places]  # type: ignore[misc]

    assert [error.message for error in errors] == [f"Resource not found: docs://{place}" for place in places]


@requirement("model.containment.links", "model.containment.no-hint")
def test_links_that_lead_out_are_neither_listed_nor_found_nor_read(fenced: Reader) -> None:
    assert [one["uri"] for one in fenced.resources()] == ["docs://README.md", "docs://guides/a.md"]
    assert fenced.call("search_documents", query="secret").text == "Search results: 0 matches"
    for name in ("link.md", "dangling.md"):
        with pytest.raises(MCPError, match=f"Resource not found: docs://{name}"):
            fenced.read(f"docs://{name}")


# one bad file


@requirement("model.bad-file.others")
def test_bad_files_do_not_keep_the_others_from_being_served(docs: Serve, tmp_path: Path) -> None:
    spoil(tmp_path / "library")
    reader = docs({"a.md": BROKEN, "z.md": "# Good\n\nA zebra.\n"})

    listed = {one["uri"]: one for one in reader.resources()}

    assert listed["docs://z.md"] == entry("z.md", "Good", "A zebra.")
    assert listed["docs://a.md"] == entry("a.md", "Heading", "Text.")
    assert uris(reader.call("search_documents", query="zebra")) == ["docs://z.md"]


# searching

SEA: Files = {
    "guides/anchor.md": "---\ntitle: Anchors\n---\nHow to weigh one.\n",
    "guides/harbour.md": "---\ntitle: Harbours\n---\nDrop the anchor\nin   the\tharbour, then wait.\n",
    "notes/both.txt": "Anchor talk\nAn anchor holds.\n",
    "page.html": "<title>Ropes</title><p>A rope ties the anchor.</p>",
    "whale.md": "# Whale\n\nLarge.\n",
}


@requirement(
    "docs.search.text",
    "docs.search.matches",
    "docs.search.relevance",
    "docs.search.location",
    "docs.tool.response",
    "docs.concept.search",
)
def test_every_hit_is_three_lines_in_the_specified_form(docs: Serve, era: str) -> None:
    found = hits(docs(SEA, era).call("search_documents", query="anchor"))

    assert sorted((uri, title, location) for uri, title, _, _, location in found) == [
        ("docs://guides/anchor.md", "Anchors", "title"),
        ("docs://guides/harbour.md", "Harbours", "content"),
        ("docs://notes/both.txt", "Anchor talk", "both"),
        ("docs://page.html", "Ropes", "content"),
    ]
    assert all(0 < relevance <= 1 for _, _, relevance, _, _ in found)
    assert found == sorted(found, key=lambda hit: -hit[2])


@requirement("docs.search.text", "docs.search.matches", "docs.search.excerpt")
def test_a_single_hit_is_worded_as_matches_too(docs: Serve) -> None:
    answer = docs({"a.md": "---\ntitle: Plain\n---\nA lone zebra.\n"}).call("search_documents", query="zebra")

    shown = re.sub(r"relevance: \d\.\d\d", "relevance: 0.95", answer.text)

    assert shown == (
        'Search results: 1 matches\n\n1. docs://a.md - "Plain" (relevance: 0.95)\n'
        "   Excerpt: A lone zebra.\n   Match location: content"
    )


@requirement("docs.search.matches", "docs.search.evidence", "docs.search.nonsense")
@pytest.mark.parametrize("query", ["xqzzvwkj", "qqqqqq wwwwww", "???", "boat"])
def test_words_that_occur_nowhere_give_no_matches(docs: Serve, query: str) -> None:
    answer = docs(SEA).call("search_documents", query=query)

    assert (answer.text, answer.error) == ("Search results: 0 matches", False)


@requirement("docs.search.excerpt")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\x0b", "\x85"], ids=ascii)
def test_excerpt_is_one_line_around_the_match(docs: Serve, end: str) -> None:
    filler = end.join(f"line {number} of filler" for number in range(200))
    reader = docs({"a.txt": f"Title\n{filler}{end}before{end}zebra{end}after{end}{filler}\n"})

    ((_, _, _, excerpt, _),) = hits(reader.call("search_documents", query="zebra"))

    assert "before zebra after" in excerpt
    assert len(excerpt.splitlines()) == 1
    assert len(excerpt) < 400


@requirement("docs.search.text")
def test_title_stays_on_its_line_whatever_it_holds(docs: Serve) -> None:
    reader = docs({"a.md": '---\ntitle: "One\\nline \\"quoted\\"\\u2028(relevance: 9.99)"\n---\nzebra\n'})

    ((uri, title, *_),) = hits(reader.call("search_documents", query="zebra"))

    assert (uri, title) == ("docs://a.md", 'One line "quoted" (relevance: 9.99)')


@requirement("docs.tool.search-in", "docs.search.location")
@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("title", ["docs://guides/anchor.md", "docs://notes/both.txt"]),
        ("content", ["docs://guides/harbour.md", "docs://notes/both.txt", "docs://page.html"]),
        (
            "both",
            ["docs://guides/anchor.md", "docs://guides/harbour.md", "docs://notes/both.txt", "docs://page.html"],
        ),
    ],
)
def test_search_looks_where_it_is_told_to(docs: Serve, target: str, found: list[str]) -> None:
    assert uris(docs(SEA).call("search_documents", query="anchor", searchIn=target)) == found


@requirement("docs.tool.search-in", "docs.tool.limit")
def test_defaults_are_both_places_and_ten_hits(docs: Serve) -> None:
    reader = docs({f"{number}.md": "zebra\n" for number in range(15)})

    plain = reader.call("search_documents", query="zebra")

    assert len(hits(plain)) == 10
    assert plain == reader.call("search_documents", query="zebra", searchIn="both", limit=10)


@requirement("docs.tool.limit")
@pytest.mark.parametrize("limit", [1, 3, 15, 40, 4.0])
def test_limit_bounds_the_hits(docs: Serve, limit: float) -> None:
    reader = docs({f"{number}.md": "zebra\n" for number in range(15)})

    assert len(hits(reader.call("search_documents", query="zebra", limit=limit))) == min(limit, 15)


@requirement("docs.tool.file-types", "docs.search.file-types")
@pytest.mark.parametrize(
    ("types", "found"),
    [
        (["md"], ["docs://guides/anchor.md", "docs://guides/harbour.md"]),
        ([".md"], ["docs://guides/anchor.md", "docs://guides/harbour.md"]),
        (["txt", ".html"], ["docs://notes/both.txt", "docs://page.html"]),
        ([], ["docs://guides/anchor.md", "docs://guides/harbour.md", "docs://notes/both.txt", "docs://page.html"]),
        (["pdf"], []),
    ],
)
def test_file_types_narrow_the_search_with_or_without_the_dot(docs: Serve, types: list[str], found: list[str]) -> None:
    assert uris(docs(SEA).call("search_documents", query="anchor", fileTypes=types)) == found


@requirement("docs.search.structured")
def test_structured_content_is_the_same_answer_as_data(docs: Serve, era: str) -> None:
    answer = docs(SEA, era).call("search_documents", query="anchor")

    assert answer.data
    assert answer.data["matches"] == 4
    assert [
        (one["uri"], one["title"], one["relevance"], one["excerpt"], one["matchLocation"])
        for one in answer.data["results"]
    ] == hits(answer)


@requirement("docs.search.structured", "docs.search.nonsense")
def test_structured_content_of_no_matches_is_empty(docs: Serve) -> None:
    answer = docs(SEA).call("search_documents", query="xqzzvwkj")

    assert answer.data
    assert (answer.data["matches"], answer.data["results"]) == (0, [])


@requirement("docs.tool.query", "docs.tool.search-in", "docs.tool.limit", "docs.tool.file-types")
@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({}, "query"),
        ({"query": 5}, "query"),
        ({"query": None}, "query"),
        ({"query": ["anchor"]}, "query"),
        ({"query": "anchor", "searchIn": "everywhere"}, "searchIn"),
        ({"query": "anchor", "searchIn": ["title"]}, "searchIn"),
        ({"query": "anchor", "limit": "ten"}, "limit"),
        ({"query": "anchor", "limit": True}, "limit"),
        ({"query": "anchor", "fileTypes": "md"}, "fileTypes"),
        ({"query": "anchor", "fileTypes": [1]}, "fileTypes"),
    ],
)
def test_arguments_that_break_the_schema_are_errors_that_name_the_argument(
    docs: Serve, era: str, arguments: dict[str, object], culprit: str
) -> None:
    answer = docs(SEA, era).call("search_documents", **arguments)

    assert answer.error
    assert culprit in answer.text


@requirement("docs.tool.query")
@pytest.mark.parametrize(
    "query",
    ['"', "'", "a OR", "NOT", "(", "zebra*", "-zebra", 'say "hello', "%", "ü" * 5000, "\0", "title:x", "{}", "\\"],
    ids=ascii,
)
def test_no_query_is_too_odd_to_be_answered(docs: Serve, query: str) -> None:
    hits(docs(SEA).call("search_documents", query=query))


@requirement("docs.tool.definition")
def test_the_tool_is_the_specified_one(docs: Serve, era: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Search query"},
            "searchIn": {
                "type": "string",
                "enum": ["title", "content", "both"],
                "description": "Search target: title, content, or both",
                "default": "both",
            },
            "limit": {"type": "number", "description": "Maximum number of results", "default": 10},
            "fileTypes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "File extensions to search",
            },
        },
        "required": ["query"],
    }

    assert docs(SEA, era).tools() == [
        {"name": "search_documents", "description": "Search documents by title or content", "inputSchema": schema}
    ]


# long lists


@requirement("docs.resources.list")
def test_long_list_comes_in_pages_that_hold_every_file_once(docs: Serve, era: str) -> None:
    reader = docs({f"folder {number % 7}/page {number}.md": f"# Page {number}\n" for number in range(450)}, era)

    pages = reader.pages()

    assert [len(page) for page in pages] == [200, 200, 50]
    assert sorted(one["title"] for page in pages for one in page) == sorted(f"Page {n}" for n in range(450))


@requirement("docs.resources.list")
@pytest.mark.parametrize("cursor", ["!", "nonsense", "ü", "////", "gA=="])
def test_cursor_of_another_server_is_an_error(docs: Serve, era: str, cursor: str) -> None:
    reader = docs(SEA, era)

    error = reader.refusal(lambda: reader.page(cursor))

    assert error.code == -32602
    assert "cursor" in error.message
