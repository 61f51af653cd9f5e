"""The acdc contract: what a search finds, in which order, and how it says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from anyio.from_thread import BlockingPortal

from contracts.conftest import Open
from contracts.harness import ERAS, Reader, requirement, serving
from contracts.sources import Content, configure, hits, location, page

FILLER = " ".join(f"filler{chr(97 + number % 26)}" for number in range(300))
SEA: Content = {
    "docs": location(
        {
            "anchor.md": page("Anchor Guide", "About iron.", "Drop the anchor slowly.\n"),
            "harbour.md": page("Harbour Rules", "About ports.", "Every ship\nruns   a\tlantern at night.\n"),
            "zeppelin.md": page("Airships", "About flying.", "What is the zeppelin? It is the best of all.\n"),
            "keyword.md": page(
                "Plain Page", "About nothing.", "Nothing to see.\n", ["mooring", "Dry Dock", "quayside"]
            ),
            "long.md": page("Long Page", "About length.", f"{FILLER}\n\nbefore wombat after\n\n{FILLER}\n"),
            "quoted.md": page('It\'s "quoted" [really] (so)\nover lines', "About names.", "A pangolin.\n"),
            "deep/er/page.md": page("Far Below", "About depth.", "A lobster hides.\n"),
        }
    ),
    "wiki": location(
        {
            "anchor.md": page("Wiki Anchor", "About iron too.", "An anchor is heavy.\n"),
            "submarine.md": page("Diving", "About diving.", "One submarine, many organizations.\n"),
            "stop.md": page("Much Talk", "About talking.", "What is it that the others of them have and do?\n"),
        }
    ),
    "many": location({f"{number:02}.md": page(f"Number {number}", "Of many.", "A pelican.\n") for number in range(15)}),
}


@pytest.fixture(scope="module", params=ERAS)
def sea(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server of many pages, in each era."""
    base = tmp_path_factory.mktemp("sea")
    config = configure(base / "content", SEA)
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with serving(portal, config.parent, base / "log", *arguments, mode=ERAS[request.param], cwd=base) as reader:
        yield reader


def found(reader: Reader, query: str, source: str = "") -> list[str]:
    """Return the URIs a query finds, without their scheme, sorted."""
    return sorted(one.removeprefix("acdc://") for one in ranked(reader, query, source))


def ranked(reader: Reader, query: str, source: str = "") -> list[str]:
    """Return the URIs a query finds, the best first."""
    answer = reader.call("search", query=query, **({"source": source} if source else {}))
    return [one[2] for one in hits(answer, query, source)]


# the form


@requirement("acdc.search.output", "acdc.search.heading", "acdc.search.line")
def test_hit_is_one_line_in_the_specified_form(sea: Reader) -> None:
    answer = sea.call("search", query="lobster")

    ((_, _, _, snippet, relevance),) = hits(answer, "lobster")
    assert answer.text == (
        "Search results for 'lobster':\n\n"
        f"- [docs] [Far Below](acdc://docs/deep/er/page): {snippet} (relevance: {relevance:.2f})\n\n"
    )
    assert "lobster" in snippet
    assert relevance > 0


@requirement("acdc.search.output", "acdc.search.heading", "acdc.search.line", "acdc.search.all")
def test_hits_of_all_sources_come_the_most_relevant_first(sea: Reader) -> None:
    shown = hits(sea.call("search", query="anchor"), "anchor")

    assert sorted((source, name, uri) for source, name, uri, _, _ in shown) == [
        ("docs", "Anchor Guide", "acdc://docs/anchor"),
        ("wiki", "Wiki Anchor", "acdc://wiki/anchor"),
    ]
    assert shown == sorted(shown, key=lambda hit: -hit[4])


@requirement("acdc.search.source", "acdc.search.heading", "acdc.index.source-filtering", "acdc.index.source")
def test_source_narrows_the_search_and_is_told_in_the_heading(sea: Reader) -> None:
    answer = sea.call("search", query="anchor", source="wiki")

    assert answer.text.startswith("Search results for 'anchor' in source 'wiki':\n\n- [wiki] [Wiki Anchor](")
    assert [one[2] for one in hits(answer, "anchor", "wiki")] == ["acdc://wiki/anchor"]


@requirement("acdc.search.nothing", "acdc.search.no-results", "acdc.search.evidence")
@pytest.mark.parametrize("query", ["xqzzvwkj", "qqqqqq wwwwww", "???", "it's nowhere'", "boat"])
def test_words_that_occur_nowhere_give_no_results_in_the_specified_words(sea: Reader, query: str) -> None:
    answer = sea.call("search", query=query)

    assert (answer.texts, answer.error) == ([f"No results found for '{query}'"], False)


