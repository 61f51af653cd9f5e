"""Answer a query: its words, what counts for each, the best pages, and for each the passage to show."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from threading import Lock

import numpy as np

from bookwheel.index.analysis import SPOKEN, fold, terms
from bookwheel.index.embedding import Vectors
from bookwheel.index.excerpt import excerpt
from bookwheel.index.filters import CHUNK_FIELDS as CONDITIONS
from bookwheel.index.filters import Conditions, check, fits, narrow
from bookwheel.index.fusion import Fusion, fuse
from bookwheel.index.postings import CHUNK_FIELDS, FIELDS, Integers
from bookwheel.index.ranking import Occurrences, Ranking, Word, rank, rank_by_field
from bookwheel.index.segments import Floats, Snapshot, completions, known, occurrences, snapshot, spans
from bookwheel.index.semantics import Semantics
from bookwheel.index.store import Store, read_chunk, read_record, read_span
from bookwheel.model import Chunk, Hit, Query, Record

EVERYTHING = "*"
LONGEST_QUERY = 10_000  # characters: more is a document, not a question
MOST_WORDS = 256
NEAR = 0.5  # what a term at edit distance 1 counts
BEGUN = 0.8  # what a term that the last word begins counts
MOST_VARIANTS = 24
MOST_UNKNOWN = 8  # words that are looked for in other spellings: a text full of them is no query
ALIKE = 0.9  # share of common words from which two passages say the same
LONG = 24  # words: more is a text, not a question
CANDIDATES = 200  # pages looked at for a quoted phrase
KEPT = 256  # answers: many clients ask the same

TITLE = frozenset({"title", "path"})
CONTENT = frozenset({"heading", "body", "keywords", "description"})
_LOOK_IN = {"title": TITLE, "content": CONTENT, "both": TITLE | CONTENT}
_PHRASE = re.compile(r'"([^"]+)"')
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Searcher:
    """Searches one store; keeps the index's small arrays between queries, and answers as long as nothing changes."""

    def __init__(self, store: Store, semantics: Semantics | None = None) -> None:
        self._store = store
        self._semantics = semantics
        self._last: Snapshot | None = None
        self._kept: dict[tuple[object, ...], list[Hit]] = {}
        self._keeping = Lock()

    def search(self, query: Query, libraries: frozenset[int] | None = None) -> list[Hit]:
        """Return the documents that answer the query, best first, from these libraries or from all."""
        vectors = len(self._semantics.vectors) if self._semantics and query.mode != "lexical" else 0
        key = (self._store.generation(), vectors, repr(query), libraries)
        found = self._kept.get(key)
        if found is None:
            found = self._search(query, libraries)
            self._keep(key, found)
        return list(found)

    def _keep(self, key: tuple[object, ...], found: list[Hit]) -> None:
        """Keep an answer, for as many as came last; those to what has changed since are never asked for again."""
        with self._keeping:
            self._kept[key] = found
            while len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]

    def _search(self, query: Query, libraries: frozenset[int] | None) -> list[Hit]:
        text = query.text[:LONGEST_QUERY].replace("\0", " ").strip()
        check(query.where)
        meaning = self._embed(text, query.mode)  # before anything is locked: it takes longer than all the rest
        with self._store.database.reading() as db:
            self._last = now = snapshot(db, self._last)
            wanted = narrow(db, now, _wanted(now, query, libraries), query.where)
            if text == EVERYTHING:
                return _everything(db, now, wanted, query)
            look = _Look(db, now, wanted, query.where)
            words = list(_words(look, text))
            ranking = rank(now, words, look.found, _LOOK_IN[query.fields])
            if query.weights is not None:
                ranking = replace(ranking, pages=rank_by_field(now, words, look.found, query.weights))
            fusion = self._fuse(now, ranking, wanted, query.mode, meaning)
            scores = fusion.ranking if fusion else ranking
            allowed = wanted & (ranking.pages > 0) if query.evidence or not fusion else wanted
            order = _order(scores.pages, allowed, max(query.limit, CANDIDATES))
            hits = _chunk_hits(look, scores, order, query.limit) if query.chunks else _hits(look, scores, order)
            if query.explain:
                hits = _explained(hits, look, words, fusion)
            return list(_take(_distinct(hits, db) if query.distinct else hits, _phrases(text), db, query.limit))

    def _embed(self, text: str, mode: str) -> Vectors | None:
        """Return what a query means, if that is wanted and there is anything to compare it with."""
        if mode == "lexical" or text in {"", EVERYTHING} or not self._semantics:
            return None
        return self._semantics.embed_query(text)

    def _fuse(
        self, now: Snapshot, ranking: Ranking, wanted: Integers, mode: str, meaning: Vectors | None
    ) -> Fusion | None:
        """Join in what the query means."""
        if meaning is None or not self._semantics or not wanted.any():
            return None
        best = _order(ranking.pages, wanted, CANDIDATES)
        groups = (np.flatnonzero(wanted[now.owner]), _chunks(now, best))
        return fuse(now, ranking, self._semantics.similar(meaning, now, groups), wanted, mode)


