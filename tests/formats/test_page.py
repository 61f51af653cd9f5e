"""The main text of a web page, without what every page of its site has."""

from __future__ import annotations

import pytest

from bookwheel.formats import PAGE, read
from bookwheel.formats.page import main_text
from bookwheel.model import Document, Source

TEXT = "<h1>The wheel</h1><p>It turns when a &lt; b, and R&amp;D pays for it all, year after year.</p>"
SHOWN = "# The wheel\n\nIt turns when a < b, and R&D pays for it all, year after year.\n"


@pytest.mark.parametrize(
    "page",
    [
        f"<body><nav>Home</nav><main>{TEXT}</main><footer>Imprint</footer></body>",
        f"<body><div role=navigation>Home</div><div role='main'>{TEXT}</div></body>",
        f"<body><div>Home</div><article>{TEXT}</article><div>Imprint</div></body>",
        f"<body><header>Home</header>{TEXT}<aside>Ads</aside><footer>Imprint</footer></body>",
        f"<body class='has-sidebar'><ul class='nav navbar'><li>Home</ul>{TEXT}<div id=footer>Imprint</div></body>",
        f"<body><div class='cookie-banner'>Accept</div>{TEXT}<div class=\"share social\">Tweet</div></body>",
        f"<body><main><nav>In this article</nav>{TEXT}<form><input><button>Send</button></form></main></body>",
        f"<body>{TEXT}<div hidden>Menu</div><div aria-hidden='true'>x</div></body>",
        f"<body><main><header>{TEXT}</header></main></body>",
        f"<body><p>Home<nav><ul><li>a<li>b</ul></nav><main>{TEXT}</body>"[:-7] + "</main>",
    ],
)  # fmt: skip
def test_navigation_and_the_like_are_left_out(page: str) -> None:
    assert main_text(page) == SHOWN


def test_of_several_articles_all_are_kept() -> None:
    page = f"<body><nav>Home</nav><article>{TEXT}</article><article><h2>Second</h2><p>More.</p></article></body>"

    assert main_text(page) == f"{SHOWN}\n## Second\n\nMore.\n"


@pytest.mark.parametrize(
    "page",
    [f"<body><nav>{TEXT}</nav></body>", f"<div class=menu>{TEXT}</div>", f"<main></main><p>{TEXT}", f"<form>{TEXT}"],
)
def test_a_page_that_would_lose_its_text_is_kept_whole(page: str) -> None:
    assert "It turns when" in main_text(page)


def test_a_page_is_read_with_its_title_and_sections() -> None:
    source = Source("web", "https://example.org/wheel", "wheel")
    page = f"<title>Wheels</title><meta name=description content='On wheels'><nav>Home</nav><main>{TEXT}</main>"

    document = read(source, page.encode(), PAGE)

    assert document == Document(
        source,
        SHOWN,
        "html",
        {"title": "Wheels", "description": "On wheels"},
        heading="The wheel",
        paragraph="It turns when a < b, and R&D pays for it all, year after year.",
        sections=document.sections,
    )
    assert [section.title for section in document.sections] == ["The wheel"]


@pytest.mark.parametrize(
    "page",
    ["<div>" * 50_000, "<div class=nav>a " * 10_000 + "</div>" * 10_000, "<" * 200_000, "<a " * 100_000,
     "<p>a" * 50_000, "<nav>" * 1_000 + "a" + "</nav>" * 1_000, "<b><i></b></i>" * 20_000, '<a class="' * 50_000, ""],
)  # fmt: skip
def test_hostile_pages_are_read_to_their_end(page: str) -> None:
    assert isinstance(main_text(page), str)
