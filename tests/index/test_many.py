"""Search where there are many vectors, so that only their signs are held: the same answers as with all compared."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from shelf import opened, paths, replace, shelve

from bookwheel.index.embedding import MiniLM
from bookwheel.index.search import Searcher
from bookwheel.index.semantics import Semantics
from bookwheel.index.store import Store
from bookwheel.index.vectors import VectorStore
from bookwheel.model import Query

SAMPLES = Path(__file__).parents[2] / "examples" / "library"
LIBRARY = {
    "cat.md": "# Cat\n\nThe cat sleeps on the warm windowsill all afternoon.\n",
    "kitten.md": "# Kitten\n\nA young cat plays with a ball of wool.\n",
    "car.md": "# Car repair\n\nThe mechanic replaced the brake pads and the battery of the automobile.\n",
    "bread.md": "# Bread\n\nKnead flour, water and yeast, and bake the loaf for an hour.\n",
    "codes.txt": "Error codes\n\nE-1042 means a jammed pinion. Release 2.4.1 mends it.\n",
    "storm.md": "# Storm\n\nHeavy rain and thunder are expected tonight along the coast.\n",
}
QUERIES = ["cat", "loaf cat", "a feline napping", "the battery of the car", "E-1042", "how do I bake", "bad weather"]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The bundled model, loaded once."""
    return MiniLM()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path) as store:
        yield store


@contextmanager
def searching(store: Store, model: MiniLM, exact: int, many: int = 0) -> Iterator[Searcher]:
    """Give a searcher that holds the signs alone of more than *many* vectors, and compares so many in full."""
    semantics = Semantics(store, model)
    semantics.vectors = VectorStore(store.folder / "vectors-minilm.db", many, exact)
    semantics.fill(threading.Event())
    yield Searcher(store, semantics)
    semantics.close()


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_with_all_compared_the_answers_are_the_same(store: Store, model: MiniLM, mode: str) -> None:
    shelve(store, LIBRARY)
    queries = [Query(text, mode=mode) for text in QUERIES]

    with searching(store, model, exact=100) as signs, searching(store, model, exact=0, many=100) as flat:
        assert [signs.search(query) for query in queries] == [flat.search(query) for query in queries]


def test_a_small_library_is_searched_whatever_others_have(store: Store, model: MiniLM) -> None:
    shelve(store, LIBRARY, "large")
    small = shelve(store, {"dog.md": "# Dog\n\nA dog naps in its basket.\n"}, "small")

    with searching(store, model, exact=1) as searcher:
        found = searcher.search(Query("a feline napping in the sun", mode="vector"), frozenset({small.number}))

    assert paths(found) == ["dog.md"]


def test_what_words_found_is_compared_too(store: Store, model: MiniLM) -> None:
    shelve(store, LIBRARY)

    with searching(store, model, exact=1) as signs, searching(store, model, exact=0, many=100) as flat:
        query = Query("E-1042 cat", explain=True)
        told = [
            [hit.why["meaning"] for hit in one.search(query) if hit.record.source.path == "codes.txt"]
            for one in (signs, flat)
        ]

    assert told[0] == told[1]


def test_a_changed_document_is_found_and_its_old_text_is_not(store: Store, model: MiniLM) -> None:
    library = shelve(store, LIBRARY)
    with searching(store, model, exact=1) as searcher:
        before = paths(searcher.search(Query("bad weather forecast", mode="vector", limit=1)))

        replace(store, library, {"storm.md": "# Soup\n\nBoil the leek for ten minutes.\n"})
        with searching(store, model, exact=1):
            after = searcher.search(Query("bad weather forecast", mode="vector"))
            soup = searcher.search(Query("cooking vegetables", mode="vector", limit=1))

    assert before == ["storm.md"]
    assert "storm.md" not in paths(after)
    assert paths(soup) == ["storm.md"]


def test_a_dropped_document_is_not_found(store: Store, model: MiniLM) -> None:
    library = shelve(store, LIBRARY)
    with searching(store, model, exact=1) as searcher:
        store.drop(library, ["cat.md"])

        found = searcher.search(Query("a feline napping in the sun", mode="vector", limit=1))

    assert paths(found) == ["kitten.md"]


def test_the_ten_nearest_of_real_sentences_are_found(tmp_path: Path, model: MiniLM) -> None:
    sentences = sorted({one for file in SAMPLES.rglob("*.md") for one in read_sentences(file)})[::3]
    vectors = np.concatenate([model.embed(sentences[start : start + 8]) for start in range(0, len(sentences), 8)])
    kept, queries = vectors[40:], vectors[:40]
    store = VectorStore(tmp_path / "vectors.db", many=0, exact=60)
    store.add(range(len(kept)), kept)
    places = store.places(np.arange(len(kept)))

    found = [set(np.argsort(-store.similarities(query, places, [places]))[:10]) for query in queries]
    store.close()

    best = [set(np.argsort(-one)[:10]) for one in queries @ kept.T]
    assert np.mean([len(one & other) / 10 for one, other in zip(found, best, strict=True)]) >= 0.95


def read_sentences(file: Path) -> list[str]:
    """Return the sentences of a Markdown file that are on one line."""
    return re.findall(r"(?<![^\s])[A-Z][^.#|`\n]{30,150}\.", file.read_text("utf-8"))
