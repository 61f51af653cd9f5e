"""How well search finds what a user expects it to find, on their own documents."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bookwheel.errors import Invalid, NotFound
from bookwheel.model import Query

if TYPE_CHECKING:
    from bookwheel.catalog import Catalog
    from bookwheel.model import Record

MODES = ("lexical", "vector", "hybrid")
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the documents that should come up."""

    query: str
    expected: frozenset[str]  # paths, with or without the library, decoded


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file; raises Invalid with the line that is wrong."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8 text") from error
    found = [_question(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise Invalid(f'{path} has no questions; a line looks like {{"query": "…", "expected": ["docs://…"]}}')
    return found


def _question(path: Path, number: int, line: str) -> Question:
    with contextlib.suppress(ValueError, AttributeError):
        match json.loads(line):
            case {"query": str(query), "expected": [*uris]}:
                return Question(query, frozenset(unquote(one.removeprefix("docs://")) for one in uris))
    raise Invalid(f"line {number} of {path} must be an object with a query and a list of expected URIs")


def measure(catalog: Catalog, questions: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Return hit@1, hit@5, hit@10, MRR and nDCG@10 for each mode."""
    return {mode: _figures([_places(catalog, one, mode) for one in questions]) for mode in MODES}


def _places(catalog: Catalog, question: Question, mode: str) -> tuple[list[int], int]:
    """Return at which ranks expected documents came, and how many were expected."""
    hits = catalog.search(Query(question.query, limit=DEPTH, mode=mode)).hits
    missing = set(question.expected)
    ranks: list[int] = []
    for rank, hit in enumerate(hits, 1):
        if found := _names(hit.record) & missing:
            missing -= found
            ranks.append(rank)
    return ranks, len(question.expected)


def _names(record: Record) -> frozenset[str]:
    return frozenset({record.source.path, record.source.label})


def _figures(answers: Sequence[tuple[list[int], int]]) -> dict[str, float]:
    total = len(answers)
    hits = {f"hit@{depth}": sum(any(r <= depth for r in ranks) for ranks, _ in answers) / total for depth in (1, 5, 10)}
    reciprocal = sum(1 / min(ranks) for ranks, _ in answers if ranks) / total
    gain = sum(_gain(ranks) / _gain(range(1, min(wanted, DEPTH) + 1)) for ranks, wanted in answers if wanted) / total
    return {**hits, "MRR": reciprocal, "nDCG@10": gain}


def _gain(ranks: Sequence[int] | range) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)