def _chunks(now: Snapshot, pages: Iterable[int]) -> Integers:
    """Return the chunks of some pages."""
    ends = np.append(now.first[1:], len(now.owner))
    return np.concatenate([np.empty(0, np.int64), *(np.arange(now.first[page], ends[page]) for page in pages)])


class _Look:
    """The words of a query, looked up in the pages it may see."""

    def __init__(self, db: sqlite3.Connection, now: Snapshot, wanted: Integers, where: Conditions) -> None:
        self.db = db
        self.now = now
        self.where = where
        self.found: dict[tuple[str, str], tuple[Integers, Integers]] = {}
        self.wanted = wanted

    def up(self, term: str) -> bool:
        """Tell whether any wanted page has the term, and if so keep where."""
        found = occurrences(self.db, self.now, {term: spans(self.now, term)})
        held = any(self.wanted[self._pages(name, units)].any() for (_, name), (units, _) in found.items())
        if held:
            self.found |= found
        return held

    def _pages(self, name: str, units: Integers) -> Integers:
        return self.now.owner[units] if name in CHUNK_FIELDS else units


def _wanted(now: Snapshot, query: Query, libraries: frozenset[int] | None) -> Integers:
    """Return the mask of pages a query may see."""
    mask = now.alive
    if libraries is not None:
        mask = mask & np.isin(now.libraries, list(libraries))
    if query.suffixes:
        codes = [code for code, suffix in enumerate(now.kinds) if suffix in query.suffixes]
        mask = mask & np.isin(now.suffixes, codes)
    return mask


def _everything(db: sqlite3.Connection, now: Snapshot, wanted: Integers, query: Query) -> list[Hit]:
    records = [read_record(db, int(page)) for page in now.pages[wanted]]
    records.sort(key=lambda record: (record.source.library, record.source.path))
    chunks = ((record, _fitting(db, record, range(record.chunk_count), query.where)) for record in records)
    hits = (
        Hit(record, chunk, 1.0, "content", _show(db, record.number, chunk, set())) for record, chunk in chunks if chunk
    )
    return list(islice(hits, max(0, query.limit)))


def _fitting(db: sqlite3.Connection, record: Record, order: Iterable[int], where: Conditions) -> Chunk | None:
    """Return the first chunk, in this order, that meets the conditions on chunks."""
    conditions = {name: value for name, value in where.items() if name in CONDITIONS}
    for place in order:
        chunk = read_chunk(db, record.number, int(place))
        if not conditions or fits(chunk, read_span(db, record.number, chunk.start, chunk.end), conditions):
            return chunk
    return None


def _words(look: _Look, text: str) -> Iterator[Word]:
    """Yield the words of a query: as they are where they occur, else what they may have been meant to be."""
    said = terms(text)
    unknown = 0
    for term, times in Counter(said[:MOST_WORDS]).items():
        variants = [(term, 1.0)] if look.up(term) else []
        unknown += not variants
        if not variants and unknown <= MOST_UNKNOWN:
            variants = _variants(look, term, last=term == said[-1])
        yield Word(tuple(variants) or ((term, 1.0),), times)


def _variants(look: _Look, term: str, last: bool) -> list[tuple[str, float]]:
    if term in SPOKEN.stop_words:
        return []
    begun = (
        [one for one in completions(look.now, term, MOST_VARIANTS) if look.up(one)] if last and len(term) > 2 else []
    )
    near = known(look.now, sorted(_neighbours(term) - set(begun))) if len(term) > 3 else []
    close = [one for one in near if look.up(one)]
    return [(one, BEGUN) for one in begun] + [(one, NEAR) for one in close[:MOST_VARIANTS]]


def _neighbours(term: str) -> set[str]:
    """Return every word one edit away: a letter dropped, added, changed, or swapped with the next."""
    parts = [(term[:i], term[i:]) for i in range(len(term) + 1)]
    letters = _LETTERS if term.isascii() else _LETTERS + "".join(set(term))
    dropped = {a + b[1:] for a, b in parts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1}
    changed = {a + c + b[1:] for a, b in parts if b for c in letters}
    added = {a + c + b for a, b in parts for c in letters}
    return (dropped | swapped | changed | added) - {term}


def _hits(look: _Look, ranking: Ranking, order: Iterable[int]) -> Iterator[Hit]:
    """Yield hits from the best page down, made only as they are asked for."""
    shown = {term for term, _ in look.found}
    db, now = look.db, look.now
    for page in order:
        record = read_record(db, int(now.pages[page]))
        first = int(now.first[page])
        places = np.argsort(-ranking.chunks[first : first + record.chunk_count], kind="stable")
        if chunk := _fitting(db, record, places, look.where):
            score = min(1.0, max(0.01, float(ranking.pages[page])))
            yield Hit(record, chunk, score, _location(now, look.found, page), _show(db, record.number, chunk, shown))