@requirement("acdc.search.no-results", "acdc.search.source", "acdc.index.source")
@pytest.mark.parametrize("source", ["wiki", "nowhere", "doc", "DOCS", "docs wiki", "doc*"])
def test_nothing_in_a_source_is_told_with_its_name_also_where_there_is_no_such_source(sea: Reader, source: str) -> None:
    answer = sea.call("search", query="lobster", source=source)

    assert (answer.texts[0], answer.error) == (f"No results found for 'lobster' in source '{source}'", False)


@requirement("acdc.search.line")
def test_name_stays_on_its_line_whatever_it_holds(sea: Reader) -> None:
    ((_, name, uri, _, _),) = hits(sea.call("search", query="pangolin"), "pangolin")

    assert (" ".join(name.split()), uri) == ('It\'s "quoted" [really] (so) over lines', "acdc://docs/quoted")


@requirement("acdc.index.highlighting", "acdc.search.line")
def test_snippet_is_one_line_around_the_word(sea: Reader) -> None:
    ((_, _, _, snippet, _),) = hits(sea.call("search", query="wombat"), "wombat")

    assert "before wombat after" in snippet
    assert len(snippet) < len(FILLER) / 2


@requirement("acdc.index.highlighting", "acdc.search.line")
def test_snippet_folds_white_space(sea: Reader) -> None:
    ((_, _, _, snippet, _),) = hits(sea.call("search", query="lantern"), "lantern")

    assert "ship runs a lantern at night" in snippet


@requirement("acdc.search.input")
@pytest.mark.parametrize(
    "query",
    ['"', "'", "a OR", "NOT", "(", "lobster*", "-lobster", 'say "hello', "%", "ü" * 5000, "\0", "name:x", "{}", "\\"],
    ids=ascii,
)
def test_no_query_is_too_odd_to_be_answered(sea: Reader, query: str) -> None:
    hits(sea.call("search", query=query), query)


# what is found


@requirement("acdc.search.fields", "acdc.index.name", "acdc.index.content", "acdc.index.keywords", "acdc.file.keywords")
@pytest.mark.parametrize(
    ("query", "uri"),
    [("airships", "docs/zeppelin"), ("lobster", "docs/deep/er/page"), ("mooring", "docs/keyword")],
    ids=["name", "content", "keyword"],
)
def test_name_content_and_keywords_are_searched(sea: Reader, query: str, uri: str) -> None:
    assert found(sea, query) == [uri]


@requirement("acdc.search.keyword")
@pytest.mark.parametrize("query", ["mooring", "MOORING", "moorings", "dry dock", "dock"])
def test_keyword_alone_retrieves(sea: Reader, query: str) -> None:
    assert found(sea, query) == ["docs/keyword"]


@requirement("acdc.search.or")
@pytest.mark.parametrize(
    ("query", "uris"),
    [
        ("lobster submarine", ["docs/deep/er/page", "wiki/submarine"]),
        ("submarine xqzzvwkj", ["wiki/submarine"]),
        ("mooring lobster submarine", ["docs/deep/er/page", "docs/keyword", "wiki/submarine"]),
    ],
)
def test_one_of_the_words_is_enough(sea: Reader, query: str, uris: list[str]) -> None:
    assert found(sea, query) == uris


@requirement("acdc.search.everything", "acdc.search.source")
@pytest.mark.parametrize("source", ["docs", "wiki"])
def test_star_finds_everything(sea: Reader, source: str) -> None:
    assert found(sea, "*", source) == sorted(
        f"{source}/{name.removeprefix('mcp-resources/').removesuffix('.md')}" for name in SEA[source]
    )


@requirement("acdc.search.distance", "acdc.index.fuzzy", "acdc.search.fields")
@pytest.mark.parametrize(
    ("query", "uris"),
    [
        ("zepelin", ["docs/zeppelin"]),
        ("zeppelyn", ["docs/zeppelin"]),
        ("zeppeliin", ["docs/zeppelin"]),
        ("yeppelin", ["docs/zeppelin"]),
        ("submarinx", ["wiki/submarine"]),
        ("quaysyde", ["docs/keyword"]),
        ("zexxelin", []),
        ("zepeli", []),
    ],
)
def test_one_wrong_letter_is_forgiven_and_two_are_not(sea: Reader, query: str, uris: list[str]) -> None:
    assert found(sea, query) == uris


