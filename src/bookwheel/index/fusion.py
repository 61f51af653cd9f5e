"""Words and meaning as one score.

Both are stretched over what the query found, so that the best of each counts 1, and added. The more of the query's
words the best page has, the more the words count: an identifier is a matter of letters, a question of sense. As long as
vectors are missing, meaning counts for less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bookwheel.index.postings import Integers
from bookwheel.index.ranking import Ranking
from bookwheel.index.segments import Floats, Snapshot

LEAST = 0.15  # what words count when they found next to nothing
GAIN = 0.5  # how much more they count for all they found
FAINT = 0.01  # the score of the least of answers
KIN = 0.3  # cosine from which a page without any of the words is an answer


@dataclass(frozen=True, slots=True)
class Fusion:
    """The fused scores, and what they were made of."""

    ranking: Ranking
    words: Floats  # score by words of each page
    meaning: Floats  # cosine of each page's nearest chunk; not a number where it has no vector
    weight: float  # the share of the words in the sum


def fuse(now: Snapshot, words: Ranking, similar: Floats, wanted: Integers, mode: str) -> Fusion:
    """Return the scores of all pages by words and meaning, or by meaning alone in mode "vector"."""
    meaning = np.fmax.reduceat(similar, now.first)
    seen = wanted & ~np.isnan(meaning)
    top = float(words.pages[wanted].max(initial=0.0))
    missing = np.isnan(similar)
    compared = 1 - float(missing[wanted[now.owner]].mean())  # few vectors say little of who is nearest
    weight = 0.0 if mode == "vector" else 1 - compared * (1 - LEAST - GAIN * top)
    by_words = words.pages / max(top, 1e-9)
    low, high = (float(meaning[seen].min()), float(meaning[seen].max())) if seen.any() else (0.0, 1.0)
    stretched = (meaning - low) / (high - low) if high > low else np.ones_like(meaning)
    by_meaning = np.where(np.isnan(meaning), by_words, stretched)
    answers = (words.pages > 0) | (meaning >= KIN) if weight else meaning >= KIN
    ceiling = max(top if weight else 0.0, high)  # the best of all is as good as the better of the two says
    pages = np.where(answers, np.maximum((weight * by_words + (1 - weight) * by_meaning) * ceiling, FAINT), 0.0)
    nearest = np.where(missing, np.float32(0), similar)
    chunks = weight * words.chunks / max(float(words.chunks.max(initial=0.0)), 1e-9) + (1 - weight) * nearest
    return Fusion(Ranking(pages.astype(np.float32), chunks.astype(np.float32)), words.pages, meaning, weight)
