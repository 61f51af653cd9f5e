"""Making vectors of everything in a store: just those that are missing, whenever there is time."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from shelf import entry, opened, paths, replace, shelve

from bookwheel.catalog import Catalog
from bookwheel.errors import Unavailable
from bookwheel.folders import Folder
from bookwheel.index.embedding import Vectors
from bookwheel.index.search import Searcher
from bookwheel.index.semantics import AT_ONCE, SAVE, Semantics
from bookwheel.index.store import Store
from bookwheel.model import Query

LIBRARY = {
    "wheel.md": "# Wheel\n\nA lectern that turns.\n\n## Gears\n\nThey keep it level.\n",
    "rope.md": "# Rope\n\nHemp.\n",
    "notes.txt": "Notes\n\nNothing of note.\n",
}
PASSAGES = [
    "Wheel\n# Wheel\n\nA lectern that turns.",
    "Wheel\nGears\n## Gears\n\nThey keep it level.",
    "Rope\n# Rope\n\nHemp.",
    "Notes\nNotes\n\nNothing of note.",
]
HOLDER = """
import fcntl, sys
with open(sys.argv[1], "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.readline()
"""


class Words:
    """Points a text where its words point, each to one of sixteen sides; remembers what it was asked."""

    name = "words"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        vector = np.full(16, 0.01, np.float32)
        for word in text.lower().split():
            vector[hashlib.sha256(word.encode()).digest()[0] % 16] += 1
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


class Hands(Words):
    """Remembers which threads it was used by."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.seen.add(threading.get_ident())
        return super().embed(texts)


class Missing:
    """A model that cannot be had."""

    name = "missing"

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise Unavailable("the model is not here; install it")

    def embed_query(self, text: str) -> Vectors:
        raise Unavailable("the model is not here; install it")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path / "store") as store:
        yield store


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture
def semantics(store: Store, words: Words) -> Iterator[Semantics]:
    made = Semantics(store, words)
    yield made
    made.close()


def fill(semantics: Semantics) -> int:
    return semantics.fill(threading.Event())


def pages(count: int) -> dict[str, str]:
    return {f"{number}.txt": f"page {number}" for number in range(count)}


def test_every_passage_gets_a_vector_of_its_headings_and_text(store: Store, semantics: Semantics, words: Words) -> None:
    shelve(store, LIBRARY)

    made = fill(semantics)

    assert made == 4
    assert sorted(words.asked) == sorted(PASSAGES)


def test_what_has_a_vector_is_not_embedded_again(store: Store, semantics: Semantics, words: Words) -> None:
    library = shelve(store, LIBRARY)
    fill(semantics)
    words.asked.clear()
    replace(store, library, {"new.txt": "Something new\n"})

    made = (fill(semantics), fill(semantics))

    assert made == (1, 0)
    assert words.asked == ["Something new\nSomething new"]


def test_a_document_on_its_way_in_gets_the_vectors_it_lacks(store: Store, semantics: Semantics, words: Words) -> None:
    library = shelve(store, {})
    semantics.prepare(entry(library, "wheel.md", LIBRARY["wheel.md"]))
    semantics.prepare(entry(library, "more.md", LIBRARY["wheel.md"] + "\n## Rope\n\nHemp.\n"))

    replace(store, library, {"wheel.md": LIBRARY["wheel.md"]})

    assert sorted(words.asked) == sorted([*PASSAGES[:2], "Wheel\nRope\n## Rope\n\nHemp."])
    assert fill(semantics) == 0


def test_whoever_brings_documents_few_threads_embed_them(store: Store) -> None:
    library = shelve(store, {})
    hands = Hands()
    semantics = Semantics(store, hands)

    with ThreadPoolExecutor(8) as callers:
        entries = [entry(library, path, text) for path, text in pages(40).items()]
        list(callers.map(semantics.prepare, entries))

    assert len(semantics.vectors) == 40
    assert 1 <= len(hands.seen) <= AT_ONCE
    semantics.close()