@requirement("acdc.search.stemming", "acdc.index.stemming", "acdc.search.fields")
@pytest.mark.parametrize(
    ("query", "uris"),
    [
        ("running", ["docs/harbour"]),
        ("zeppelins", ["docs/zeppelin"]),
        ("organization", ["wiki/submarine"]),
        ("dived", ["wiki/submarine"]),
        ("hiding", ["docs/deep/er/page"]),
    ],
)
def test_word_is_found_in_its_other_forms(sea: Reader, query: str, uris: list[str]) -> None:
    assert found(sea, query) == uris


@requirement("acdc.search.stop-words", "acdc.index.stemming")
@pytest.mark.parametrize("query", ["what is the zeppelin", "the zeppelin", "is it that zeppelin"])
def test_stop_words_find_nothing_beside_others(sea: Reader, query: str) -> None:
    assert found(sea, query) == ["docs/zeppelin"]


@requirement("acdc.search.stop-words", "acdc.search.no-results")
def test_stop_word_alone_finds_nothing(sea: Reader) -> None:
    assert sea.call("search", query="the").text == "No results found for 'the'"


# how many


@requirement("acdc.search.maximum", "acdc.settings.search-max-results")
@pytest.mark.parametrize("query", ["pelican", "*"])
def test_there_are_ten_results_at_most_by_default(sea: Reader, query: str) -> None:
    assert len(found(sea, query)) == 10


FEWER: dict[str, tuple[tuple[str, ...], Mapping[str, str], int]] = {
    "flag": (("--search-max-results", "3"), {}, 3),
    "short flag": (("-m", "12"), {}, 12),
    "environment": ((), {"ACDC_MCP_SEARCH_MAX_RESULTS": "1"}, 1),
}


@requirement("acdc.search.maximum", "acdc.settings.search-max-results", "acdc.settings.layers")
@pytest.mark.parametrize(("options", "env", "number"), FEWER.values(), ids=FEWER)
def test_setting_bounds_the_results(acdc: Open, options: tuple[str, ...], env: Mapping[str, str], number: int) -> None:
    reader = acdc(SEA, *options, env=env)

    assert (len(found(reader, "pelican")), len(found(reader, "*"))) == (number, number)


# in which order

BOOSTED: Content = {
    "docs": location(
        {
            "a-content.md": page("First Page", "One.", "The giraffe stands beside some other words here.\n", ["alpha"]),
            "b-name.md": page("Giraffe Page", "Two.", "The tapir stands beside some other words here.\n", ["beta"]),
            "c-keyword.md": page(
                "Third Page", "Three.", "The bison stands beside some other words here.\n", ["giraffe"]
            ),
            **{f"other-{n}.md": page(f"Other {n}", body="The emu stands beside some words here.\n") for n in range(9)},
        }
    )
}
KEYWORD, NAME, CONTENT = "acdc://docs/c-keyword", "acdc://docs/b-name", "acdc://docs/a-content"
ORDERS: dict[str, tuple[tuple[str, ...], Mapping[str, str], list[str]]] = {
    "defaults": ((), {}, [KEYWORD, NAME, CONTENT]),
    "content by flag": (("--search-content-boost", "50"), {}, [CONTENT, KEYWORD, NAME]),
    "name by flag": (("--search-name-boost", "50.5"), {}, [NAME, KEYWORD, CONTENT]),
    "keywords by flag": (("--search-keywords-boost", "1.5"), {}, [NAME, KEYWORD, CONTENT]),
    "all by environment": (
        (),
        {
            "ACDC_MCP_SEARCH_KEYWORDS_BOOST": "1",
            "ACDC_MCP_SEARCH_NAME_BOOST": "2",
            "ACDC_MCP_SEARCH_CONTENT_BOOST": "3",
        },
        [CONTENT, NAME, KEYWORD],
    ),
    "flag over environment": (
        ("--search-name-boost", "50"),
        {"ACDC_MCP_SEARCH_NAME_BOOST": "0.01", "ACDC_MCP_SEARCH_CONTENT_BOOST": "9"},
        [NAME, CONTENT, KEYWORD],
    ),
}


@requirement(
    "acdc.search.boosting",
    "acdc.search.boosts",
    "acdc.settings.search-keywords-boost",
    "acdc.settings.search-name-boost",
    "acdc.settings.search-content-boost",
    "acdc.index.name",
    "acdc.index.content",
    "acdc.index.keywords",
)
@pytest.mark.parametrize(("options", "env", "order"), ORDERS.values(), ids=ORDERS)
def test_boosts_decide_the_order_of_hits(
    acdc: Open, options: tuple[str, ...], env: Mapping[str, str], order: list[str]
) -> None:
    shown = hits(acdc(BOOSTED, *options, env=env).call("search", query="giraffe"), "giraffe")

    assert [one[2] for one in shown] == order
    assert shown[0][4] > shown[-1][4]
