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
from bookwheel.index.postings import (
    CHUNK_FIELDS,
    FIELDS,
    MOST,
    PAGE_FIELDS,
    Builder,
    Lexicon,
    Postings,
    Vocabulary,
    unpack,
)
from bookwheel.index.store import Store
from bookwheel.model import Hit, Library

VOCABULARY = ["anchor", "bellows", "cabinet", "drawer", "easel", "folio", "gutter", "hinge"]  # no two alike
TEXTS = st.one_of(
    st.lists(st.sampled_from([*VOCABULARY, "the", "max_open", "全文", "C++"]), max_size=30).map(" ".join), st.text()
)
PAGES = st.lists(
    st.tuples(
        st.fixed_dictionaries(dict.fromkeys(PAGE_FIELDS, TEXTS)),
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
Page = tuple[dict[str, str], list[tuple[str, str]]]
TERMS = st.text(alphabet=st.sampled_from("ab#+-/0é本\U00020000"), min_size=1, max_size=4)


def counted(pages: list[Page]) -> dict[tuple[str, str], Counter[int]]:
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


def listed(postings: Postings) -> dict[tuple[str, str], tuple[list[int], list[int]]]:
    """Return the units and counts of every term and field."""
    found = {}
    for place, key in enumerate(postings.keys):
        term, _, number = key.rpartition(" ")
        packed = postings.packed[postings.starts[place] : postings.starts[place + 1]].tobytes()
        units, counts = unpack(packed)
        found[term, FIELDS[int(number)]] = (units.tolist(), counts.tolist())
    return found


@given(st.lists(PAGES, min_size=1, max_size=3))
@settings(deadline=None, max_examples=60)
def test_counts_are_those_of_a_simple_count(batches: list[list[Page]]) -> None:
    vocabulary = Vocabulary()
    for pages in batches:  # one vocabulary learns from all of them
        expected = counted(pages)
        builder = Builder(vocabulary)
        for fields, chunks in pages:
            builder.add(fields, chunks)

        owner, lengths, postings = builder.finish()

        assert listed(postings) == {
            key: (sorted(units), [min(units[unit], MOST) for unit in sorted(units)]) for key, units in expected.items()
        }
        assert postings.keys == sorted(postings.keys)
        assert owner.tolist() == [page for page, (_, chunks) in enumerate(pages) for _ in chunks]
        for name in FIELDS:
            sums = Counter[int]()
            for (_, field), units in expected.items():
                sums.update(units if field == name else {})
            many = len(owner) if name in CHUNK_FIELDS else len(pages)
            assert lengths[name].tolist() == [sums[unit] for unit in range(many)]


def test_a_count_beyond_the_most_is_the_most() -> None:
    builder = Builder(Vocabulary())
    builder.add({}, [("", "wheel " * (MOST + 1))])

    _, lengths, postings = builder.finish()

    assert listed(postings) == {("wheel", "body"): ([0], [MOST])}
    assert lengths["body"].tolist() == [MOST + 1]


@given(st.dictionaries(TERMS, st.sets(st.integers(0, len(FIELDS) - 1), min_size=1)), TERMS)
@settings(deadline=None, max_examples=80)
def test_a_lexicon_finds_every_term_and_no_other(fields: dict[str, set[int]], other: str) -> None:
    keys = sorted(f"{term} {number}" for term, numbers in fields.items() for number in numbers)
    text = "".join(key + "\n" for key in keys).encode()

    lexicon = Lexicon(text, np.arange(len(keys) + 1, dtype="<u4").tobytes())

    for term in [*fields, other]:
        places = {number: keys.index(f"{term} {number}") for number in fields.get(term, ())}
        assert sorted(lexicon.find(term)) == sorted((number, place, place + 1) for number, place in places.items())
    assert set(lexicon.beginning(other, 1_000)) == {term for term in fields if term.startswith(other)}


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
            held = db.execute("SELECT SUM(LENGTH(dead)) FROM segments").fetchone()[0]
        assert held <= segments.FANOUT
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
