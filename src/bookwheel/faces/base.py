"""What every face is made of: tools, resources, answers, and the check of a caller's arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from bookwheel import budget
from bookwheel.errors import BookwheelError, Invalid, NotFound
from bookwheel.model import Progress, Record
from bookwheel.prompts import Prompt

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Arguments = Mapping[str, Any]
MOST_SKIPPED = 20  # files that could not be read, named in an answer
BUDGET = {
    "type": "integer",
    "minimum": 1,
    "description": "Keep the answer to about so many tokens; what is left out is named with its size",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: text for a model, the same as data for a program, and notes beside them."""

    text: str
    data: Mapping[str, object] | None = None
    error: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resource:
    """Something a client can list and read."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Content:
    """What reading a resource gives."""

    uri: str
    mime_type: str
    text: str


@dataclass(frozen=True, slots=True)
class Template:
    """A family of resources, named by a URI with gaps."""

    uri: str
    name: str
    description: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class Gap:
    """What a client wants completed: an argument of a prompt, or a variable of a template."""

    owner: str  # name of the prompt, or URI of the template
    name: str
    begun: str  # what is there so far
    others: Mapping[str, str] = field(default_factory=dict)  # values that are settled


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a long list, and where the next part begins (empty at the end)."""

    resources: tuple[Resource, ...]
    following: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call under way: how to say how far it is, and whether it is still wanted."""

    report: Callable[[int, int], None] = lambda _done, _total: None
    halt: Event = field(default_factory=Event)


CALL: ContextVar[Call] = ContextVar("call", default=Call())  # noqa: B039 - of those that nobody waits for


@dataclass(frozen=True)
class Tool:
    """Something a client can call."""

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[[Arguments], Answer]
    output: Mapping[str, Any] | None = None  # schema of the answer's data
    writes: bool = False
    destroys: bool = False  # it can change or remove what is there
    repeatable: bool = True  # calling it again with the same arguments changes nothing more

    @cached_property
    def validator(self) -> Validator:
        """The compiled schema, made at the first call."""
        from jsonschema import Draft202012Validator  # noqa: PLC0415 - listing tools does not need it

        return Draft202012Validator(self.schema)

    def check(self, arguments: Arguments) -> Arguments:
        """Return the arguments with the defaults filled in; raises Invalid if they break the schema."""
        fault = next(iter(sorted(self.validator.iter_errors(arguments), key=lambda one: list(one.path))), None)
        if fault:
            where = ".".join(str(part) for part in fault.path)
            raise Invalid(f"{self.name}: {where + ': ' if where else ''}{fault.message}", argument=where)
        properties: Mapping[str, Any] = self.schema.get("properties", {})
        defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
        numbers = {name for name, one in properties.items() if one.get("type") == "integer"}
        whole = {name: int(arguments[name]) for name in numbers & arguments.keys()}  # 3.0 is a whole number to JSON
        return {**defaults, **arguments, **whole}


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool before it belongs to a face, which answers it by one of its methods."""

    name: str
    description: str
    schema: Mapping[str, Any]
    method: str
    output: Mapping[str, Any] | None = None
    writes: bool = False
    destroys: bool = False
    repeatable: bool = True

    def of(self, face: Face) -> Tool:
        """Return the tool of a face."""
        call = getattr(face, self.method)
        return Tool(
            self.name, self.description, self.schema, call, self.output, self.writes, self.destroys, self.repeatable
        )


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the server says it is."""

    name: str
    version: str
    instructions: str = ""


class Face:
    """One contract. A face without resources or prompts shows none."""

    name: ClassVar[str]
    has_resources: bool = False
    has_prompts: bool = False
    completes: bool = False
    changes_tools: bool = False  # they come and go
    identity: Identity
    tools: Sequence[Tool] = ()

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name, whether or not it is shown at the moment."""
        return next((one for one in self.tools if one.name == name), None)

    def call(self, name: str, arguments: Arguments) -> Answer:
        """Run a tool; whatever goes wrong becomes this contract's own error."""
        tool = next((one for one in self.tools if one.name == name), None)
        if tool is None:
            raise NotFound(f"there is no tool {name}; there are: {', '.join(one.name for one in self.tools)}")
        try:
            return tool.call(tool.check(arguments))
        except BookwheelError as error:
            return self.failure(error, arguments)

    def settle(self) -> None:
        """Wait a moment for what decides which tools there are."""

    def forbid_writes(self) -> None:
        """Take away every tool that changes anything."""
        self.tools = [tool for tool in self.tools if not tool.writes]

    def failure(self, error: BookwheelError, arguments: Arguments) -> Answer:
        """Word an error as this contract does."""
        return Answer(f"Error: {error.message}", error=True)

    def mishap(self, name: str, arguments: Arguments) -> Answer:
        """Word a bug of ours that a tool ran into; the log says more."""
        return self.failure(BookwheelError(f"{name} failed, and the server's log says why"), arguments)

    def resources(self, cursor: str) -> Page:
        """Return the resources from *cursor* on; empty for the first."""
        return Page(())

    def read(self, uri: str) -> Sequence[Content]:
        """Return what a resource holds; raises NotFound for an unknown one."""
        raise NotFound(f"Resource not found: {uri}", uri=uri)

    def templates(self) -> Sequence[Template]:
        """Return the families of resources."""
        return ()

    def address(self, record: Record, line: int = 0) -> str:
        """Return the URI of a document, or of its part that a line is in; empty if this face does not show it."""
        return ""

    def prompts(self) -> Sequence[Prompt]:
        """Return the prompts, each by its full name."""
        return ()

    def prompt(self, name: str, values: Mapping[str, str]) -> tuple[Prompt, str]:
        """Return a prompt and its text with the values in place; raises NotFound or Invalid."""
        raise NotFound(f"there is no prompt {name}", name=name)

    def complete(self, gap: Gap) -> Sequence[str]:
        """Return what can stand in a gap, given what is there so far."""
        return ()


