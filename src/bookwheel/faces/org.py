"""The `org` contract: Org files as resources, searches over headlines, and edits that leave what Org leaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bookwheel import VERSION
from bookwheel.errors import BookwheelError, Conflict, Forbidden, Invalid, NotFound, OutsideRoots, Unreadable
from bookwheel.faces.base import (
    Answer,
    Arguments,
    Content,
    Face,
    Gap,
    Identity,
    Page,
    Resource,
    Template,
    Tool,
    as_json,
    encode,
)
from bookwheel.faces.org_tools import MOST, TOOLS
from bookwheel.model import Record
from bookwheel.org import (
    Criteria,
    Edited,
    Headline,
    Keywords,
    Outline,
    StateMismatch,
    address,
    parse,
    read_span,
    remove_deadline,
    schedule,
    select,
    set_deadline,
    set_todo,
    show,
    todo_of,
    unschedule,
)
from bookwheel.outlines import OrgFile, Outlines, Place

SCHEME = "org://"
CONFIG = SCHEME + "config/todo-states"
MIME_TYPE, DATA = "text/org", "application/json"
AROUND = 80  # characters of context on each side of a match
TEMPLATES = (
    Template(SCHEME + "{filename}", "Org file", "Raw org file content", MIME_TYPE),
    Template(SCHEME + "{filename}/outline", "Org outline", "Document structure/hierarchy", DATA),
    Template(SCHEME + "{filename}/headline/{+path}", "Org headline", "Specific headline content", MIME_TYPE),
    Template(SCHEME + "id/{uuid}", "Org headline by ID", "Headline content by its ID property", MIME_TYPE),
)
CODES: Sequence[tuple[type[BookwheelError], str]] = (
    (StateMismatch, "State mismatch"),
    (Conflict, "Conflict"),
    (NotFound, "Not found"),
    (Forbidden, "Access denied"),
    (Unreadable, "Cannot read file"),
    (Invalid, "Invalid argument"),
    (BookwheelError, "Internal error"),
)
TAG_VARIABLES = {
    "org-use-tag-inheritance": "use_tag_inheritance",
    "org-tags-exclude-from-inheritance": "tags_exclude_from_inheritance",
    "org-tags-sort-function": "tags_sort_function",
    "org-tag-alist": "tag_alist",
    "org-tag-persistent-alist": "tag_persistent_alist",
}


class Org(Face):
    """Org files without Emacs."""

    name = "org"
    has_resources = True

    def __init__(self, outlines: Outlines, locks: Path, alone: bool = True) -> None:
        self._outlines = outlines
        self._locks = locks
        self._alone = alone
        self.identity = Identity("org-mcp", VERSION)
        self._all = [tool.of(self) for tool in TOOLS]

    @property
    def tools(self) -> Sequence[Tool]:  # type: ignore[override]  # they come and go with the files
        """The tools; beside other faces only where there is an Org file."""
        return self._all if self._alone or self._outlines.present else ()

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name; the index is not asked whether it is shown."""
        return next((one for one in self._all if one.name == name), None)

    def settle(self) -> None:
        """Wait a moment for the first look at the folders: it tells whether there is an Org file."""
        self._outlines.settle()

    def forbid_writes(self) -> None:
        """Take away every tool that changes anything."""
        self._all = [tool for tool in self._all if not tool.writes]

    def failure(self, error: BookwheelError, arguments: Arguments) -> Answer:
        """Word an error as the contract's object."""
        fault: dict[str, object] = {
            "error": next(code for kind, code in CODES if isinstance(error, kind)),
            "message": error.message,
        }
        if isinstance(error, StateMismatch):
            fault |= {"actualState": error.details["actual"], "expectedState": error.details["expected"]}
        if known := error.details.get("known"):
            fault["known"] = known
        return Answer(as_json(fault), fault, error=True)

    # resources

    def resources(self, cursor: str) -> Page:
        """Return every file and its outline, and the configuration."""
        found = [resource for file in self._outlines.files() for resource in _resources(file)]
        if not found and not self._alone:
            return Page(())
        return Page((*found, Resource(CONFIG, "todo-states", "TODO states", "TODO keyword configuration", DATA)))

    def templates(self) -> Sequence[Template]:
        """Return the families of resources; beside other faces only where there is an Org file."""
        return TEMPLATES if self._alone or self._outlines.present else ()

    def read(self, uri: str) -> Sequence[Content]:
        """Return a file, an outline, a headline's tree, or the configuration."""
        if unquote(uri) == CONFIG:
            return [Content(uri, DATA, as_json(todo_config(self._keywords)))]
        try:
            file, kind, inner = self._parts(uri)
            outline = self._outlines.open(file)
            if kind == "outline":
                return [Content(uri, DATA, as_json({"headings": _headings(outline.top)}))]
            if kind == "file":
                return [Content(uri, MIME_TYPE, outline.source())]
            return [Content(uri, MIME_TYPE, inner.find(outline).source)]
        except (NotFound, Forbidden, Invalid) as error:
            raise NotFound(f"Resource not found: {uri}", uri=uri) from error

    def address(self, record: Record, line: int = 0) -> str:
        """Return the URI of an Org file, or of the headline that a line is in."""
        if record.source.suffix not in {".org", ".org_archive"}:
            return ""
        try:
            file = self._outlines.known(record)
            headline = self._outlines.open(file).at_line(line) if line else None
        except BookwheelError:
            return ""
        return headline_uri(file, headline) if headline else SCHEME + encode(file.name)

    def complete(self, gap: Gap) -> Sequence[str]:
        """Return the files, and the headlines of one, that begin as a gap does."""
        if gap.name == "filename" and gap.owner.startswith(SCHEME):
            return [file.name for file in self._outlines.files() if file.name.startswith(gap.begun)]
        if gap.name == "path" and gap.owner.startswith(SCHEME) and gap.others.get("filename"):
            outline = self._outlines.open(self._outlines.file(gap.others["filename"]))
            return [found for one in outline.headlines if (found := address(one)).startswith(gap.begun)]
        return ()

    # addresses

    def _parts(self, uri: str) -> tuple[OrgFile, str, Place]:
        """Return the file a URI is in, what of it is meant, and where that is if it is a headline."""
        scheme, _, rest = uri.partition("://")
        if scheme == "org-id":
            return self._identified(unquote(rest))
        if scheme not in {"org", "org-headline", "org-outline"}:
            raise NotFound(f"{uri} is no URI of an Org file", uri=uri)
        if scheme == "org" and rest.startswith("id/"):
            with suppress(NotFound):  # a folder may be called id: what is in it is met by whoever lists files
                return self._identified(unquote(rest.removeprefix("id/")))
        for name, kind, inner in _splits(scheme, rest):
            with suppress(NotFound, OutsideRoots):  # where the title of a headline was taken for part of a path
                file = self._outlines.file(name, encoded=True)
                return file, kind, Place(file, inner)
        raise NotFound(f"{uri} names nothing in the Org files that are served here", uri=uri)

    def _identified(self, identity: str) -> tuple[OrgFile, str, Place]:
        file, headline = self._outlines.by_id(identity)
        return file, "headline", Place(file, address(headline), identity)

    def _headline(self, uri: str) -> tuple[Place, Headline]:
        file, kind, place = self._parts(uri)
        if kind != "headline":
            raise Invalid(f"{uri} is no headline; give the URI of one", uri=uri)
        return place, place.find(self._outlines.open(file))

    def state(self, uri: str) -> str:
        """Return the TODO state of a headline; empty for none."""
        return self._headline(uri)[1].keyword or ""

    # searches

    def _search_headlines(self, arguments: Arguments) -> Answer:
        criteria = Criteria(
            arguments["query"],
            exact_case=arguments["caseSensitive"],
            tags=frozenset(arguments.get("tags") or ()),
            without_tags=frozenset(arguments.get("excludeTags") or ()),
        )
        return _rows(self._select(arguments, criteria))

    def _get_todos(self, arguments: Arguments) -> Answer:
        planned = {
            kind: read_span(given.get("from"), given.get("to"))
            for kind, given in (("SCHEDULED", arguments.get("scheduled")), ("DEADLINE", arguments.get("deadline")))
            if given is not None
        }
        criteria = Criteria(
            todo=True,
            states=frozenset(arguments.get("states") or ()),
            tags=frozenset(arguments.get("tags") or ()),
            planned=planned,  # type: ignore[arg-type]  # its keys are the two kinds
            archived=arguments["includeArchived"],
        )
        return _rows(self._select(arguments, criteria))

    def _select(self, arguments: Arguments, criteria: Criteria) -> Iterator[dict[str, object]]:
        for file, outline in self._outlines.all(arguments.get("files") or ()):
            yield from (headline_data(file, headline) for headline in select(outline, criteria))

    def _search_content(self, arguments: Arguments) -> Answer:
        query = arguments["query"].strip()
        if not query:
            raise Invalid("query is empty; give the text to look for", argument="query")
        most = int(arguments.get("maxResults", MOST))
        found: list[dict[str, object]] = []
        for file, outline in self._outlines.all(arguments.get("files") or ()):
            for match in _matches(file, outline, query, arguments["includeArchived"]):
                if len(found) >= most:
                    return _rows(found)
                found.append(match)
        return _rows(found)

    # one headline

    def _get_properties(self, arguments: Arguments) -> Answer:
        _, headline = self._headline(arguments["resourceUri"])
        found = dict(headline.properties)
        wanted = arguments.get("properties")
        if wanted is None:
            return _answer(found)
        by_name = {name.upper(): value for name, value in found.items()}
        return _answer({name: by_name[name.upper()] for name in wanted if name.upper() in by_name})

    def _update_todo_state(self, arguments: Arguments) -> Answer:
        place, _ = self._headline(arguments["resourceUri"])

        def change(headline: Headline) -> Edited:
            return set_todo(
                headline,
                arguments["newState"],
                datetime.now(),
                expected=arguments["currentState"],
                note=arguments.get("note"),
            )

        done = self._outlines.edit(place, [change], self._locks)
        return _answer({"success": True, "previousState": done.previous, "newState": done.state})

    def _schedule_task(self, arguments: Arguments) -> Answer:
        place, _ = self._headline(arguments["resourceUri"])
        done = self._outlines.edit(place, _steps(arguments), self._locks)
        data = headline_data(place.file, self._outlines.open(place.file).headlines[done.number])
        names = ("scheduled", "deadline", "scheduledDate", "deadlineDate", "resourceUri")
        return _answer({"success": True, **{name: data.get(name) for name in names}})

    # configuration

    @property
    def _keywords(self) -> Keywords:
        return parse("", self._outlines.settings).todo

    def _get_todo_config(self, arguments: Arguments) -> Answer:
        return _answer(todo_config(self._keywords))

    def _get_tag_config(self, arguments: Arguments) -> Answer:
        settings = self._outlines.settings
        return _answer({name: show(getattr(settings, field)) for name, field in TAG_VARIABLES.items()})


