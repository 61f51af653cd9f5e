"""Vectors by the print of their text: kept in a file, held as a matrix, compared with a query."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from bookwheel.index.embedding import Vectors
from bookwheel.index.postings import Integers
from bookwheel.index.vectors import ROOM, VectorStore

WIDTH = 16
ADDER = """
import sys
from pathlib import Path
import numpy as np
from bookwheel.index.vectors import VectorStore
path, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
store = VectorStore(path)
print("ready", flush=True)
sys.stdin.readline()
for start in range(first, first + count, 10):
    prints = list(range(start, start + 10))
    store.add(prints, np.array([[one, one + 0.5] for one in prints], np.float32))
store.close()
"""


@contextmanager
def opened(path: Path) -> Iterator[VectorStore]:
    """Give the vectors of a file and let go of them."""
    store = VectorStore(path)
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.db"


@pytest.fixture
def store(path: Path) -> Iterator[VectorStore]:
    with opened(path) as store:
        yield store


def units(count: int, seed: int = 1) -> Vectors:
    """Return some vectors of unit length, the same each time."""
    made = np.random.default_rng(seed).normal(size=(count, WIDTH))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def numbers(*prints: int) -> Integers:
    return np.array(prints, np.int64)


def similar(store: VectorStore, query: Vectors, *prints: int) -> Vectors:
    return store.similarities(query, store.places(numbers(*prints)))


def test_an_empty_store_knows_no_print(store: VectorStore) -> None:
    assert len(store) == 0
    assert store.places(numbers(1, -1)).tolist() == [-1, -1]
    assert store.places(numbers()).tolist() == []


@pytest.mark.parametrize("prints", [[7], [3, 1, 2], [-(2**63), 2**63 - 1, 0, -5]])
def test_every_print_finds_its_own_vector(store: VectorStore, prints: list[int]) -> None:
    vectors = units(len(prints))
    store.add(prints, vectors)

    found = np.array([[similar(store, vector, one)[0] for one in prints] for vector in vectors])

    assert np.abs(found - vectors @ vectors.T).max() < 1e-3
    assert len(store) == len(prints)


def test_what_is_known_can_be_asked_without_loading_it(store: VectorStore) -> None:
    prints = [-(2**63), 2**63 - 1, 0, -5]
    store.add(prints, units(4))

    known = store.known([*prints, 1, 2**63 - 2])

    assert known == set(prints)
    assert not len(store._numbers)


def test_half_precision_changes_a_cosine_by_less_than_a_thousandth(store: VectorStore) -> None:
    vectors, queries = units(500), units(50, seed=2)
    store.add(range(500), vectors)

    found = np.stack([similar(store, query, *range(500)) for query in queries])

    assert np.abs(found - queries @ vectors.T).max() < 1e-3


def test_an_unknown_print_is_not_a_number(store: VectorStore) -> None:
    store.add([1, 2], units(2))

    found = similar(store, units(1)[0], 0, 1, 5, 2)

    assert np.isnan(found).tolist() == [True, False, True, False]


def test_a_known_print_keeps_its_vector(store: VectorStore) -> None:
    first, second = units(2)
    store.add([1], first[None])

    store.add([1], second[None])

    assert len(store) == 1
    assert similar(store, first, 1) == pytest.approx([1.0], abs=1e-3)


def test_vectors_are_there_when_the_file_is_opened_again(path: Path) -> None:
    vectors = units(3)
    with opened(path) as store:
        store.add([1, 2, 3], vectors)

    with opened(path) as store:
        assert similar(store, vectors[1], 2) == pytest.approx([1.0], abs=1e-3)


@pytest.mark.parametrize("starts", [[0], [0, ROOM - 1, ROOM, ROOM + 1], [0, 1, 2 * ROOM, 2 * ROOM + 1]])
def test_the_matrix_grows_with_what_is_added(store: VectorStore, starts: list[int]) -> None:
    vectors = units(3 * ROOM)
    for start, end in zip(starts, [*starts[1:], 3 * ROOM], strict=True):
        store.add(range(start, end), vectors[start:end])
        assert len(store) == end

    found = similar(store, vectors[5], *range(3 * ROOM))

    assert np.abs(found - vectors @ vectors[5]).max() < 1e-3


def test_what_another_adds_is_seen(path: Path) -> None:
    vectors = units(2)
    with opened(path) as one, opened(path) as other:
        one.add([1], vectors[:1])
        before = len(other)

        one.add([2], vectors[1:])

        assert (before, len(other)) == (1, 2)
        assert similar(other, vectors[1], 2) == pytest.approx([1.0], abs=1e-3)


def test_processes_that_add_at_the_same_time_lose_nothing(path: Path) -> None:
    command = [sys.executable, "-c", ADDER, str(path)]
    adders = [
        subprocess.Popen([*command, first, "200"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for first in ("0", "100")  # half of what they add is the same
    ]
    for one in adders:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in adders:
        one.communicate("go\n", timeout=60)

    with opened(path) as store:
        assert [one.returncode for one in adders] == [0, 0]
        assert len(store) == 300
        assert similar(store, np.array([1, 0], np.float32), *range(300)).tolist() == list(range(300))


# what is gone


def test_pruning_keeps_only_what_is_named(store: VectorStore) -> None:
    vectors = units(4)
    store.add([1, 2, 3, 4], vectors)

    store.prune(numbers(2, 4, 99))

    assert len(store) == 2
    assert np.isnan(similar(store, vectors[0], 1, 2, 3, 4)).tolist() == [True, False, True, False]
    assert similar(store, vectors[3], 4) == pytest.approx([1.0], abs=1e-3)


def test_after_everything_was_pruned_new_vectors_are_taken(store: VectorStore) -> None:
    vectors = units(2)
    store.add([1], vectors[:1])
    store.prune(numbers())
    gone = store.places(numbers(1)).tolist()

    store.add([2], vectors[1:])

    assert gone == [-1]
    assert store.places(numbers(1)).tolist() == [-1]
    assert similar(store, vectors[1], 2) == pytest.approx([1.0], abs=1e-3)


def test_what_was_added_after_another_pruned_is_seen(path: Path) -> None:
    vectors = units(4)
    with opened(path) as one, opened(path) as other:
        one.add([1, 2, 3], vectors[:3])
        assert len(other) == 3

        one.prune(numbers(1))
        one.add([4], vectors[3:])

        assert similar(other, vectors[3], 4) == pytest.approx([1.0], abs=1e-3)
        assert similar(other, vectors[0], 1) == pytest.approx([1.0], abs=1e-3)


# many


@contextmanager
def many(path: Path, exact: int) -> Iterator[VectorStore]:
    """Give the vectors of a file, held as signs however few they are."""
    store = VectorStore(path, many=0, exact=exact)
    try:
        yield store
    finally:
        store.close()


def test_with_all_compared_signs_give_the_cosines_of_the_matrix(path: Path) -> None:
    vectors, queries = units(500), units(20, seed=2)
    with opened(path) as flat, many(path, exact=500) as signs:
        flat.add(range(500), vectors)
        places = flat.places(numbers(*range(-5, 500)))

        for query in queries:
            found = signs.similarities(query, signs.places(numbers(*range(-5, 500))), [np.arange(505)])

            np.testing.assert_array_equal(found, flat.similarities(query, places))


def test_those_not_compared_are_within_the_range_of_those_compared(path: Path) -> None:
    vectors = units(500)
    with many(path, exact=20) as store:
        store.add(range(500), vectors)

        found = store.similarities(vectors[7], store.places(numbers(*range(500))), [np.arange(500)])

    compared = np.isclose(found, vectors @ vectors[7], atol=1e-3)
    highest, lowest = np.sort(found[compared])[-20], found[compared].min()
    assert int(found.argmax()) == 7
    assert compared.sum() >= 20 + 4
    assert lowest <= found[~compared].min()
    assert found[~compared].max() <= highest


def test_a_small_group_is_compared_however_far_it_is(path: Path) -> None:
    vectors = units(500)
    far = np.argsort(vectors @ vectors[7])[:5]
    with many(path, exact=5) as store:
        store.add(range(500), vectors)
        groups = [np.arange(500), far]

        found = store.similarities(vectors[7], store.places(numbers(*range(500))), groups)

    assert found[far] == pytest.approx(vectors[far] @ vectors[7], abs=1e-3)


def test_what_is_added_to_many_is_found_at_once(path: Path) -> None:
    vectors = units(600)
    with many(path, exact=5) as store:
        store.add(range(599), vectors[:599])
        before = len(store)

        store.add([599], vectors[599:])

        found = store.similarities(vectors[599], store.places(numbers(*range(600))), [np.arange(600)])
    assert before == 599
    assert int(found.argmax()) == 599
    assert found[599] == pytest.approx(1.0, abs=1e-3)


def test_few_vectors_become_many_and_few_again(path: Path) -> None:
    vectors = units(30)
    store = VectorStore(path, many=20, exact=1)
    store.add(range(20), vectors[:20])
    few = similar(store, vectors[3], *range(20))
    store.add(range(20, 30), vectors[20:])

    grown = store.similarities(vectors[3], store.places(numbers(*range(30))), [np.arange(30)])
    store.prune(numbers(*range(20)))
    again = similar(store, vectors[3], *range(20))
    store.close()

    assert few == pytest.approx(vectors[:20] @ vectors[3], abs=1e-3)
    assert int(grown.argmax()) == 3
    assert grown[3] == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_array_equal(again, few)


def test_what_another_pruned_is_still_told_by_its_signs(path: Path) -> None:
    vectors = units(40)
    with many(path, exact=10) as one, many(path, exact=10) as other:
        one.add(range(40), vectors)
        places = other.places(numbers(*range(40)))

        one.prune(numbers(*range(20)))

        found = other.similarities(vectors[30], places, [np.arange(40)])
    assert not np.isnan(found).any()


# a file that is not what it should be


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_broken_file_is_set_aside(path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path.write_bytes(content)

    with caplog.at_level(logging.WARNING), opened(path) as store:
        store.add([1], units(1))
        kept = len(store)

    (aside,) = path.parent.glob("vectors-*.db")
    assert kept == 1
    assert aside.read_bytes() == content
    assert aside.name in caplog.text
