"""Search by words and meaning together: what is found, in which order, and why."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shelf import opened, paths, replace, shelve

from bookwheel.index.embedding import MiniLM, Vectors
from bookwheel.index.search import Searcher
from bookwheel.index.semantics import Semantics
from bookwheel.index.store import Store
from bookwheel.model import Hit, Query

LIBRARY = {
    "cat.md": "# Cat\n\nThe cat sleeps on the warm windowsill all afternoon.\n",
    "car.md": "# Car repair\n\nThe mechanic replaced the brake pads and the battery of the automobile.\n",
    "bread.md": "# Bread\n\nKnead flour, water and yeast, and bake the loaf for an hour.\n",
    "codes.txt": "Error codes\n\nE-1042 means a jammed pinion. Release 2.4.1 mends it.\n",
    "storm.html": "<h1>Storm</h1><p>Heavy rain and thunder are expected tonight along the coast.</p>",
}
PARAPHRASES = [
    ("a feline napping in the sun", "cat.md"),
    ("fixing vehicles", "car.md"),
    ("bad weather forecast", "storm.html"),
]
MODES = ("lexical", "vector", "hybrid")
QUERIES = [
    "cat",
    "loaf cat",
    "a feline napping",
    "the battery of the car",
    "E-1042",
    "how do I bake",
    "heavy rain tonight",
]


class Unloaded:
    """A model that must not be used."""

    name = "minilm"

    def embed(self, texts: object) -> Vectors:
        raise AssertionError("the model was loaded")

    def embed_query(self, text: str) -> Vectors:
        raise AssertionError("the model was loaded")


@pytest.fixture(scope="session")
def model() -> MiniLM:
    """The bundled model, loaded once."""
    return MiniLM()


@contextmanager
def searching(store: Store, model: MiniLM, embed: bool = True) -> Iterator[Searcher]:
    """Give a searcher of a store whose passages all have vectors."""
    semantics = Semantics(store, model)
    if embed:
        semantics.fill(threading.Event())
    yield Searcher(store, semantics)
    semantics.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path) as store:
        yield store


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory, model: MiniLM) -> Iterator[Searcher]:
    """A searcher of the small library above, for tests that only look."""
    with opened(tmp_path_factory.mktemp("settled")) as store:
        shelve(store, LIBRARY)
        with searching(store, model) as searcher:
            yield searcher


def found(searcher: Searcher, text: str, mode: str = "hybrid") -> list[str]:
    return paths(searcher.search(Query(text, mode=mode)))


@pytest.mark.parametrize(("query", "path"), PARAPHRASES)
def test_a_paraphrase_is_found_by_meaning_alone(settled: Searcher, query: str, path: str) -> None:
    assert [found(settled, query, mode) for mode in MODES] == [[], [path], [path]]


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_a_paraphrase_is_found_where_it_is_the_only_document(store: Store, model: MiniLM, mode: str) -> None:
    shelve(store, {"cat.md": LIBRARY["cat.md"]})

    with searching(store, model) as searcher:
        assert found(searcher, "a feline napping in the sun", mode) == ["cat.md"]


def test_the_last_of_the_answers_is_an_answer(store: Store, model: MiniLM) -> None:
    shelve(store, {"a.md": "A cat sleeps on the sofa.", "b.md": "The kitten naps in its basket all day."})

    with searching(store, model) as searcher:
        assert sorted(found(searcher, "sleeping felines", "vector")) == ["a.md", "b.md"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["xqzzt flurble wibbit", "blorf qwux", "zeppelin", "asdfgh jklqwe"])
def test_words_that_nothing_is_about_find_nothing(settled: Searcher, query: str, mode: str) -> None:
    assert found(settled, query, mode) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["", " ", "\n", "\0", "?", '""', "**"])
def test_a_query_without_words_finds_nothing(settled: Searcher, query: str, mode: str) -> None:
    assert found(settled, query, mode) == []


@pytest.mark.parametrize("mode", MODES)
def test_an_asterisk_lists_everything(settled: Searcher, mode: str) -> None:
    assert found(settled, "*", mode) == sorted(LIBRARY)


def test_an_identifier_is_a_matter_of_letters(settled: Searcher) -> None:
    assert found(settled, "E-1042")[0] == "codes.txt"


@pytest.mark.parametrize("mode", MODES)
def test_a_quoted_phrase_stands_in_every_hit(settled: Searcher, mode: str) -> None:
    assert set(found(settled, '"heavy rain" and storms', mode)) <= {"storm.html"}
    assert found(settled, '"a feline napping" in the sun', mode) == []


@pytest.mark.parametrize("query", [*QUERIES, *(query for query, _ in PARAPHRASES), "the storm and the cat"])
def test_with_evidence_asked_for_meaning_adds_nothing(settled: Searcher, query: str) -> None:
    by_words = found(settled, query, "lexical")

    both = paths(settled.search(Query(query, evidence=True)))

    assert sorted(both) == sorted(by_words)


def test_with_evidence_asked_for_meaning_still_orders(store: Store, model: MiniLM) -> None:
    texts = {
        "a.md": "The bank of the river is steep, and willows grow there.",
        "b.md": "The bank lends money at low interest rates.",
    }
    shelve(store, texts)

    with searching(store, model) as searcher:
        hits = searcher.search(Query("bank loan finance", evidence=True))

    assert paths(hits) == ["b.md", "a.md"]


# scores


@pytest.mark.parametrize("mode", MODES)
def test_scores_never_rise_and_lie_above_nothing_and_at_most_at_one(settled: Searcher, mode: str) -> None:
    scores = [[hit.score for hit in settled.search(Query(query, mode=mode))] for query in QUERIES]

    assert any(len(some) > 1 for some in scores)
    assert all(some == sorted(some, reverse=True) for some in scores)
    assert all(0 < score <= 1 for some in scores for score in some)


@given(st.text(max_size=40) | st.sampled_from(QUERIES))
@settings(deadline=None, max_examples=25)
@example("cat\ud800")
@example("\0cat\0")
@example("🐈 " * 300)
@example('"cat')
def test_any_query_is_answered(settled: Searcher, query: str) -> None:
    for mode in ("vector", "hybrid"):
        scores = [hit.score for hit in settled.search(Query(query, mode=mode))]

        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


# what there is to compare with


def test_a_partly_embedded_index_finds_by_words_and_by_meaning(store: Store, model: MiniLM) -> None:
    library = shelve(store, {path: LIBRARY[path] for path in ("cat.md", "bread.md")})
    with searching(store, model) as searcher:
        replace(store, library, {path: LIBRARY[path] for path in ("car.md", "codes.txt")})

        assert found(searcher, "a feline napping in the sun") == ["cat.md"]
        assert found(searcher, "fixing vehicles") == []
        assert found(searcher, "mechanic")[0] == "car.md"
        assert found(searcher, "E-1042")[0] == "codes.txt"
        assert set(found(searcher, "the brake pads of the cat")) == {"car.md", "cat.md"}


def test_without_any_vector_words_alone_count(store: Store, model: MiniLM) -> None:
    shelve(store, LIBRARY)
    with searching(store, model, embed=False) as searcher:
        assert [found(searcher, "mechanic", mode) for mode in MODES] == [["car.md"]] * 3


def test_an_empty_store_answers_in_every_mode(store: Store, model: MiniLM) -> None:
    with searching(store, model) as searcher:
        assert [found(searcher, "cat", mode) for mode in MODES] == [[], [], []]


def test_by_words_alone_the_model_is_not_loaded(settled: Searcher, store: Store, model: MiniLM) -> None:
    shelve(store, LIBRARY)
    with searching(store, model):
        pass
    semantics = Semantics(store, Unloaded())

    hits = Searcher(store, semantics).search(Query("the battery of the car", mode="lexical"))
    semantics.close()

    assert paths(hits) == found(settled, "the battery of the car", "lexical")


def test_a_replaced_text_is_not_found_by_its_old_meaning(store: Store, model: MiniLM) -> None:
    library = shelve(store, LIBRARY)
    with searching(store, model) as searcher:
        replace(store, library, {"cat.md": "# Sums\n\nTwo and two are four.\n"})

        assert found(searcher, "a feline napping in the sun") == []


def test_the_passage_shown_is_the_one_that_answers(store: Store, model: MiniLM) -> None:
    shelve(store, {"house.md": "# House\n\n" + "".join(f"## {text}\n\n" for text in (
        "Kitchen\n\nKnead flour and yeast, and bake the loaf.",
        "Garage\n\nThe mechanic replaced the brake pads of the automobile.",
        "Window\n\nThe cat sleeps in the sun.",
    ))})  # fmt: skip

    with searching(store, model) as searcher:
        shown = {
            query: searcher.search(Query(query))[0].chunk.headings for query in ("fixing vehicles", "making bread")
        }

    assert shown == {"fixing vehicles": ("House", "Garage"), "making bread": ("House", "Kitchen")}


# filters


@pytest.mark.parametrize("mode", MODES)
def test_filters_hold_in_every_mode(store: Store, model: MiniLM, mode: str) -> None:
    shelve(store, LIBRARY)
    other = shelve(store, {"other.txt": "A cat and its kitten sleep in the sun."}, "other")
    text = "the cat sleeps in the sun"

    with searching(store, model) as searcher:
        every = found(searcher, text, mode)
        by_suffix = searcher.search(Query(text, mode=mode, suffixes=frozenset({".md"})))
        by_library = searcher.search(Query(text, mode=mode), frozenset({other.number}))
        nowhere = searcher.search(Query(text, mode=mode), frozenset())
        one = searcher.search(Query(text, mode=mode, limit=1))

    assert {"cat.md", "other.txt"} <= set(every)
    assert "cat.md" in paths(by_suffix)
    assert {path.rpartition(".")[2] for path in paths(by_suffix)} == {"md"}
    assert paths(by_library) == ["other.txt"]
    assert paths(nowhere) == []
    assert paths(one) == every[:1]


# why


def why(searcher: Searcher, text: str, mode: str = "hybrid") -> dict[str, dict[str, object]]:
    hits = searcher.search(Query(text, mode=mode, explain=True))
    return {hit.record.source.path: dict(hit.why) for hit in hits}


FIELDS = {"title", "path", "keywords", "description", "heading", "body"}


def test_nothing_is_explained_unasked(settled: Searcher) -> None:
    assert [hit.why for hit in settled.search(Query("cat"))] == [{}]


def test_by_words_the_part_of_each_field_is_told(settled: Searcher) -> None:
    parts = why(settled, "cat", "lexical")["cat.md"]

    assert parts.keys() == {"fields"}
    fields = parts["fields"]
    assert isinstance(fields, dict)
    assert fields.keys() == FIELDS
    assert all(fields[name] > 0 for name in ("title", "path", "heading", "body"))
    assert fields["keywords"] == 0


def test_both_ranks_and_the_weight_of_the_words_are_told(settled: Searcher) -> None:
    parts = why(settled, "loaf cat")

    assert parts.keys() == {"cat.md", "bread.md"}
    for one in parts.values():
        assert one.keys() == {"fields", "words", "words_rank", "meaning", "meaning_rank", "weight_of_words"}
        assert 0.15 <= float(str(one["weight_of_words"])) <= 0.65
    assert {path: (one["words_rank"], one["meaning_rank"]) for path, one in parts.items()} == {
        "cat.md": (1, 2),
        "bread.md": (2, 1),
    }


def test_by_meaning_alone_the_words_weigh_nothing(settled: Searcher) -> None:
    parts = why(settled, "loaf cat", "vector")

    assert {one["weight_of_words"] for one in parts.values()} == {0.0}


def test_ranks_are_told_among_the_documents_that_may_be_seen(store: Store, model: MiniLM) -> None:
    library = shelve(store, {"cat.md": LIBRARY["cat.md"], "gone.md": "The cat, the cat, the cat sleeps."})
    other = shelve(store, {"a.md": "A cat and its dog.", "b.md": "The weather."}, "other")
    with searching(store, model) as searcher:
        store.drop(library, ["gone.md"])
        query = Query("cat sleeps", explain=True)

        first = searcher.search(query, frozenset({library.number}))[0]
        elsewhere = searcher.search(query, frozenset({other.number}))[0]

    assert [(hit.record.source.path, hit.why["words_rank"], hit.why["meaning_rank"]) for hit in (first, elsewhere)] == [
        ("cat.md", 1, 1),
        ("a.md", 1, 1),
    ]


# near-duplicates


LECTERN = "a lectern with an epicyclic gear train that stays level"


@pytest.fixture
def copies(store: Store) -> Store:
    text = (
        "The lectern turns on an epicyclic gear train, so that every shelf of it stays level while a reader turns it."
    )
    shelve(store, {
        "first.md": f"# Lectern\n\n{text}\n",
        "copy.md": f"# Lectern\n\n{text}\n",
        "nearly.md": f"# Lectern\n\n{text} Indeed.\n",
        "other.md": "# Other\n\nA lectern with a train of gears.\n",
    })  # fmt: skip
    return store


def folded(hits: list[Hit]) -> dict[str, set[str]]:
    return {hit.record.source.path: {one.source.label for one in hit.also} for hit in hits}


@pytest.mark.parametrize("mode", MODES)
def test_near_duplicates_are_folded_into_the_best_and_named(copies: Store, model: MiniLM, mode: str) -> None:
    with searching(copies, model) as searcher:
        every = found(searcher, LECTERN, mode)
        hits = searcher.search(Query(LECTERN, mode=mode, distinct=True))

    names = {f"shelf/{path}" for path in ("first.md", "copy.md", "nearly.md")} - {f"shelf/{every[0]}"}
    assert set(every) == {"first.md", "copy.md", "nearly.md", "other.md"}
    assert folded(hits) == {every[0]: names, "other.md": set()}


def test_near_duplicates_stay_unless_asked_otherwise(copies: Store, model: MiniLM) -> None:
    with searching(copies, model) as searcher:
        hits = searcher.search(Query(LECTERN))

    assert len(hits) == 4
    assert {hit.also for hit in hits} == {()}


def test_folding_makes_room_for_others(copies: Store, model: MiniLM) -> None:
    with searching(copies, model) as searcher:
        hits = searcher.search(Query(LECTERN, distinct=True, limit=2))

    assert len(hits) == 2
    assert hits[1].record.source.path == "other.md"