def _splits(scheme: str, rest: str) -> Iterator[tuple[str, str, str]]:
    """Yield the ways to part a URI into a file's name, what of it is meant, and a headline's address."""
    if scheme == "org-outline":
        yield rest, "outline", ""
    elif scheme == "org-headline":
        for mark in ("#", "/"):
            for cut in (match.start() for match in re.finditer(mark, rest)):
                if rest[:cut].endswith((".org", ".org_archive")):
                    yield rest[:cut], "headline", rest[cut + 1 :]
    else:
        yield rest, "file", ""
        for end in (match.end() for match in re.finditer(r"\.org(?:_archive)?(?=/)", rest)):
            inner = rest[end + 1 :]
            if inner == "outline":
                yield rest[:end], "outline", ""
            elif inner.startswith("headline/"):
                yield rest[:end], "headline", inner.removeprefix("headline/")


def headline_uri(file: OrgFile, headline: Headline) -> str:
    """Return the URI of a headline by its path."""
    return f"{SCHEME}{encode(file.name)}/headline/{address(headline)}"


def headline_data(file: OrgFile, headline: Headline) -> dict[str, object]:
    """Return a headline as the contract's object."""
    data: dict[str, object] = {
        "heading": headline.title,
        "todo": todo_data(headline),
        "priority": headline.priority,
        "tags": list(headline.tags),
        "scheduled": headline.scheduled,
        "deadline": headline.deadline,
        "resourceUri": headline_uri(file, headline),
        "file": file.name,
        "level": headline.level,
    }
    for kind, name in (("SCHEDULED", "scheduledDate"), ("DEADLINE", "deadlineDate")):
        if stamp := headline.timestamp(kind):  # type: ignore[arg-type]  # one of the two kinds
            data[name] = stamp.date.isoformat()
    if headline.id:
        data |= {"orgId": headline.id, "idUri": f"{SCHEME}id/{headline.id}"}
    return data


