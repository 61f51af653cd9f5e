"""HTML becomes Markdown without its scripts, and hostile pages cannot break the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bookwheel.formats import read
from bookwheel.model import Document, Section, Source

PAGE = Source("site", "/site/page.html", "page.html")


def text(page: str) -> str:
    return read(PAGE, page.encode()).text


def test_a_page_is_read_with_its_title_description_heading_and_sections() -> None:
    page = (
        "<!doctype html><html><head><title>R&amp;D\n news</title>"
        "<META CONTENT='It&#39;s &lt;new&gt;' NAME=Description></head>"
        "<body><p> </p><h1>Top <b>news</b></h1><p>First <i>text</i> &amp; more</p><h2>Below</h2></body></html>"
    )

    assert read(PAGE, page.encode()) == Document(
        PAGE,
        "# Top **news**\n\nFirst *text* & more\n\n## Below\n",
        "html",
        {"title": "R&D news", "description": "It's <new>"},
        heading="Top news",
        paragraph="First text & more",
        sections=(
            Section("top-news", "Top news", 1, 0, 46, 1),
            Section("top-news/below", "Below", 2, 37, 46, 5),
        ),
    )


@pytest.mark.parametrize(
    "tag",
    [
        '<meta name="description" content="found it">',
        "<meta content='found it' name='description'>",
        "<META property=x NAME=DESCRIPTION CONTENT = 'found it' />",
        '<meta\n name="description"\n content="found\n it">',
    ],
)
def test_a_description_is_found_however_it_is_written(tag: str) -> None:
    assert read(PAGE, tag.encode()).metadata == {"description": "found it"}


@pytest.mark.parametrize(
    "page",
    ["<!-- <title>no</title> --><p>x", "<script>'<title>no</title>'</script><p>x", "<svg><title>no</title></svg>",
     "<title> </title><meta name=description content=''>", "<body><p>x"],
)  # fmt: skip
def test_what_is_no_title_is_not_taken_for_one(page: str) -> None:
    assert read(PAGE, page.encode()).metadata == {}


@pytest.mark.parametrize(
    "page",
    [
        "<script>secret</script>", "<SCRIPT type=x>if (a<b) '<p>secret</p>'</SCRIPT >", "<style>secret</style>",
        "<template><p>secret</p></template>", "<noscript>secret</noscript>", "<!-- secret -->", "<script>secret",
        "<style>secret", "<!-- secret", "<scr<script></script>ipt>", "<script src='>'>secret</script>",
    ],
)  # fmt: skip
def test_what_a_browser_does_not_show_is_dropped(page: str) -> None:
    assert "secret" not in text(f"<p>seen</p>{page}")
    assert "seen" in text(f"<p>seen</p>{page}")


def test_text_around_what_is_dropped_is_not_torn_apart() -> None:
    assert text("<p>to<!-- x -->get<script>y</script>her</p>") == "together\n"


@pytest.mark.parametrize(
    "address",
    ["javascript:x", " JaVaScRiPt:x", "java\nscript:x", "java&#9;script:x", "&#106;avascript:x", "vbscript:x",
     "data:text/html,x", "&#1;javascript:x", "javascript&colon;x"],
)  # fmt: skip
def test_a_harmful_link_leaves_its_text_only(address: str) -> None:
    page = (
        f'<p><a href="{address}">A <b>text</b></a></p><p><a < href="{address}">B</a></p><img src="{address}" alt="C">'
        f'<iframe src="{address}"></iframe><video src="{address}"></video><blockquote cite="{address}">Q</blockquote>'
    )

    shown = text(page)

    assert ":" not in shown
    assert "A **text**\n\nB" in shown


def test_a_literal_mention_of_a_harmful_link_stays() -> None:
    assert text("<pre>&lt;a href='javascript:x'></pre>") == "```\n<a href='javascript:x'>\n```\n"


def test_markup_has_the_form_other_rooms_expect() -> None:
    page = (
        "<h1>One</h1><h2>Two</h2><ul><li>a<ul><li>b</li></ul></li></ul><ol><li>x</li></ol>"
        "<table><tr><th>h<th>i</tr><tr><td>1<td>2|3</tr></table>"
        "<pre><code class='language-sh'># no heading\nls &amp;&amp; pwd</code></pre>"
        "<p><a href='http://x/?a=1&amp;b=2'>link</a></p>"
    )

    assert text(page) == (
        "# One\n\n## Two\n\n- a\n  - b\n\n1. x\n\n| h | i    |\n| --- | ---- |\n| 1 | 2\\|3 |\n\n"
        "```sh\n# no heading\nls && pwd\n```\n\n[link](http://x/?a=1&b=2)\n"
    )


@pytest.mark.parametrize("literal", ["&lt;script&gt; runs", "&lt;!-- a comment", "&lt;div&gt;", "# no heading", "```"])
def test_literal_markup_does_not_swallow_the_headings_after_it(literal: str) -> None:
    document = read(PAGE, f"<p>{literal}</p><h2>Real</h2><pre>&lt;div&gt;</pre>".encode())

    assert [section.title for section in document.sections] == ["Real"]
    assert document.text.endswith("```\n<div>\n```\n")


def test_navigation_and_forms_are_text_too() -> None:
    shown = text("<nav>menu</nav><form><p>whole page</p></form><header>head</header><footer>foot</footer>")

    assert [word in shown for word in ("menu", "whole page", "head", "foot")] == [True] * 4


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("<meta charset=shift_jis><p>日本".encode("shift_jis"), "日本\n"),
        ("<META HTTP-EQUIV=x CONTENT='text/html; charset=windows-1251'><p>Это".encode("cp1251"), "Это\n"),
        ("<meta charset='ISO-8859-1'><p>“€”".encode("cp1252"), "“€”\n"),
        ("<meta charset=latin1><p>日本".encode("utf-8-sig"), "日本\n"),
        ("<meta charset=utf-16><p>日本".encode(), "日本\n"),
        ("<meta charset=nonsense><p>日本".encode(), "日本\n"),
        ("<meta charset=punycode><p>日本".encode(), "日本\n"),
        ("<meta charset=utf-8><p>Größe".encode("cp1252"), "Größe\n"),
        ("\ufeff<p>日本".encode("utf-16-le"), "日本\n"),
        ("<p>Größe\n".encode("utf-16-be"), "Größe\n"),
    ],
)
def test_the_encoding_is_the_marked_then_the_named_then_the_found_one(data: bytes, expected: str) -> None:
    assert read(PAGE, data).text == expected


def test_a_page_without_text_is_empty() -> None:
    assert text("<html><head><title>x</title></head><body><img src=a></body></html>").strip() in ("", "![](a)")


HOSTILE = {
    "deep": ("'<div>' * 100_000 + 'seen'", "seen"),
    "deep and closed": ("'<p>first</p>' + '<div>' * 100_000 + 'seen' + '</div>' * 100_000", "seen"),
    "just too deep": ("'<div>' * 2_000 + 'seen'", "seen"),
    "deep lists": ("'<ul><li>' * 5_000 + 'seen'", "seen"),
    "deep tables": ("'<table><tr><td>' * 20_000 + 'seen'", "seen"),
    "deep quotes": ("'<blockquote>' * 900 + 'seen'", "seen"),
    "open brackets": ("'<p>seen</p>' + '<' * 5_000_000", "seen"),
    "open comments": ("'<p>seen</p>' + '<!--' * 1_000_000", "seen"),
    "open tags": ("'<p>seen</p>' + '<p ' * 500_000", "seen"),
    "open scripts": ("'<p>seen</p>' + '<script ' * 500_000", "seen"),
    "open quotes": ("'<p>seen</p>' + '<p a=\"' * 300_000", "seen"),
    "mixed quotes": ("'<p>seen</p>' + '<p a=\"<h1 b=\\'' * 200_000", "seen"),
    "open titles": ("'<p>seen</p>' + '<title>' * 300_000", ""),
    "empty paragraphs": ("'<p>' * 200_000 + 'seen'", "seen"),
    "top headings": ("'<p>seen</p>' + '<h1>' * 20_000", "seen"),
    "metas": ("'<p>seen</p>' + '<meta name=' * 300_000", "seen"),
    "huge attribute": ("'<p title=\"' + 'x' * 5_000_000 + '\">seen</p>'", "seen"),
    "huge span": ("'<table><tr><td colspan=100000000>seen</table>'", "seen"),
    "ampersands": ("'<p>seen</p>' + '&' * 2_000_000", "seen"),
    "large": ("('<p>seen ' + 'x' * 500) * 24_000", "seen"),
    "fences": ("'<p>seen</p>' + '<pre>```</pre>' * 5_000", "seen"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_gives_its_text_and_the_process_lives(name: str) -> None:
    page, expected = HOSTILE[name]
    program = (
        "from bookwheel.formats import read\nfrom bookwheel.model import Source\n"
        f"d = read(Source('l', '/a.html', 'a.html'), ({page}).encode())\nprint({expected!r} in d.text, len(d.text))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.startswith("True")
