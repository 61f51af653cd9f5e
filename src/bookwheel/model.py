"""The values that flow through bookwheel: disk → Document → Chunks → index → Hit → answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from; two equal sources are the same document."""

    library: str
    location: str  # absolute path, URL or label
    path: str  # name inside the library, with forward slashes

    @property
    def suffix(self) -> str:
        """The file extension in lower case, with its dot."""
        stem, dot, suffix = self.name.rpartition(".")
        return dot + suffix.lower() if stem and suffix else ""

    @property
    def label(self) -> str:
        """The path behind the library."""
        return f"{self.library}/{self.path}"

    @property
    def stem(self) -> str:
        """The base name without its extension."""
        return self.name[: len(self.name) - len(self.suffix)]

    @property
    def name(self) -> str:
        """The base name."""
        return self.path.rpartition("/")[2]


INGESTED = "ingested:"  # what the scope of a library that is no folder begins with


@dataclass(frozen=True, slots=True)
class Library:
    """A named collection of documents; its scope says which one, whatever its name."""

    number: int
    name: str
    scope: str
    root: str
    document_count: int = 0
    chunk_count: int = 0

    @property
    def ingested(self) -> bool:
        """Whether it holds what was taken in, and is no folder."""
        return self.scope.startswith(INGESTED)

    @property
    def own_name(self) -> str:
        """The name it was given, if it is no folder; the store may have had to change it."""
        return self.scope.removeprefix(INGESTED)


FIXED = 0  # when a document was modified that no file stands for: it stays as it was taken in


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says of a file: equal stamps mean it is not worth opening."""

    size: int
    modified: int  # nanoseconds since the epoch, by the file's own time or by when the system last touched it

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Return the stamp of a file from what the system says of it."""
        return cls(status.st_size, max(status.st_mtime_ns, status.st_ctime_ns))


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and all below it, as a span of the document's text."""

    id: str
    title: str
    level: int
    start: int
    end: int
    line: int  # 1-based, of the heading

    def __len__(self) -> int:
        return self.end - self.start


class Described:
    """What an author said of a document, in its front matter."""

    __slots__ = ()
    metadata: Mapping[str, object]

    def word(self, key: str) -> str:
        """Return the metadata under *key* as text; empty where it is missing or not a single value."""
        value = self.metadata.get(key)
        if value is None or isinstance(value, (list, dict, bool)):
            return ""
        return " ".join(str(value).split())

    def words(self, key: str) -> list[str]:
        """Return the metadata under *key* as a list of texts; a single value counts as a list of one."""
        value = self.metadata.get(key)
        values = value if isinstance(value, list) else [] if value is None else [value]
        return [" ".join(str(one).split()) for one in values if isinstance(one, (str, int, float))]


@dataclass(frozen=True, slots=True)
class Document(Described):
    """A file's text with what was found in it.

    The text is the file's own, to the byte where it is text already, so spans of it are citations.
    """

    source: Source
    text: str
    kind: str  # "markdown", "html", "plain", "org"; "converted" where the text is Markdown made of something else
    metadata: Mapping[str, object] = field(default_factory=dict)  # front matter, keys in lower case
    problem: str = ""  # why the front matter could not be read
    body: int = 0  # where the text begins after byte order mark and front matter
    heading: str = ""  # the first top heading, or what stands for it
    paragraph: str = ""  # the first paragraph's text, white space folded
    sections: tuple[Section, ...] = ()
    pages: tuple[int, ...] = ()  # where each page or slide begins, where the format has them
    titled_by: str = "title"  # what its front matter calls the title

    @property
    def title(self) -> str:
        """The title an author gave it: front matter, then top heading, then file name."""
        return self.word(self.titled_by) or self.heading or self.source.stem


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document small enough to rank and to show; it never crosses a section or a page."""

    start: int
    end: int
    line: int  # 1-based, first
    end_line: int  # 1-based, last
    section: str = ""  # id of the section it is in; empty before the first heading
    headings: tuple[str, ...] = ()  # titles from the top heading down to its own
    page: int = 0  # 1-based where the format has pages, else 0
    place: int = 0  # among the chunks of its document, from 0


@dataclass(frozen=True, slots=True)
class Record(Described):
    """A document as the index knows it: everything but its text."""

    number: int
    doc_id: str
    source: Source
    stamp: Stamp
    digest: str
    kind: str
    title: str
    heading: str
    paragraph: str
    metadata: Mapping[str, object]
    problem: str
    chunk_count: int
    created: str  # ISO 8601
    library: int = 0  # number of the library it is in
    file_type: str = ""  # extension in lower case, or what stands for it
    last_modified: str = ""  # ISO 8601


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for and where."""

    text: str
    libraries: tuple[str, ...] = ()  # none: all
    suffixes: frozenset[str] = frozenset()  # lower case with dot; none: all
    fields: str = "both"  # "title", "content" or "both"
    limit: int = 10
    mode: str = "hybrid"  # "lexical", "vector" or "hybrid"
    weights: Mapping[str, float] | None = None  # what a match counts in "title", "keywords" and "content"
    where: Mapping[str, str | int] = field(default_factory=dict)  # what a hit must be, field by field
    evidence: bool = False  # only what has a word of the query: meaning may re-order, not add
    chunks: bool = False  # several passages of a document may be hits, each for itself
    distinct: bool = False  # near-duplicates are folded into the best of them
    explain: bool = False  # say why each hit has its rank


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that answers a query, with the chunk that does so best."""

    record: Record
    chunk: Chunk
    score: float  # above 0, at most 1
    location: str  # where the words were found: "title", "content" or "both"
    excerpt: str  # one line around the match
    why: Mapping[str, object] = field(default_factory=dict)  # the parts of the score, if they were asked for
    also: tuple[Record, ...] = ()  # near-duplicates that are not shown


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the index is: what the freshness of an answer rests on."""

    indexed: int
    waiting: int
    skipped: tuple[tuple[str, str], ...] = ()  # (path, reason)
    embedded: float = 1.0  # the part of all passages that can be compared by meaning

    @property
    def share(self) -> float:
        """The part of the known files that search covers, from 0 to 1."""
        known = self.indexed + self.waiting
        return self.indexed / known if known else 1.0


@dataclass(frozen=True, slots=True)
class Results:
    """The hits of a query, best first, and how complete the index was."""

    hits: tuple[Hit, ...]
    progress: Progress


@dataclass(frozen=True, slots=True)
class Terms:
    """What may be taken in."""

    most: int = 52_428_800  # bytes of one document
    private: bool = False  # URLs of private networks too
    roots: tuple[Path, ...] = ()  # where files may be from; none: anywhere


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of something that was to be taken in."""

    status: str  # "indexed", "replaced" or "skipped"
    doc_id: str
    source: str
    library: str
    chunk_count: int


def as_time(nanoseconds: int) -> str:
    """Return a moment, in nanoseconds since the epoch, as ISO 8601 with its offset."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat()
