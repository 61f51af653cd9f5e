"""The `sections` contract: a table of contents first, then only the sections you need."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from bookwheel import VERSION
from bookwheel.catalog import Shelf
from bookwheel.errors import BookwheelError, Forbidden, Invalid, NotFound, ParseFailed, TooLarge, Unreadable
from bookwheel.faces.base import (
    Answer,
    Arguments,
    Face,
    Identity,
    Tool,
    as_json,
    object_schema,
    rows_schema,
    with_budget,
    within_budget,
)
from bookwheel.ignore import Patterns
from bookwheel.model import Document, Record, Section

PREAMBLE = "_preamble"
WHOLE = "_document"
DEFAULTS = Patterns(include=("**/*.md",), exclude=("node_modules/**", "*.tmp.md"))
CONFIG_KEYS = {  # what the contract's config file calls our options
    "documentation_path": "paths",
    "auto_index": "watch",
    "index_refresh_interval": "refresh_interval",
    "max_file_size": "max_file_size",
    "exclude_patterns": "exclude",
    "include_patterns": "include",
}

_FILENAME = {"type": "string", "description": "Path to the markdown file, as list_documentation_files gives it"}
_ID = re.compile(r"[\w-]+(?:/[\w-]+)*")  # vowel signs and the like apart, which \w does not take
_LIST = "list_documentation_files"
_CONTENTS = "table_of_contents"
_READ = "read_sections"
_READ_SCHEMA = object_schema(
    ["filename", "section_ids"],
    filename=_FILENAME,
    section_ids={"type": "array", "items": {"type": "string"}, "description": f"Section ids from {_CONTENTS}"},
)

OUTPUT_SCHEMA = rows_schema("result")


class SectionNotFound(NotFound):
    """The document has no such section."""


class MalformedId(Invalid):
    """What was given cannot be a section id."""


CODES: Sequence[tuple[type[BookwheelError], str, str]] = (
    (SectionNotFound, "SECTION_NOT_FOUND", f"call {_CONTENTS} for the ids there are"),
    (MalformedId, "INVALID_SECTION_ID", f"call {_CONTENTS} for the ids there are"),
    (TooLarge, "FILE_TOO_LARGE", f"call {_LIST} for the files that can be read"),
    (Unreadable, "PARSE_ERROR", f"mend the file, or call {_LIST} for another"),
    (Forbidden, "PERMISSION_DENIED", f"call {_LIST} for the files that can be read"),
    (NotFound, "FILE_NOT_FOUND", f"call {_LIST} for the files there are"),
    (Invalid, "INVALID_ARGUMENT", f"call it again, corrected; {_LIST} names the files there are"),
    (BookwheelError, "INTERNAL_ERROR", f"try again, or call {_LIST} to see what can be read"),
)


class Sections(Face):
    """Three tools: list the files, look at one's table of contents, read some of its sections."""

    name = "sections"

    def __init__(
        self, catalog: Shelf, patterns: Patterns = DEFAULTS, search_path: str = "", alone: bool = True
    ) -> None:
        self._catalog = catalog
        self._patterns = patterns
        self._search_path = search_path
        self.identity = Identity("bookwheel", VERSION)
        self.tools = [
            Tool(
                _LIST,
                "Lists all documentation files with title, description, keywords and size. "
                f"Start here, then call {_CONTENTS} for a file that looks right.",
                object_schema(),
                self._list,
                OUTPUT_SCHEMA,
            ),
            Tool(
                _CONTENTS,
                "Gives the headings of a markdown file as sections with id, title, level and character_count. "
                f"Then call {_READ} with the ids you need.",
                object_schema(["filename"], filename=_FILENAME),
                self._table_of_contents,
                OUTPUT_SCHEMA,
            ),
            Tool(
                _READ,
                "Reads sections of a markdown file by their ids, each with everything below its heading. "
                f"The id {PREAMBLE} gives the text before the first heading, {WHOLE} the whole body.",
                _READ_SCHEMA if alone else with_budget(_READ_SCHEMA),
                self._read_sections,
                OUTPUT_SCHEMA,
            ),
        ]

    def _list(self, arguments: Arguments) -> Answer:
        records = [one for one in self._catalog.records() if self._patterns.select(one.source.path)]
        return _answer([self._file(record) for record in records])

    def _file(self, record: Record) -> dict[str, object]:
        return {
            "filename": self._catalog.name(record.source),
            "title": record.word("title") or record.source.stem,
            "description": record.word("description"),
            "keywords": record.words("keywords"),
            "size": _size(record.stamp.size),
        }

    def _table_of_contents(self, arguments: Arguments) -> Answer:
        document = self._document(arguments["filename"])
        return _answer(
            [
                {"id": one.id, "title": one.title, "level": one.level, "character_count": len(one)}
                for one in document.sections
            ]
        )

    def _read_sections(self, arguments: Arguments) -> Answer:
        ids: list[str] = arguments["section_ids"]
        for one in ids:
            if not _ID.fullmatch("".join(c for c in one if unicodedata.category(c)[0] != "M")):
                raise MalformedId(f"{one!r} is no section id")
        document = self._document(arguments["filename"])
        parts = _parts(document)
        if missing := [one for one in dict.fromkeys(ids) if one not in parts]:
            raise SectionNotFound(f"{arguments['filename']} has no section {', '.join(missing)}", missing=missing)
        rows = [_read(document, parts[one]) for one in ids]
        return _answer(within_budget(rows, arguments.get("max_tokens")))

    def _document(self, filename: str) -> Document:
        document = self._catalog.read(filename)
        if not self._patterns.select(document.source.path):
            raise NotFound(f"{filename} is not in the documentation folder")
        if document.problem:
            raise ParseFailed(f"the front matter of {filename} cannot be read: {document.problem}")
        return document

    def failure(self, error: BookwheelError, arguments: Arguments) -> Answer:
        """Word an error as the contract's object, with the tool that helps next."""
        code, advice = next((code, advice) for kind, code, advice in CODES if isinstance(error, kind))
        if str(error.details.get("argument", "")).startswith("section_ids"):
            code = "INVALID_SECTION_ID"
        filename = arguments.get("filename", "")
        details: dict[str, object] = {"filename": filename if isinstance(filename, str) else str(filename)}
        if code == "FILE_NOT_FOUND" and self._search_path:
            details["search_path"] = self._search_path
        if missing := error.details.get("missing"):
            details["section_ids"] = missing
        fault = {"error": {"code": code, "message": f"{error.message}; {advice}", "details": details}}
        return Answer(as_json(fault), fault, error=True)


def _answer(rows: Sequence[Mapping[str, object]]) -> Answer:
    return Answer(as_json(list(rows)), {"result": list(rows)})


def _size(size: int) -> str:
    return f"{size}b" if size < 1024 else f"{size / 1024:.1f}kb"


def _parts(document: Document) -> dict[str, Section]:
    """Return everything that can be read by an id: the sections, the text before them, the whole body."""
    end = len(document.text)
    first = document.sections[0].start if document.sections else end
    parts = {section.id: section for section in document.sections}
    parts[WHOLE] = Section(WHOLE, document.word("title") or document.source.stem, 0, document.body, end, 1)
    if document.text[document.body : first].strip():
        parts[PREAMBLE] = Section(PREAMBLE, "", 0, document.body, first, 1)
    return parts


def _read(document: Document, section: Section) -> dict[str, str]:
    return {"title": section.title, "content": document.text[section.start : section.end]}
