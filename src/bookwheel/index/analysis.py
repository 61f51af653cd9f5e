"""Turn text into the terms that search compares.

Case and diacritics are folded, words stemmed, in English by default, and its stop words left out. An identifier
(`max_open_books`, `setGearRatio`, `E-1042`, `2.4.1`, `notes/todo.md`) gives itself whole and its
parts. Text written without spaces (Chinese, Japanese, Korean, Thai) gives single characters and pairs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import Stemmer

ENGLISH = "english"
LONGEST = 64  # characters: longer runs are data, not words

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few
    for from further had hadn't has hasn't have haven't having he her here hers herself him himself his how i if in
    into is isn't it its itself just let me more most must mustn't my myself no nor not of off on once only or other
    ought our ours ourselves out over own same shan't she should shouldn't so some such than that the their theirs
    them themselves then there these they this those through to too under until up us very was wasn't we were weren't
    what when where which while who whom whose why will with won't would wouldn't you your yours yourself yourselves
    """.replace("'", "").split()
)

_EDGES = ".,;:!?\"'()[]*`"
_SIGNS = (  # vowel signs and the like, which are part of a word though not of what \w takes
    r"\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd"
    r"\u0f71-\u0f84\u1000-\u109f\u1780-\u17d3\u3099\u309a"
)
_WORD = rf"[\w{_SIGNS}]+"
_COMPOUND = re.compile(
    rf"{_WORD}(?:[.\-/:@'’+#]+{_WORD})*(?:\+\+|#)?"
)  # a word, or words joined as identifiers join them
_APOSTROPHE = re.compile(r"['’](?:s\b)?")
_PARTS = re.compile(rf"(?:[^\W_]|[{_SIGNS}])+")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")  # accents, vowel points of Hebrew and Arabic
_SPACELESS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)


class Language:
    """The language that words are stemmed in; one for a whole process."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def stemmer(self) -> Stemmer.Stemmer:
        """What finds the stem of a word, whatever its ending."""
        import Stemmer  # noqa: PLC0415 - the command line answers most questions without it

        return Stemmer.Stemmer(self.name, 0)

    @property
    def stop_words(self) -> frozenset[str]:
        """The words that say nothing; known for English alone."""
        return STOP_WORDS if self.name == ENGLISH else frozenset()

    def speak(self, name: str) -> None:
        """Go over to another language."""
        if name != self.name:
            self.name = name
            self.__dict__.pop("stemmer", None)
            analyse.cache_clear()


SPOKEN = Language(ENGLISH)


def terms(text: str) -> list[str]:
    """Return the terms of *text* in order, stop words left out unless there is nothing else."""
    found = [term for raw in text.split() for term in analyse(raw)]
    return found or [term for raw in text.split() for term in analyse(raw, stops=False)]


def analyse_all(raws: Collection[str]) -> list[Sequence[str]]:
    """Return the terms of every run of characters, as `analyse` does, for many at once."""
    plain = [_plain(raw) for raw in raws]
    stopped = SPOKEN.stop_words
    stems = iter(SPOKEN.stemmer.stemWords([word for word in plain if word and word not in stopped]))
    return [
        (() if word in stopped else (next(stems),)) if word else _run_terms(raw, stops=True)
        for raw, word in zip(raws, plain, strict=True)
    ]


@lru_cache(maxsize=50_000)
def analyse(raw: str, stops: bool = True) -> Sequence[str]:
    """Return the terms of one run of characters without white space."""
    word = _plain(raw)
    return _word_terms(word, stops) if word else _run_terms(raw, stops)


def _plain(raw: str) -> str:
    """Return the word that a run is but for marks at its ends, in lower case; nothing for an unusual run."""
    bare = raw.strip(_EDGES)
    if bare.isascii() and bare.isalpha() and (bare[1:].islower() or bare.isupper()) and len(bare) <= LONGEST:
        return bare.lower()
    return ""


def _run_terms(raw: str, stops: bool) -> Sequence[str]:
    text = fold(raw)
    found: list[str] = []
    for word in _COMPOUND.findall(text):
        found += _compound_terms(_APOSTROPHE.sub("", word) if "'" in word or "’" in word else word, stops)
    return found


def fold(text: str) -> str:
    """Return *text* without diacritics and in its plain forms; case is kept."""
    if text.isascii():
        return text
    parted = unicodedata.normalize("NFKD", text).replace("ß", "ss")
    return unicodedata.normalize("NFC", _MARKS.sub("", parted))


def _compound_terms(word: str, stops: bool) -> Iterable[str]:
    if not word.isascii() and _SPACELESS.search(word):
        return _spaceless_terms(word, stops)
    if not word:
        return []
    if word.isalnum() and (word.islower() or word.isdigit()):
        return _word_terms(word, stops)
    parts = [part for run in _PARTS.findall(word) for part in (_CASE.split(run) if run != run.lower() else (run,))]
    if len(parts) == 1 and len(parts[0]) == len(word):
        return _word_terms(word, stops)
    whole = [word.lower()] if len(word) <= LONGEST else []
    return whole + [term for part in parts for term in _word_terms(part, stops)]


def _word_terms(word: str, stops: bool) -> list[str]:
    lower = word.lower()
    return [] if len(lower) > LONGEST or (stops and lower in SPOKEN.stop_words) else [stem(lower)]


def _spaceless_terms(word: str, stops: bool) -> list[str]:
    found: list[str] = []
    end = 0
    for match in _SPACELESS.finditer(word):
        found += _compound_terms(word[end : match.start()], stops)
        run, end = match[0], match.end()
        found += [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
    return [*found, *_compound_terms(word[end:], stops)]


def stem(word: str) -> str:
    """Return the stem of a lower-case word; numbers and codes are left alone."""
    return str(SPOKEN.stemmer.stemWord(word)) if word.isalpha() else word