def test_short_passages_come_first(store: Store, semantics: Semantics, words: Words) -> None:
    shelve(store, {"long.txt": "word " * 100, "short.txt": "word", "middle.txt": "word " * 10})

    fill(semantics)

    assert [len(text) for text in words.asked] == sorted(len(text) for text in words.asked)


def test_the_same_passage_in_two_documents_is_embedded_once(store: Store, semantics: Semantics) -> None:
    shelve(store, {"a/rope.md": "# Rope\n\nHemp.\n", "b/rope.md": "# Rope\n\nHemp.\n"})

    made = fill(semantics)

    assert (made, semantics.share()) == (1, 1.0)


def test_the_share_goes_from_none_to_all(store: Store, semantics: Semantics) -> None:
    empty = semantics.share()
    library = shelve(store, LIBRARY)
    before = semantics.share()
    fill(semantics)
    after = semantics.share()
    replace(store, library, {f"{number}.txt": f"page {number}" for number in range(4)})

    assert (empty, before, after, semantics.share()) == (1.0, 0.0, 1.0, 0.5)


def test_only_the_changed_passages_of_a_document_are_embedded_again(
    store: Store, semantics: Semantics, words: Words
) -> None:
    library = shelve(store, LIBRARY)
    fill(semantics)
    words.asked.clear()

    replace(store, library, {"wheel.md": LIBRARY["wheel.md"].replace("level", "upright")})

    assert fill(semantics) == 1
    assert words.asked == ["Wheel\nGears\n## Gears\n\nThey keep it upright."]
    assert semantics.share() == 1.0


def test_a_document_that_moved_needs_no_new_vector(store: Store, semantics: Semantics) -> None:
    library = shelve(store, LIBRARY)
    fill(semantics)

    store.drop(library, ["wheel.md"])
    replace(store, library, {"old/renamed.md": LIBRARY["wheel.md"]})

    assert semantics.share() == 1.0
    assert fill(semantics) == 0


def test_a_dropped_document_is_not_embedded(store: Store, semantics: Semantics, words: Words) -> None:
    library = shelve(store, LIBRARY)
    store.drop(library, ["wheel.md"])

    assert fill(semantics) == 2
    assert not any("lectern" in text for text in words.asked)
    assert semantics.share() == 1.0


def test_pruning_forgets_the_passages_that_are_gone(store: Store, semantics: Semantics) -> None:
    library = shelve(store, LIBRARY)
    fill(semantics)
    store.drop(library, ["wheel.md"])

    semantics.prune()

    assert len(semantics.vectors) == 2
    assert (semantics.share(), fill(semantics)) == (1.0, 0)


# halted, shared


def test_a_halt_ends_it_and_the_next_time_it_goes_on(store: Store, semantics: Semantics, words: Words) -> None:
    total = 2 * SAVE + 5
    shelve(store, pages(total))
    halt = threading.Event()

    first = semantics.fill(halt, lambda *_: halt.set())
    share = semantics.share()
    second = fill(semantics)

    assert (first, second) == (SAVE, total - SAVE)
    assert share == pytest.approx(SAVE / total)
    assert len(words.asked) == len(set(words.asked)) == total


def test_a_halt_before_the_beginning_makes_nothing(store: Store, semantics: Semantics, words: Words) -> None:
    shelve(store, LIBRARY)
    halt = threading.Event()
    halt.set()

    assert semantics.fill(halt) == 0
    assert words.asked == []


def test_progress_is_told_up_to_the_end(store: Store, semantics: Semantics) -> None:
    total = 2 * SAVE + 5
    shelve(store, pages(total))
    told: list[tuple[int, int]] = []

    semantics.fill(threading.Event(), lambda done, total: told.append((done, total)))

    assert told == [(SAVE, total), (2 * SAVE, total), (total, total)]


