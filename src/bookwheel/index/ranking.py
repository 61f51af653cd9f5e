"""Score pages and their chunks for the terms of a query.

BM25F: within a term the fields add up, weighted and each measured by its own length, before the count
saturates. A page is scored as a whole and by its best chunk, and the two are averaged: the first knows
what a page is about, the second where it says so. Scores lie between 0 and 1, as the share of the
query's weight that was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bookwheel.index.postings import CHUNK_FIELDS, Integers
from bookwheel.index.segments import Floats, Snapshot

SATURATION = 2.0  # BM25's k1
PAGE_WEIGHTS = {"title": 3.0, "path": 1.0, "keywords": 1.5, "description": 1.5, "heading": 1.0, "body": 1.0}
CHUNK_WEIGHTS = {"heading": 1.5, "body": 1.0}
BIAS = {"title": 0.75, "path": 0.5, "keywords": 0.5, "description": 0.5, "heading": 0.5, "body": 0.75}  # BM25's b
PAGE_SHARE = 0.75
TITLE_BONUS = 0.4  # of what is missing to a full score, for a title that is the query
EARLY = 0.5  # the same where each field counts for itself
GROUPS = {  # the fields that a caller's weights name
    "title": frozenset({"title"}),
    "keywords": frozenset({"keywords"}),
    "content": frozenset({"heading", "body"}),
}

Occurrences = Mapping[tuple[str, str], tuple[Integers, Integers]]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query: the terms that count for it and how much each."""

    variants: tuple[tuple[str, float], ...]
    times: int = 1  # how often the query says it


@dataclass(frozen=True, slots=True)
class Ranking:
    """The score of every page, and of every chunk on its own."""

    pages: Floats
    chunks: Floats


def rank(now: Snapshot, words: Sequence[Word], found: Occurrences, fields: frozenset[str]) -> Ranking:
    """Return how well every page answers the words, looking at *fields* alone."""
    page_scores, page_weight = np.zeros(len(now.pages), np.float32), 0.0
    chunk_scores, chunk_weight = np.zeros(len(now.owner), np.float32), 0.0
    for word in words:
        page_weight += _add(page_scores, _page_counts(now, word, found, fields), word.times)
        chunk_weight += _add(chunk_scores, _counts(now, word, found, CHUNK_WEIGHTS, fields), word.times)
    page_scores /= max(page_weight, 1e-9)
    chunk_scores /= max(chunk_weight, 1e-9)
    if not len(now.pages):
        return Ranking(page_scores, chunk_scores)
    best = np.maximum.reduceat(chunk_scores, now.first)
    scores = PAGE_SHARE * page_scores + (1 - PAGE_SHARE) * best
    if "title" in fields:
        scores += TITLE_BONUS * _title_cover(now, words, found) * (1 - scores)
    return Ranking(scores.astype(np.float32), chunk_scores)


def rank_by_field(now: Snapshot, words: Sequence[Word], found: Occurrences, weights: Mapping[str, float]) -> Floats:
    """Return the score of every page where each field counts for itself, by weights that the caller chose.

    A field saturates early, so that its weight decides, and not how often a long text repeats a word.
    """
    scores, total = np.zeros(len(now.pages), np.float32), 0.0
    for word in words:
        counts = {name: _page_counts(now, word, found, GROUPS[name]) for name, weight in weights.items() if weight}
        rarity = word.times * _rarity(sum(counts.values(), np.zeros(len(now.pages), np.float32)))
        total += rarity
        for name, count in counts.items():
            scores += np.float32(rarity * weights[name]) * count / (count + np.float32(EARLY))
    return scores / np.float32(max(total * max(weights.values(), default=0), 1e-9))


def _title_cover(now: Snapshot, words: Sequence[Word], found: Occurrences) -> Floats:
    """Return how nearly each page's title is the query: 1 if they have the same words, little if they share half."""
    shared = np.zeros(len(now.pages), np.float32)
    for word in words:
        for term, worth in word.variants:
            if (term, "title") in found:
                shared[found[term, "title"][0]] += np.float32(worth)
    cover = shared / np.maximum(now.titles, 1) * shared / max(len(words), 1)
    return np.asarray(cover.clip(max=1) ** 2, np.float32)


def _add(scores: Floats, counts: Floats, times: int) -> float:
    """Add the saturated counts of one word, weighted by its rarity; return that weight."""
    weight = times * _rarity(counts)
    scores += np.float32(weight) * counts / (counts + np.float32(SATURATION))
    return weight


def _rarity(counts: Floats) -> float:
    """Return BM25's weight of a word that is in these units."""
    held = int(np.count_nonzero(counts))
    return float(np.log1p((len(counts) - held + 0.5) / (held + 0.5)))


def _counts(
    now: Snapshot, word: Word, found: Occurrences, weights: Mapping[str, float], fields: frozenset[str]
) -> Floats:
    """Return the weighted, length-normalised count of a word in every unit of these fields."""
    chunked = not weights.keys() - set(CHUNK_FIELDS)
    counts = np.zeros(len(now.owner if chunked else now.pages), np.float32)
    for term, worth in word.variants:
        for name, weight in weights.items():
            if name in fields and (term, name) in found:
                units, times = found[term, name]
                counts[units] += np.float32(worth * weight) * times / _measure(now.norms[name][units], name)
    return counts


def _page_counts(now: Snapshot, word: Word, found: Occurrences, fields: frozenset[str]) -> Floats:
    """Return the same for whole pages: their own fields and the sum over their chunks."""
    own = {name: weight for name, weight in PAGE_WEIGHTS.items() if name not in CHUNK_FIELDS}
    counts = _counts(now, word, found, own, fields)
    for term, worth in word.variants:
        for name in CHUNK_FIELDS:
            if name in fields and (term, name) in found:
                units, times = found[term, name]
                summed = np.bincount(now.owner[units], weights=times, minlength=len(now.pages)).astype(np.float32)
                counts += np.float32(worth * PAGE_WEIGHTS[name]) * summed / _measure(now.sizes[name], name)
    return counts


def _measure(norms: Floats, name: str) -> Floats:
    bias = np.float32(BIAS[name])
    return 1 - bias + bias * norms