def todo_data(headline: Headline) -> dict[str, object] | None:
    """Return a headline's state as the contract's object; None if it has none."""
    todo = todo_of(headline)
    if todo is None:
        return None
    return {
        "state": todo.state,
        "type": "done" if todo.done else "todo",
        "isFinal": todo.done,
        "sequenceType": todo.kind,
    }


def todo_config(keywords: Keywords) -> dict[str, object]:
    """Return the keywords as the contract's object."""
    return {
        "sequences": [{"type": one.kind, "keywords": list(one.shown)} for one in keywords.sequences],
        "semantics": [
            {"state": name, "isFinal": name in one.done, "sequenceType": one.kind}
            for one in keywords.sequences
            for name in one.names
        ],
    }


def _resources(file: OrgFile) -> list[Resource]:
    uri = SCHEME + encode(file.name)
    base = file.path.name
    return [
        Resource(uri, base, base, f"Org file {file.name}", MIME_TYPE),
        Resource(f"{uri}/outline", f"{base} outline", f"{base}: outline", f"Headlines of {file.name}", DATA),
    ]


def _headings(headlines: Sequence[Headline]) -> list[dict[str, object]]:
    return [{"title": one.title, "level": one.level, "children": _headings(one.children)} for one in headlines]


def _matches(file: OrgFile, outline: Outline, query: str, archived: bool) -> Iterator[dict[str, object]]:
    """Yield where the text of a query stands, each with its line and its headline; one match for each line."""
    text = outline.text
    last = -1
    for match in re.finditer(re.escape(query), text, re.IGNORECASE):
        start = text.rfind("\n", 0, match.start()) + 1
        if start == last:
            continue
        last = start
        headline = outline.at(match.start())
        if headline and not archived and (headline.archived or headline.commented):
            continue
        end = text.find("\n", match.end())
        yield {
            "file": file.name,
            "line": text.count("\n", 0, start) + 1,
            "match": text[start : end if end >= 0 else len(text)].strip(),
            "context": _context(text, match.start(), match.end()),
            **(headline_data(file, headline) if headline else {"resourceUri": SCHEME + encode(file.name)}),
        }