def test_one_process_at_a_time_makes_vectors(store: Store, semantics: Semantics, words: Words) -> None:
    shelve(store, LIBRARY)
    lock = store.folder / "embed-words.lock"
    command = [sys.executable, "-c", HOLDER, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        meanwhile = fill(semantics)
        holder.communicate("\n", timeout=30)

    assert (meanwhile, words.asked) == (0, [])
    assert fill(semantics) == 4


def test_documents_that_change_meanwhile_do_no_harm(store: Store, semantics: Semantics) -> None:
    total = 2 * SAVE
    library = shelve(store, pages(total))

    def change(done: int, total: int) -> None:
        store.drop(library, [f"{number}.txt" for number in range(total // 2)])
        replace(store, library, {"0.txt": "another page"})

    semantics.fill(threading.Event(), change)
    fill(semantics)

    assert semantics.share() == 1.0


def test_search_finds_what_was_embedded_by_another_process_meanwhile(store: Store, words: Words) -> None:
    shelve(store, LIBRARY)
    reading, writing = Semantics(store, words), Semantics(store, words)
    query = Query("that lectern a turns. zz", mode="vector")
    before = reading.share()

    fill(writing)

    assert (before, reading.share()) == (0.0, 1.0)
    assert paths(Searcher(store, reading).search(query))[0] == "wheel.md"
    for one in (reading, writing):
        one.close()


def test_searches_are_answered_while_vectors_are_made(store: Store, semantics: Semantics) -> None:
    shelve(store, pages(5 * SAVE))
    searcher = Searcher(store, semantics)
    filling = threading.Thread(target=fill, args=(semantics,))
    filling.start()

    shares = []
    while filling.is_alive():
        shares.append(semantics.share())
        assert paths(searcher.search(Query("page 7")))[0] == "7.txt"
    filling.join()

    assert shares == sorted(shares)
    assert semantics.share() == 1.0


def test_every_model_has_vectors_of_its_own(store: Store, semantics: Semantics) -> None:
    class Others(Words):
        name = "others"

    shelve(store, LIBRARY)
    other = Semantics(store, Others())
    fill(semantics)

    shares = (semantics.share(), other.share())
    made = fill(other)
    other.close()

    assert (shares, made) == ((1.0, 0.0), 4)


# no model


def test_without_the_model_nothing_is_made_and_words_still_find(store: Store) -> None:
    shelve(store, LIBRARY)
    semantics = Semantics(store, Missing())

    made = fill(semantics)
    hits = Searcher(store, semantics).search(Query("lectern"))
    semantics.close()

    assert (made, semantics.problem) == (0, "the model is not here; install it")
    assert paths(hits) == ["wheel.md"]


def test_a_model_that_fails_only_at_the_query_leaves_the_words(store: Store, words: Words) -> None:
    class Fleeting(Missing):
        name = "words"  # its vectors were made while it was there

    shelve(store, LIBRARY)
    before, after = Semantics(store, words), Semantics(store, Fleeting())
    fill(before)
    before.close()

    hits = Searcher(store, after).search(Query("lectern"))
    after.close()

    assert paths(hits) == ["wheel.md"]
    assert after.problem == "the model is not here; install it"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[str], Catalog]]:
    """Give a maker of catalogs of one folder by the name of an embedder."""
    root = tmp_path.resolve() / "docs"
    root.mkdir()
    (root / "rope.md").write_text("# Rope\n\nHemp.\n")
    made: list[Catalog] = []

    def make(embedder: str) -> Catalog:
        made.append(Catalog(tmp_path / "store", [Folder(root, "docs", suffixes=frozenset({".md"}))], embedder))
        made[-1].sync()
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_catalog_tells_why_its_model_cannot_be_had(make: Callable[[str], Catalog]) -> None:
    catalog = make("some/model")
    before = catalog.model

    made = catalog.embed()
    results = catalog.search(Query("hemp"))

    assert (before, made) == ("some/model", 0)
    assert catalog.model == ("some/model (the model some/model needs the extra 'hub': pip install 'bookwheel[hub]')")
    assert [hit.record.source.path for hit in results.hits] == ["rope.md"]
    assert results.progress.embedded == 0.0


def test_a_catalog_without_a_model_has_nothing_to_embed(make: Callable[[str], Catalog]) -> None:
    catalog = make("none")

    assert (catalog.model, catalog.embed(), catalog.progress().embedded) == ("none", 0, 1.0)
    assert [hit.record.source.path for hit in catalog.search(Query("hemp", mode="vector")).hits] == ["rope.md"]
