"""What an organisation says of its knowledge base: who the server is, where its sources are, what its tools do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bookwheel.errors import Invalid
from bookwheel.faces.base import Identity
from bookwheel.folders import Folder

KEYS = frozenset({"server", "content", "tools"})  # of a config file that are not options
TOOLS = ("search", "read")
RESOURCES = "mcp-resources"
PROMPTS = "mcp-prompts"

_AWKWARD = re.compile(r"[/\\\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ContentSource:
    """A named place with resources and prompts."""

    name: str
    description: str
    path: Path

    def resources(self, max_file_size: int) -> Folder:
        """Return the folder of its resources."""
        return Folder(
            (self.path / RESOURCES).resolve(),
            self.name,
            include=("*.md",),
            max_file_size=max_file_size,
            hidden=True,
            ignore_files=False,
            required=("name", "description"),
            titled_by="name",
        )

    def prompts(self) -> Folder:
        """Return the folder of its prompts, which need not be there."""
        return Folder(self.path / PROMPTS, self.name, include=("*.md",), hidden=True, ignore_files=False)


@dataclass(frozen=True, slots=True)
class Organisation:
    """A checked config."""

    identity: Identity
    sources: tuple[ContentSource, ...]
    descriptions: Mapping[str, str] = field(default_factory=dict)  # of tools, by their names


class _Reader:
    """Takes a config apart; every complaint names the file and the entry."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fault(self, entry: str, what: str) -> Invalid:
        return Invalid(f"{self.path}: {entry} {what}", entry=entry)

    def text(self, values: Mapping[str, object], key: str, entry: str) -> str:
        value = values.get(key)
        if value is None or value == "":
            raise self.fault(f"{entry}.{key}", "is missing; it must be a text")
        if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
            raise self.fault(f"{entry}.{key}", f"is {value!r}, but it must be a text")
        return str(value)

    def mapping(self, value: object, entry: str) -> Mapping[str, object]:
        if not isinstance(value, dict):
            raise self.fault(entry, "is missing" if value is None else "must be a list of names with values")
        return value

    def entries(self, value: object, entry: str) -> list[object]:
        if not isinstance(value, list) or not value:
            raise self.fault(entry, "must be a list with at least one entry")
        return value


def read_config(content: Mapping[str, object], path: Path) -> Organisation:
    """Return what a config file of that content says; raises Invalid with the entry that is wrong."""
    reader = _Reader(path)
    server = reader.mapping(content.get("server"), "server")
    name, version, instructions = (reader.text(server, key, "server") for key in ("name", "version", "instructions"))
    found = reader.entries(content.get("content"), "content")
    sources = tuple(_source(reader, value, f"content[{place}]") for place, value in enumerate(found))
    for place, source in enumerate(sources):
        if source.name in {one.name for one in sources[:place]}:
            raise reader.fault(f"content[{place}].name", f"is {source.name!r}, which another source has already")
    return Organisation(Identity(name, version, instructions), sources, _descriptions(reader, content.get("tools")))


def _source(reader: _Reader, value: object, entry: str) -> ContentSource:
    values = reader.mapping(value, entry)
    name = reader.text(values, "name", entry)
    if _AWKWARD.search(name):
        raise reader.fault(f"{entry}.name", f"is {name!r}, but a name has no slashes or control characters")
    description = reader.text(values, "description", entry)
    place = (reader.path.parent / Path(reader.text(values, "path", entry)).expanduser()).resolve()
    if not place.is_dir():
        raise reader.fault(f"{entry}.path", f"is {place}, which is no folder (source {name!r})")
    if not (place / RESOURCES).is_dir():
        raise reader.fault(f"{entry}.path", f"is {place}, which has no folder {RESOURCES}/ (source {name!r})")
    return ContentSource(name, description, place)


def _descriptions(reader: _Reader, value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, list):
        raise reader.fault("tools", "must be a list")
    said: dict[str, str] = {}
    for place, one in enumerate(value):
        entry = f"tools[{place}]"
        values = reader.mapping(one, entry)
        name = reader.text(values, "name", entry)
        if name not in TOOLS:
            raise reader.fault(f"{entry}.name", f"is {name!r}, but the tools are: {', '.join(TOOLS)}")
        said[name] = reader.text(values, "description", entry)
    return said
