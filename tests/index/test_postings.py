"""Postings: what the counts are, how they are packed, and what is left of them after a merge."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shelf import merge_all, opened, paths, replace, search, shelve

from bookwheel.index import segments
from bookwheel.index.analysis import analyse, terms
from bookwheel.index.postings import CHUNK_FIELDS, FIELDS, MOST, PAGE_FIELDS, Builder, pack, unpack
from bookwheel.index.store import Store
from bookwheel.model import Hit, Library

VOCABULARY = ["anchor", "bellows", "cabinet", "drawer", "easel", "folio", "gutter", "hinge"]  # no two alike
TEXTS = st.one_of(
    st.lists(st.sampled_from([*VOCABULARY, "the", "max_open", "全文", "C++"]), max_size=30).map(" ".join), st.text()
)
PAGES = st.lists(
    st.tuples(
        st.fixed_dictionaries({name: TEXTS for name in PAGE_FIELDS}),
        st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4),
    ),
    max_size=5,
)
BODIES = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12).map(" ".join)
NAMES = st.integers(0, 11).map("{:02}.md".format)
STEPS = st.one_of(
    st.dictionaries(NAMES, BODIES, min_size=1, max_size=4),  # replace these
    st.sets(NAMES, min_size=1, max_size=4),  # drop those
)
Step = dict[str, str] | set[str]


def counted(pages: list[tuple[dict[str, str], list[tuple[str, str]]]]) -> dict[tuple[str, str], Counter[int]]:
    """Count the terms of every unit the simple way."""
    found: dict[tuple[str, str], Counter[int]] = {}
    chunk = 0
    for page, (fields, chunks) in enumerate(pages):
        units = [(name, page, terms(fields[name])) for name in PAGE_FIELDS]
        for heading, text in chunks:
            units += [("heading", chunk, terms(heading))]
            units += [("body", chunk, [term for raw in text.split() for term in analyse(raw)])]
            chunk += 1
        for name, unit, words in units:
            for word in words:
                found.setdefault((word, name), Counter())[unit] += 1
    return found


@given(PAGES)
@settings(deadline=None, max_examples=150)
def test_counts_are_those_of_a_simple_count(pages: list[tuple[dict[str, str], list[tuple[str, str]]]]) -> None:
    expected = counted(pages)
    builder = Builder()
    for fields, chunks in pages:
        builder.add(fields, chunks)

    owner, lengths, postings = builder.finish()

    found = {(term, FIELDS[number]): tuple(part.tolist() for part in unpack(packed)) for term, number, packed in postings}
    assert found == {
        key: (sorted(units), [min(units[unit], MOST) for unit in sorted(units)]) for key, units in expected.items()
    }
    assert postings == sorted(postings)
    assert owner.tolist() == [page for page, (_, chunks) in enumerate(pages) for _ in chunks]
    for name in FIELDS:
        sums = Counter[int]()
        for (_, field), units in expected.items():
            sums.update(units if field == name else {})
        many = len(owner) if name in CHUNK_FIELDS else len(pages)
        assert lengths[name].tolist() == [sums[unit] for unit in range(many)]


@given(st.dictionaries(st.integers(0, 2**24 - 1), st.integers(1, MOST)))
@settings(deadline=None, max_examples=100)
def test_packed_postings_come_back_as_they_were(counts: dict[int, int]) -> None:
    units = sorted(counts)

    packed = pack(np.array(units, np.int64), np.array([counts[unit] for unit in units], np.int64))

    assert tuple(part.tolist() for part in unpack(packed)) == (units, [counts[unit] for unit in units])
    assert len(packed) == 4 * len(units)


def test_a_count_beyond_the_most_is_the_most() -> None:
    builder = Builder()
    builder.add({}, [("", "wheel " * (MOST + 1))])

    _, lengths, postings = builder.finish()

    assert [(term, [part.tolist() for part in unpack(packed)]) for term, _, packed in postings] == [
        ("wheel", [[0], [MOST]])
    ]
    assert lengths["body"].tolist() == [MOST + 1]


def take(store: Store, library: Library, current: dict[str, str], step: Step) -> None:
    """Do one step in the store and in the plain dictionary beside it."""
    if isinstance(step, dict):
        replace(store, library, step)
        current.update(step)
        return
    store.drop(library, step)
    for name in step:
        current.pop(name, None)


def answers(store: Store, query: str) -> dict[str, tuple[object, ...]]:
    return {hit.record.source.path: shown(hit) for hit in search(store, query)}


def shown(hit: Hit) -> tuple[object, ...]:
    return pytest.approx(hit.score, rel=1e-4), hit.chunk, hit.location, hit.excerpt


@given(st.lists(STEPS, max_size=12))
@settings(deadline=None, max_examples=25)
def test_merged_segments_answer_like_an_index_built_afresh(steps: list[Step]) -> None:
    current: dict[str, str] = {}
    with TemporaryDirectory() as folder, opened(Path(folder, "old")) as old, opened(Path(folder, "new")) as new:
        library = shelve(old, {})
        for step in steps:
            take(old, library, current, step)
        merge_all(old)
        shelve(new, current)

        for query in [*VOCABULARY, "anchor bellows cabinet", "hing", "easle", "*"]:
            assert answers(old, query) == answers(new, query)


@given(st.lists(STEPS, min_size=1, max_size=12))
@settings(deadline=None, max_examples=25)
def test_dead_documents_are_never_found_before_a_merge(steps: list[Step]) -> None:
    current: dict[str, str] = {}
    with TemporaryDirectory() as folder, opened(Path(folder)) as store:
        library = shelve(store, {})
        for step in steps:
            take(store, library, current, step)

        for word in VOCABULARY:
            expected = {name for name, text in current.items() if word in text.split()}
            assert set(paths(search(store, word))) == expected
        assert paths(search(store, "*")) == sorted(current)


def test_two_hundred_changes_leave_what_an_index_built_afresh_has(tmp_path: Path) -> None:
    random = np.random.default_rng(1588)
    current: dict[str, str] = {}
    with opened(tmp_path / "old") as old, opened(tmp_path / "new") as new:
        library = shelve(old, {})
        for _ in range(200):
            some = {f"{number:02}.md": " ".join(random.choice(VOCABULARY, 9)) for number in random.integers(0, 40, 2)}
            take(old, library, current, set(some) if random.random() < 0.3 else some)
        shelve(new, current)

        assert {word: set(paths(search(old, word))) for word in VOCABULARY} == {
            word: set(paths(search(new, word))) for word in VOCABULARY
        }
        merge_all(old)
        for query in [*VOCABULARY, "drawer gutter", '"folio hinge"']:
            assert answers(old, query) == answers(new, query)


def test_many_small_changes_leave_few_segments(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {})
        for number in range(100):
            replace(store, library, {f"{number}.md": "anchor"})

        with store.database.reading() as db:
            held = db.execute("SELECT COUNT(*) FROM segments").fetchone()[0]
        assert held <= 3 * segments.FANOUT
        assert len(search(store, "anchor")) == 100


def test_replaced_documents_do_not_pile_up(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {})
        for number in range(100):
            replace(store, library, {"page.md": f"anchor{number}"})

        with store.database.reading() as db:
            terms_held = db.execute("SELECT COUNT(*) FROM postings WHERE term LIKE 'anchor%'").fetchone()[0]
        assert terms_held <= segments.FANOUT
        assert paths(search(store, "anchor99")) == ["page.md"]


def test_a_library_whose_documents_are_all_dropped_answers_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "anchor", "b.md": "bellows"})
        store.drop(library, ["a.md", "b.md"])

        assert search(store, "anchor") == []
        assert search(store, "*") == []
        merge_all(store)
        assert search(store, "anchor") == []
        replace(store, library, {"c.md": "anchor"})
        assert paths(search(store, "anchor")) == ["c.md"]