def _chunk_hits(look: _Look, ranking: Ranking, order: Iterable[int], limit: int) -> Iterator[Hit]:
    """Yield the best passages of the best pages: the best of a page has its score, the others their share of it."""
    db, now, found = look.db, look.now, []
    for page in islice(order, max(limit, CANDIDATES if look.where else 0)):
        first = int(now.first[page])
        end = int(now.first[page + 1]) if page + 1 < len(now.first) else len(now.owner)
        scores = ranking.chunks[first:end]
        shares = float(ranking.pages[page]) * scores / max(float(scores.max()), 1e-9)
        best = np.argsort(-shares, kind="stable")[: max(limit, CANDIDATES if look.where else 0)]
        found += [(float(shares[place]), page, int(place)) for place in best if shares[place] > 0 or place == best[0]]
    shown = {term for term, _ in look.found}
    for score, page, place in sorted(found, key=lambda one: -one[0]):
        record = read_record(db, int(now.pages[page]))
        if chunk := _fitting(db, record, [place], look.where):
            known = _location(now, look.found, page)
            yield Hit(record, chunk, min(1.0, max(0.01, score)), known, _show(db, record.number, chunk, shown))


def _order(scores: Floats, wanted: Integers, most: int) -> Iterator[int]:
    """Yield the wanted pages with a score, best first, equal ones in the order they were stored."""
    found = np.flatnonzero((scores > 0) & wanted)
    if len(found) > most:
        top = np.argpartition(-scores[found], most)[:most]
        found = found[np.sort(top)]
    yield from found[np.argsort(-scores[found], kind="stable")].tolist()


def _location(now: Snapshot, found: Occurrences, page: int) -> str:
    """Say where on a page the words were found."""
    fields = {field for (_, field), (units, _) in found.items() if _holds(now, field, units, page)}
    if not fields & TITLE:
        return "content"
    return "both" if fields & CONTENT else "title"


def _holds(now: Snapshot, field: str, units: Integers, page: int) -> bool:
    """Tell whether any of the rising units is the page, or a chunk of it."""
    first, end = page, page + 1
    if field in CHUNK_FIELDS:
        first = int(now.first[page])
        end = int(now.first[page + 1]) if page + 1 < len(now.first) else len(now.owner)
    place = int(np.searchsorted(units, first))
    return place < len(units) and int(units[place]) < end


def _explained(hits: Iterator[Hit], look: _Look, words: Sequence[Word], fusion: Fusion | None) -> Iterator[Hit]:
    """Yield the hits with the parts of their scores: each field alone, both ranks, the weight of the words."""
    now, wanted = look.now, look.wanted
    alone = {name: rank(now, words, look.found, frozenset({name})).pages for name in FIELDS}
    places = {int(number): place for place, number in enumerate(now.pages)}
    for hit in hits:
        page = places[hit.record.number]
        why: dict[str, object] = {"fields": {name: round(float(scores[page]), 4) for name, scores in alone.items()}}
        if fusion:
            why |= {
                "words": round(float(fusion.words[page]), 4),
                "words_rank": 1 + int((fusion.words[wanted] > fusion.words[page]).sum()),
                "meaning": round(float(np.nan_to_num(fusion.meaning[page])), 4),
                "meaning_rank": 1 + int((fusion.meaning[wanted] > fusion.meaning[page]).sum()),
                "weight_of_words": round(fusion.weight, 2),
            }
        yield replace(hit, why=why)


def _distinct(hits: Iterator[Hit], db: sqlite3.Connection) -> Iterator[Hit]:
    """Yield the hits without those that say the same as a better one; that one names them."""
    kept: list[tuple[frozenset[str], Hit, list[Record]]] = []
    for hit in islice(hits, CANDIDATES // 4):
        said = frozenset(terms(read_span(db, hit.record.number, hit.chunk.start, hit.chunk.end)))
        twin = next((twins for other, _, twins in kept if _alike(said, other)), None)
        if twin is None:
            kept.append((said, hit, []))
        else:
            twin.append(hit.record)
    yield from (replace(hit, also=tuple(twins)) for _, hit, twins in kept)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * max(1, len(one | other))


def _phrases(text: str) -> list[str]:
    """Return what a query puts in quotes to insist on it; in a long text, quotes only quote."""
    return _PHRASE.findall(text) if len(text.split()) <= LONG else []


def _take(hits: Iterator[Hit], phrases: Sequence[str], db: sqlite3.Connection, limit: int) -> Iterator[Hit]:
    """Yield the first hits; with quoted phrases, only those that hold every one of them."""
    wanted = [_plain(phrase) for phrase in phrases if phrase.strip()]
    looked = 0
    for hit in hits:
        if limit <= 0 or looked >= CANDIDATES:
            return
        if wanted:
            looked += 1
            text = _plain(f"{hit.record.title}\n{read_span(db, hit.record.number)}")
            if not all(phrase in text for phrase in wanted):
                continue
        yield hit
        limit -= 1


def _plain(text: str) -> str:
    return " ".join(fold(text).lower().split())


def _show(db: sqlite3.Connection, number: int, chunk: Chunk, shown: set[str]) -> str:
    return excerpt(read_span(db, number, chunk.start, chunk.end), shown)
