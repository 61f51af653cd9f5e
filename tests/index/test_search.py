"""Search: which documents answer a query, in which order, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shelf import opened, paths, replace, search, shelve

from bookwheel.index.excerpt import WIDTH, excerpt
from bookwheel.index.search import Searcher
from bookwheel.index.store import Store
from bookwheel.model import Query

LIBRARY = {
    "wheel.md": "# The Bookwheel\n\nRamelli drew a rotating lectern in 1588. It holds a dozen open volumes.\n",
    "gears.md": "# Epicyclic gears\n\nEvery shelf of the bookwheel stays level, as its gear train turns.\n",
    "config.md": "# Settings\n\nSet `max_open_books` to a number. The default of max_open_books is 12.\n",
    "prose.md": "# Prose\n\nThe max of it: keep them open, the books on the shelf.\n",
    "codes.txt": "Error codes\n\nE-1042 means a jammed pinion. Release 2.4.1 mends it.\n",
    "umlaut.html": "<h1>Bücherrad</h1><p>Das Rad von Ramelli: naïve Ästhetik.</p>",
    "積読.md": "# 積読\n\n本を買って読まないこと。全文検索の索引は小さい。\n",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with the small library above."""
    with opened(tmp_path) as store:
        shelve(store, LIBRARY)
        yield store


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The same, for tests that only look."""
    with opened(tmp_path_factory.mktemp("settled")) as store:
        shelve(store, LIBRARY)
        yield store


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("lectern", ["wheel.md"]),
        ("LECTERNS", ["wheel.md"]),
        ("Where is the lectern?", ["wheel.md"]),
        ("E-1042", ["codes.txt"]),
        ("e-1042", ["codes.txt"]),
        ("1042", ["codes.txt"]),
        ("2.4.1", ["codes.txt"]),
        ("bucherrad", ["umlaut.html"]),
        ("Bücherrad", ["umlaut.html"]),
        ("naive", ["umlaut.html"]),
        ("検索", ["積読.md"]),
        ("索引", ["積読.md"]),
        ("1588 volumes", ["wheel.md"]),
        ("zeppelin", []),
    ],
)
def test_a_word_finds_the_documents_that_have_it(settled: Store, query: str, expected: list[str]) -> None:
    assert paths(search(settled, query)) == expected


def test_a_title_counts_more_than_a_mention(settled: Store) -> None:
    assert paths(search(settled, "bookwheel")) == ["wheel.md", "gears.md"]


def test_an_identifier_counts_more_than_its_parts(settled: Store) -> None:
    assert paths(search(settled, "max_open_books"))[0] == "config.md"


def test_the_parts_of_an_identifier_find_it(settled: Store) -> None:
    assert "config.md" in paths(search(settled, "open books"))


def test_more_of_the_words_is_better(settled: Store) -> None:
    assert paths(search(settled, "Ramelli lectern"))[0] == "wheel.md"


def test_all_that_is_known_of_a_hit_is_given(settled: Store) -> None:
    (hit,) = search(settled, "lectern")

    record = hit.record
    assert (record.source.library, record.source.path, record.source.location) == (
        "shelf",
        "wheel.md",
        "/shelf/wheel.md",
    )
    assert (record.title, record.kind, record.chunk_count) == ("The Bookwheel", "markdown", 1)
    assert (hit.chunk.section, hit.chunk.headings) == ("the-bookwheel", ("The Bookwheel",))
    assert (hit.chunk.line, hit.chunk.end_line) == (1, 3)
    assert hit.location == "content"
    assert hit.excerpt == "…The Bookwheel Ramelli drew a rotating lectern in 1588. It holds a dozen open volumes."


def test_the_chunk_of_a_hit_is_the_one_that_answers(store: Store) -> None:
    text = "# Manual\n\n" + "".join(f"## Part {number}\n\nword{number} stands here.\n\n" for number in range(40))
    shelve(store, {"manual.md": text}, "manual")

    (hit,) = search(store, "word31")

    assert (hit.chunk.section, hit.chunk.headings) == ("manual/part-31", ("Manual", "Part 31"))
    assert hit.chunk.line == text[: text.index("## Part 31")].count("\n") + 1


# words that are not there as they are typed


@pytest.mark.parametrize("typo", ["lectren", "lectrn", "lecctern", "lictern", "llectern", "ectern"])
def test_a_typo_of_one_edit_is_forgiven(settled: Store, typo: str) -> None:
    assert paths(search(settled, typo)) == ["wheel.md"]


@pytest.mark.parametrize("typo", ["lexxern", "lctrn", "clctern"])
def test_a_typo_of_two_edits_is_not(settled: Store, typo: str) -> None:
    assert search(settled, typo) == []


def test_an_exact_word_keeps_similar_ones_out(store: Store) -> None:
    shelve(store, {"a.md": "pinnacle", "b.md": "pinnacles", "c.md": "binnacle"}, "more")

    assert sorted(paths(search(store, "pinnacle"))) == ["a.md", "b.md"]
    assert sorted(paths(search(store, "finnacle"))) == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize("start", ["lec", "lect", "rotating lect", "Epic", "epicycl"])
def test_the_last_word_may_be_unfinished(settled: Store, start: str) -> None:
    assert len(search(settled, start)) == 1


def test_a_word_before_the_last_is_taken_as_finished(settled: Store) -> None:
    assert search(settled, "lec zeppelin") == []


def test_two_letters_are_too_few_to_complete(settled: Store) -> None:
    assert search(settled, "le") == []


def test_a_word_of_a_dropped_document_does_not_stand_in_the_way_of_similar_ones(store: Store) -> None:
    library = shelve(store, {"old.md": "parchmant", "new.md": "parchment"})
    store.drop(library, ["old.md"])

    assert paths(search(store, "parchmant")) == ["new.md"]


def test_a_word_of_another_library_does_not_stand_in_the_way_of_similar_ones(store: Store) -> None:
    library = shelve(store, {"good.md": "parchment"}, "good")
    shelve(store, {"bad.md": "parchmant"}, "bad")

    hits = Searcher(store).search(Query("parchmant"), frozenset({library.number}))

    assert paths(hits) == ["good.md"]


# phrases, everything, and what looks like an operator


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"rotating lectern"', ["wheel.md"]),
        ('"Rotating   LECTERN"', ["wheel.md"]),
        ('"lectern rotating"', []),
        ('"dozen open" Ramelli', ["wheel.md"]),
        ('"the default of"', ["config.md"]),
        ('"gear train" "stays level"', ["gears.md"]),
        ('"gear train" "rotating lectern"', []),
        ('"naive asthetik"', ["umlaut.html"]),
        ('"全文検索"', ["積読.md"]),
        ('"The Bookwheel Ramelli"', ["wheel.md"]),
    ],
)
def test_a_quoted_phrase_stands_in_every_hit(settled: Store, query: str, expected: list[str]) -> None:
    assert paths(search(settled, query)) == expected


def test_an_asterisk_lists_everything_by_path(settled: Store) -> None:
    hits = search(settled, " * ")

    assert paths(hits) == sorted(LIBRARY)
    assert {hit.score for hit in hits} == {1.0}


@pytest.mark.parametrize(
    "query",
    ["lectern AND", 'lectern"', '"lectern', "title:lectern", "(lectern", "lectern*", "lectern OR zeppelin", "+lectern",
     "-lectern", "lectern~2", "lectern^4", "NEAR(lectern", "lectern;--", "'lectern", "lectern\\", "[lectern]",
     "%lectern_%", "lectern\0", "\x1blectern\x7f", "\ufefflectern", "\u202electern", "lectern\ud800"],
)  # fmt: skip
def test_what_looks_like_an_operator_is_a_word_or_nothing(settled: Store, query: str) -> None:
    assert "wheel.md" in paths(search(settled, query))


@pytest.mark.parametrize(
    "query", ["", " ", "\n", '"', '""', '" "', "**", "(", "\0", "?", "AND", "to be or not to be", "who"]
)
def test_a_query_without_words_finds_nothing(settled: Store, query: str) -> None:
    assert search(settled, query) == []


def test_a_title_of_stop_words_is_found_by_them(store: Store) -> None:
    shelve(store, {"hamlet.md": "# To be or not to be\n\nA question.\n"}, "plays")

    assert paths(search(store, "to be or not to be")) == ["hamlet.md"]


@pytest.mark.parametrize("text", ["lectern " * 131_072, "lectern" + "x" * 1_048_576, "lectern " + '"' * 1_048_576])
def test_a_query_of_a_megabyte_is_answered(settled: Store, text: str) -> None:
    assert set(paths(search(settled, text))) <= {"wheel.md"}


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=60)
@example("\ud800\udfff")
@example("﷽ " * 40)
@example("İ" * 70)
def test_any_query_is_answered(settled: Store, query: str) -> None:
    hits = search(settled, query)

    assert all(0 < hit.score <= 1 for hit in hits)
    assert all("\n" not in hit.excerpt for hit in hits)


def test_a_query_of_many_unknown_words_is_answered(settled: Store) -> None:
    assert search(settled, " ".join(f"zq{number}zq" for number in range(1_000))) == []


# limits, filters, fields


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_more_hits_than_asked_for(store: Store, limit: int) -> None:
    shelve(store, {f"{number}.md": "zeppelin" for number in range(5)}, "more")

    assert len(search(store, "zeppelin", limit)) == limit
    assert len(search(store, "*", limit)) == limit


@pytest.mark.parametrize("limit", [0, -1])
@pytest.mark.parametrize("query", ["lectern", "*"])
def test_a_limit_below_one_gives_nothing(settled: Store, query: str, limit: int) -> None:
    assert search(settled, query, limit) == []


def test_the_best_of_very_many_are_found(store: Store) -> None:
    texts = {f"{number:04}.md": "zeppelin and other words of the air" for number in range(1_500)}
    shelve(store, {**texts, "0777.md": "# Zeppelin\n\nzeppelin zeppelin"}, "many")

    assert paths(search(store, "zeppelin", 3))[0] == "0777.md"


def test_as_many_hits_as_there_are_can_be_asked_for(store: Store) -> None:
    shelve(store, {f"{number:04}.md": "zeppelin" for number in range(1_500)}, "many")

    assert len(search(store, "zeppelin", 5_000)) == 1_500


def test_equal_documents_come_in_the_order_they_were_stored(store: Store) -> None:
    shelve(store, {f"{number}.md": "zeppelin" for number in (3, 1, 2)}, "more")

    assert paths(search(store, "zeppelin")) == ["3.md", "1.md", "2.md"]


@pytest.mark.parametrize(
    ("suffixes", "expected"),
    [
        ({".md"}, ["wheel.md"]),
        ({".html"}, ["umlaut.html"]),
        ({".md", ".html"}, ["umlaut.html", "wheel.md"]),
        ({".txt"}, []),
        ({".pdf"}, []),
        (set(), ["umlaut.html", "wheel.md"]),
    ],
)
def test_suffixes_choose_the_kinds_of_files(settled: Store, suffixes: set[str], expected: list[str]) -> None:
    hits = Searcher(settled).search(Query("Ramelli", suffixes=frozenset(suffixes)))

    assert sorted(paths(hits)) == expected


def test_libraries_choose_where_to_look(store: Store) -> None:
    other = shelve(store, {"other.md": "lectern"}, "other")
    searcher = Searcher(store)

    assert paths(searcher.search(Query("lectern"), frozenset({other.number}))) == ["other.md"]
    assert paths(searcher.search(Query("*"), frozenset({other.number}))) == ["other.md"]
    assert paths(searcher.search(Query("lectern"), frozenset())) == []
    assert len(searcher.search(Query("lectern"), None)) == 2


@pytest.mark.parametrize(
    ("query", "fields", "expected"),
    [
        ("bookwheel", "title", [("wheel.md", "both")]),
        ("bookwheel", "content", [("wheel.md", "both"), ("gears.md", "content")]),
        ("codes", "title", [("codes.txt", "both")]),
        ("codes", "content", [("codes.txt", "both")]),
        ("config", "both", [("config.md", "title")]),
        ("config", "content", []),
        ("lectern", "title", []),
        ("lectern", "both", [("wheel.md", "content")]),
    ],
)
def test_fields_choose_where_in_a_document_to_look(
    settled: Store, query: str, fields: str, expected: list[tuple[str, str]]
) -> None:
    hits = Searcher(settled).search(Query(query, fields=fields))

    assert [(hit.record.source.path, hit.location) for hit in hits] == expected


def test_keywords_and_description_of_the_author_are_found(store: Store) -> None:
    text = "---\nkeywords: [zeppelin]\ntags: airship\ndescription: A dirigible.\n---\n# Flight\n\nIt flies.\n"
    shelve(store, {"flight.md": text}, "air")

    for word in ("zeppelin", "airship", "dirigible"):
        assert [(hit.record.source.path, hit.location) for hit in search(store, word)] == [("flight.md", "content")]


def test_scores_lie_above_nothing_and_at_most_at_one(settled: Store) -> None:
    queries = [
        "lectern",
        "Ramelli",
        "bookwheel",
        "the shelf of open books",
        "max_open_books E-1042 索引",
        "bookwheel zeppelin",
    ]

    scores = [hit.score for query in queries for hit in search(settled, query)]

    assert scores
    assert all(0 < score <= 1 for score in scores)


def test_hits_come_with_falling_scores(settled: Store) -> None:
    scores = [hit.score for hit in search(settled, "the open books of the bookwheel shelf Ramelli")]

    assert len(scores) > 3
    assert scores == sorted(scores, reverse=True)


def test_a_searcher_sees_what_was_written_after_its_first_answer(store: Store) -> None:
    searcher = Searcher(store)
    library = store.register("shelf", "shelf", "/shelf")
    before = paths(searcher.search(Query("zeppelin")))

    replace(store, library, {"new.md": "zeppelin"})

    assert (before, paths(searcher.search(Query("zeppelin")))) == ([], ["new.md"])


# excerpts


@pytest.mark.parametrize("place", [0, 1, 50, 99, 100])
def test_an_excerpt_shows_the_word_in_one_line(store: Store, place: int) -> None:
    filler = ["alpha\nbeta\t gamma"] * 100
    shelve(store, {"page.txt": "\n\n".join([*filler[:place], "zeppelin", *filler[place:]])}, "air")

    (hit,) = search(store, "Zeppelins")

    assert "zeppelin" in hit.excerpt
    assert len(hit.excerpt) <= WIDTH + 2
    assert hit.excerpt == " ".join(hit.excerpt.split())


def test_an_excerpt_shows_where_the_words_stand_together() -> None:
    text = "wheel " + "filler " * 80 + "the wheel has a gear " + "filler " * 80 + "gear"

    shown = excerpt(text, {"wheel", "gear"})

    assert "the wheel has a gear" in shown
    assert (shown[0], shown[-1]) == ("…", "…")


@pytest.mark.parametrize(
    "text", ["", " \n ", "x" * 5_000, "zeppelin" + "x" * 5_000, "a " * 5_000, "本" * 5_000, "a\0b\r\nc"]
)
def test_an_excerpt_of_any_text_is_one_short_line(text: str) -> None:
    shown = excerpt(text, {"zeppelin"})

    assert len(shown) <= WIDTH + 2
    assert shown == " ".join(shown.split())


def test_an_excerpt_of_text_without_spaces_shows_the_words(store: Store) -> None:
    shelve(store, {"page.txt": "見" * 400 + "飛行船" + "聞" * 400}, "air")

    (hit,) = search(store, "飛行船")

    assert "飛行船" in hit.excerpt


def test_an_answer_is_kept_only_as_long_as_nothing_changes(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "anchor"})
        searcher = Searcher(store)
        first = searcher.search(Query("anchor"))
        again = searcher.search(Query("anchor"))
        others = searcher.search(Query("anchor"), frozenset({library.number + 1}))
        replace(store, library, {"b.md": "anchor"})
        later = searcher.search(Query("anchor"))

    assert again == first
    assert again is not first
    assert others == []
    assert {hit.record.source.path for hit in later} == {"a.md", "b.md"}
