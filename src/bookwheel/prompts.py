"""Prompts kept as files: front matter says what they are for and what they take, a template what they say."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from bookwheel import formats
from bookwheel.errors import BookwheelError, Invalid, NotFound, ParseFailed
from bookwheel.folders import Folder, Found, scan
from bookwheel.model import Document, Stamp
from bookwheel.templates import Template, parse

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Argument:
    """What a prompt takes."""

    name: str
    description: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text that a client can ask for, filled in."""

    library: str
    name: str
    description: str
    arguments: tuple[Argument, ...]
    template: Template

    def render(self, values: Mapping[str, str]) -> str:
        """Return the text with the values in place; raises Invalid if a required one is missing or empty."""
        missing = [one.name for one in self.arguments if one.required and not values.get(one.name, "").strip()]
        if missing:
            raise Invalid(f"the prompt {self.name} needs a value for: {', '.join(missing)}", missing=missing)
        return self.template.render(values)


class Prompts:
    """The prompts of some folders, read anew when a file changes."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        self.folders = folders
        self._lock = Lock()
        self._seen: dict[str, tuple[Stamp, Prompt | str]] = {}  # by location: the prompt, or why there is none
        self._known: tuple[Prompt, ...] = ()
        self._twins: frozenset[str] = frozenset()  # files whose name another has

    def refresh(self) -> bool:
        """Look at the files again; tell whether any prompt is new, gone or another."""
        with self._lock:
            before, self._known = self._known, self._load()
            return before != self._known

    def all(self) -> tuple[Prompt, ...]:
        """Return the prompts as they are on disk now."""
        self.refresh()
        return self._known

    def get(self, library: str, name: str) -> Prompt:
        """Return one prompt."""
        for prompt in self.all():
            if (prompt.library, prompt.name) == (library, name):
                return prompt
        raise NotFound(f"there is no prompt {name} in {library}")

    def _load(self) -> tuple[Prompt, ...]:
        found = [(folder, one) for folder in self.folders for one in _files(folder)]
        self._seen = {one.source.location: self._look(folder, one) for folder, one in found}
        first: dict[tuple[str, str], Prompt] = {}
        twins: set[str] = set()
        for location, (_, prompt) in self._seen.items():
            if isinstance(prompt, Prompt) and first.setdefault((prompt.library, prompt.name), prompt) is not prompt:
                twins.add(location)
        for location in sorted(twins - self._twins):
            log.warning("the prompt %s is left out: another file of its source has the same name", location)
        self._twins = frozenset(twins)
        return tuple(first.values())

    def _look(self, folder: Folder, found: Found) -> tuple[Stamp, Prompt | str]:
        """Return what is in a file, from memory if it has not changed; warn once of what is wrong with it."""
        known = self._seen.get(found.source.location)
        if known and known[0] == found.stamp:
            return known
        try:
            document = formats.read(found.source, Path(found.source.location).read_bytes())
            return found.stamp, read(folder.library, document)
        except (OSError, BookwheelError) as error:
            reason = error.message if isinstance(error, BookwheelError) else f"it cannot be read: {error.strerror}"
            log.warning("the prompt %s/%s is left out: %s", folder.library, found.source.path, reason)
            return found.stamp, reason


def _files(folder: Folder) -> Iterable[Found]:
    try:
        return [one for one in scan(folder) if isinstance(one, Found)]
    except NotFound:  # the whole location is gone: for now there are none
        return []


def read(library: str, document: Document) -> Prompt:
    """Return the prompt in a document; raises ParseFailed if it is none."""
    if document.problem:
        raise ParseFailed(document.problem)
    name = document.metadata.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ParseFailed("its front matter has no text under `name`; add one")
    arguments = tuple(_arguments(document.metadata.get("arguments")))
    return Prompt(library, name.strip(), document.word("description"), arguments, parse(document.text[document.body :]))


def _arguments(entries: object) -> Iterator[Argument]:
    if entries is None:
        return
    if not isinstance(entries, list):
        raise ParseFailed("its `arguments` are not a list")
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"].strip():
            raise ParseFailed(f"its arguments[{place}] has no text under `name`")
        required = entry.get("required", True)
        if not isinstance(required, bool):
            raise ParseFailed(f"its arguments[{place}].required must be true or false")
        yield Argument(entry["name"].strip(), str(entry.get("description") or ""), required)