def _context(text: str, start: int, end: int) -> str:
    return " ".join(text[max(0, start - AROUND) : end + AROUND].split())


def _steps(arguments: Arguments) -> list[Callable[[Headline], Edited]]:
    """Return the edits that a call of org-schedule-task asks for; raises Invalid if they contradict each other."""
    now, note = datetime.now(), arguments.get("note")
    steps: list[Callable[[Headline], Edited]] = []
    for name, take, remove, put, drop in (
        ("scheduled", arguments.get("scheduled"), arguments["removeScheduled"], schedule, unschedule),
        ("deadline", arguments.get("deadline"), arguments["removeDeadline"], set_deadline, remove_deadline),
    ):
        if take is not None and remove:
            raise Invalid(f"{name} cannot be set and removed at once; give one of them", argument=name)
        if take is not None:
            steps.append(lambda headline, put=put, take=take: put(headline, take, now, note=note))  # type: ignore[misc]
        elif remove:
            steps.append(lambda headline, drop=drop: drop(headline, now, note=note))  # type: ignore[misc]
    if not steps:
        raise Invalid("nothing to do; give scheduled, deadline, removeScheduled or removeDeadline")
    return steps


def _answer(data: Mapping[str, object]) -> Answer:
    return Answer(as_json(data), data)


def _rows(rows: Any) -> Answer:
    found = list(rows)
    return Answer(as_json(found), {"result": found})
