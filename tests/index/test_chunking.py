"""Chunks: every word of a document is in one, and each says where it stands."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel import formats
from bookwheel.index.chunking import TARGET, cut, split
from bookwheel.model import Chunk, Document, Source

WORDS = st.sampled_from(
    ["wheel", "gear", "lectern", "Ramelli", "本。", "e.g.", "a" * 300, "Stop. ", "? ", "\u2028", "\t"]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=120).map(" ".join)
HEADINGS = st.builds(lambda level, title: "#" * level + " " + title, st.integers(1, 6), st.sampled_from("ABCD"))
BLOCKS = st.one_of(
    HEADINGS, HEADINGS, SENTENCES, st.just("```\n# no heading\n```"), st.just("- item\n- item"), st.just("")
)
FRONT = st.sampled_from(["", "\ufeff", "---\ntitle: Wheel\n---\n", "---\ntitle: Wheel\n---"])
MARKDOWN = st.builds(
    lambda front, blocks, gap, last: front + gap.join(blocks) + last,
    FRONT,
    st.lists(BLOCKS, max_size=12),
    st.sampled_from(["\n", "\n\n", "\r\n", "\r\n\r\n", "\n \n"]),
    st.sampled_from(["", "\n", "  \n\n"]),
)
thorough = settings(deadline=None, max_examples=80)


def read(text: str, path: str = "page.md") -> Document:
    return formats.read(Source("shelf", f"/shelf/{path}", path), text.encode())


def own_spans(document: Document) -> list[tuple[str, int, int]]:
    """Return for each section, and for what comes before the first, the text that is its own."""
    starts = [document.body, *(section.start for section in document.sections), len(document.text)]
    names = ["", *(section.id for section in document.sections)]
    return [(name, first, last) for name, (first, last) in zip(names, pairwise(starts), strict=True)]


@given(MARKDOWN)
@thorough
def test_chunks_come_in_order_and_never_overlap(text: str) -> None:
    chunks = split(read(text))

    assert chunks
    assert all(one.end <= other.start for one, other in pairwise(chunks))


@given(MARKDOWN, st.lists(st.floats(0, 1), max_size=6))
@thorough
def test_a_chunk_stays_on_its_page(text: str, shares: list[float]) -> None:
    document = read(text)
    pages = (0, *sorted(int(share * len(document.text)) for share in shares))
    edges = [*pages, len(document.text)]

    chunks = [one for one in split(replace(document, pages=pages)) if one.end > one.start]

    assert all(edges[one.page - 1] <= one.start for one in chunks)
    assert all(one.end <= edges[one.page] for one in chunks)
    assert covered(document, chunks) == covered(document, split(document))


def covered(document: Document, chunks: list[Chunk]) -> str:
    """Return the letters that are in chunks."""
    return "".join("".join(document.text[one.start : one.end].split()) for one in chunks)


@given(MARKDOWN)
@thorough
def test_a_chunk_is_not_longer_than_the_target(text: str) -> None:
    chunks = split(read(text))

    assert all(0 <= chunk.end - chunk.start <= TARGET for chunk in chunks)


@given(MARKDOWN)
@thorough
def test_a_chunk_stays_inside_the_own_text_of_its_section(text: str) -> None:
    document = read(text)
    spans = {name: (first, last) for name, first, last in own_spans(document)}

    for chunk in split(document):
        first, last = spans[chunk.section]
        assert first <= chunk.start <= chunk.end <= last


@given(MARKDOWN)
@thorough
def test_every_character_is_in_a_chunk_but_headings_with_subsections_alone(text: str) -> None:
    document = read(text)
    covered = {place for chunk in split(document) for place in range(chunk.start, chunk.end)}

    for name, first, last in own_spans(document):
        missed = [at for at in range(first, last) if not document.text[at].isspace() and at not in covered]
        if missed:
            whole = document.text[first:last].strip()
            section = next(one for one in document.sections if one.id == name)
            assert len(whole.splitlines()) == 1
            assert section.end > last
            assert len(missed) == len("".join(whole.split()))


@given(MARKDOWN)
@thorough
def test_lines_of_a_chunk_are_counted_from_the_start_of_the_file(text: str) -> None:
    document = read(text)

    for chunk in split(document):
        if chunk.end > chunk.start:
            assert chunk.line == document.text[: chunk.start].count("\n") + 1
            assert chunk.end_line == document.text[: chunk.end].count("\n") + 1


@given(MARKDOWN)
@thorough
def test_a_chunk_begins_and_ends_with_a_word(text: str) -> None:
    document = read(text)

    for chunk in split(document):
        shown = document.text[chunk.start : chunk.end]
        assert shown == shown.strip()


@given(MARKDOWN)
@thorough
def test_headings_of_a_chunk_lead_to_its_section(text: str) -> None:
    document = read(text)
    titles = {section.id: section.title for section in document.sections}
    levels = {section.id: section.level for section in document.sections}

    for chunk in split(document):
        assert bool(chunk.section) == bool(chunk.headings)
        if chunk.section:
            assert chunk.headings[-1] == titles[chunk.section]
            assert len(chunk.headings) <= levels[chunk.section]


def test_chunks_of_a_small_document() -> None:
    text = "---\ntitle: T\n---\nBefore.\n\n# Wheel\n\n## Gear\n\nIt turns.\n\n## Lectern\n\nIt holds.\n"

    chunks = split(read(text))

    assert [(text[chunk.start : chunk.end], chunk) for chunk in chunks] == [
        ("Before.", Chunk(17, 24, 4, 4)),
        ("## Gear\n\nIt turns.", Chunk(35, 53, 8, 10, "wheel/gear", ("Wheel", "Gear"))),
        ("## Lectern\n\nIt holds.", Chunk(55, 76, 12, 14, "wheel/lectern", ("Wheel", "Lectern"))),
    ]


@pytest.mark.parametrize("text", ["", "\n\n \n", "\ufeff", "---\ntitle: T\n---\n"])
def test_a_document_without_words_has_one_empty_chunk(text: str) -> None:
    document = read(text)

    assert split(document) == [Chunk(document.body, document.body, 1, 1)]


def test_lines_that_end_with_a_carriage_return_alone_are_counted() -> None:
    document = read("# Wheel\rIt turns.\r\r# Gear\rIt bites.\r")

    assert [(chunk.line, chunk.end_line) for chunk in split(document)] == [(1, 2), (4, 5)]


@pytest.mark.parametrize(
    ("before", "breaks"),
    [
        ("word " * 160 + "\n\n", "word " * 200),
        ("word " * 160 + "\n", "word " * 200),
        ("word " * 160 + "End. ", "word " * 200),
        ("本" * 800 + "。", "本" * 1_000),
        ("word" * 200 + " ", "word" * 250),
        ("word" * 300, "word" * 100),
    ],
)
def test_a_long_text_is_cut_at_the_best_place(before: str, breaks: str) -> None:
    first, *_ = cut(before + breaks, 0, len(before + breaks))

    assert first == (0, len(before.rstrip()))


@pytest.mark.parametrize("unit", ["x", "word ", "本", "\n", "Stop. ", "x\n\n"])
def test_ten_megabytes_of_one_line_are_cut_in_one_pass(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))

    chunks = split(read("# T\n" + text, "page.txt"))

    assert len(chunks) <= len(text) // (TARGET // 3) + 2
    assert sum(chunk.end - chunk.start for chunk in chunks) <= len(text) + 4