@lru_cache(maxsize=4_096)
def encode(path: str) -> str:
    """Return a path as the part of a URI that names it, each segment percent-encoded."""
    return quote(path, safe="/")


def as_json(value: object) -> str:
    """Return a value as the JSON text of an answer."""
    return json.dumps(value, ensure_ascii=False)


def freshness(progress: Progress) -> dict[str, object]:
    """Return how complete the index was, as data."""
    return {
        "indexed": progress.indexed,
        "waiting": progress.waiting,
        "skipped": [{"path": path, "reason": reason} for path, reason in progress.skipped[:MOST_SKIPPED]],
        "embedded": round(progress.embedded, 2),
    }


def notes(progress: Progress) -> tuple[str, ...]:
    """Return what a reader should know of an index that is not complete."""
    said = []
    if progress.waiting:
        said.append(
            f"Still indexing: {progress.share:.0%} of the documents are searchable so far "
            f"({progress.waiting} files waiting). Search again in a moment for the rest."
        )
    if progress.embedded < 1:
        said.append(f"Semantic ranking ready for {int(100 * progress.embedded)} % of the passages.")
    return tuple(said)


def with_budget(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with a budget of tokens beside its other arguments."""
    return {**schema, "properties": {**schema["properties"], "max_tokens": BUDGET}}


def within_budget(rows: Iterable[Mapping[str, object]], most: int | None) -> list[Mapping[str, object]]:
    """Return rows with their content as far as a budget goes, in whole sentences; the rest with its size."""
    if most is None:
        return list(rows)
    shown: list[Mapping[str, object]] = []
    for row in rows:
        whole = str(row["content"])
        text = budget.cut(whole, most) if most > 0 else ""
        most -= budget.count(text)
        left_out = len(whole) - len(text)
        shown.append({**row, "content": text, **({"characters_left_out": left_out} if left_out else {})})
    return shown


def rows_schema(name: str, **others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an answer that is a list of objects, under a name."""
    return object_schema([name], **{name: {"type": "array", "items": {"type": "object"}}}, **others)


def object_schema(required: Iterable[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if names := list(required):
        schema["required"] = names
    return schema
