"""What the conformance suite expects a server to hold, as a face: its tools, resources, prompts and completions.

The names and texts are the suite's. What a face can answer is answered here; for the rest, see `server.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bookwheel.errors import BookwheelError, NotFound
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
    object_schema,
)
from bookwheel.prompts import Argument, Prompt
from bookwheel.templates import parse

TEXT = Content("test://static-text", "text/plain", "This is the content of the static text resource.")
WATCHED = Content("test://watched-resource", "text/plain", "Watched resource content.")
BINARY = "test://static-binary"
FAMILY = Template("test://template/{id}/data", "template", "A resource for every id.", "application/json")
MEMBER = re.compile(r"test://template/([^/]+)/data")
WORDS = ("test", "testing", "text", "paris", "park", "party")

STRING = {"type": "string"}
TAKES_A_HEADER = object_schema(["region"], region={**STRING, "x-mcp-header": "Region"})
EVERY_KEYWORD: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": STRING, "city": STRING}}},
    "properties": {
        "name": STRING,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": STRING,
        "email": STRING,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def prompt(name: str, text: str, *arguments: str) -> Prompt:
    """Return a prompt with arguments that are all required."""
    return Prompt("", name, describe(name), tuple(map(Argument, arguments)), parse(text))


def describe(name: str) -> str:
    """Return a description that says no more than the name."""
    return name.replace("_", " ").capitalize() + "."


PROMPTS = (
    prompt("test_simple_prompt", "This is a simple prompt for testing."),
    prompt("test_prompt_with_arguments", "Prompt with arguments: arg1='{{.arg1}}', arg2='{{.arg2}}'", "arg1", "arg2"),
    prompt("test_prompt_with_embedded_resource", "Please process the embedded resource above.", "resourceUri"),
    prompt("test_prompt_with_image", "Please analyze the image above."),
    prompt("test_input_required_result_prompt", "Please use the context that was asked for."),
)


class Fixtures(Face):
    """The suite's fixtures."""

    name = "conformance"
    has_resources = True
    has_prompts = True
    completes = True
    changes_tools = True
    identity = Identity("conformance", "1")

    def __init__(self, others: Mapping[str, Mapping[str, Any]]) -> None:
        """Show *others* beside its own: tools that the server answers, by name, with the schema of their arguments."""
        self.tools = [
            tool("test_simple_text", lambda _: Answer("This is a simple text response for testing.")),
            tool("test_error_handling", _fail),
            tool("json_schema_2020_12_tool", _repeat, EVERY_KEYWORD),
            tool("test_header", _repeat, TAKES_A_HEADER),
            *(tool(name, _fail, schema) for name, schema in others.items()),
        ]
        self._more_prompts: tuple[Prompt, ...] = ()

    def change_tools(self) -> None:
        """Show one tool more, or the usual ones again."""
        usual = [one for one in self.tools if one.name != "test_more"]
        self.tools = usual if len(usual) < len(self.tools) else [*usual, tool("test_more", _repeat)]

    def change_prompts(self) -> None:
        """Show one prompt more, or the usual ones again."""
        self._more_prompts = () if self._more_prompts else (prompt("test_more", "One more."),)

    def resources(self, cursor: str) -> Page:
        """Return all of them: they fit in one page."""
        shown = ((TEXT.uri, TEXT.mime_type), (WATCHED.uri, WATCHED.mime_type), (BINARY, "image/png"))
        names = [(uri.removeprefix("test://"), uri, mime_type) for uri, mime_type in shown]
        return Page(tuple(Resource(uri, name, name, name, mime_type) for name, uri, mime_type in names))

    def templates(self) -> Sequence[Template]:
        """Return the one family."""
        return [FAMILY]

    def read(self, uri: str) -> Sequence[Content]:
        """Return a text, or the member of the family that the URI names."""
        if found := MEMBER.fullmatch(uri):
            text = json.dumps({"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"})
            return [Content(uri, FAMILY.mime_type, text)]
        return [one for one in (TEXT, WATCHED) if one.uri == uri] or super().read(uri)

    def prompts(self) -> Sequence[Prompt]:
        """Return the prompts as they are now."""
        return (*PROMPTS, *self._more_prompts)

    def prompt(self, name: str, values: Mapping[str, str]) -> tuple[Prompt, str]:
        """Return a prompt and its text."""
        found = next((one for one in self.prompts() if one.name == name), None)
        if found is None:
            raise NotFound(f"there is no prompt {name}", name=name)
        return found, found.render(values)

    def complete(self, gap: Gap) -> Sequence[str]:
        """Return the words that go on as a gap begins."""
        return [word for word in WORDS if word.startswith(gap.begun)]


def tool(name: str, call: Any, schema: Mapping[str, Any] | None = None) -> Tool:
    """Return a tool that takes what the schema says, or nothing."""
    return Tool(name, describe(name), schema or object_schema(), call)


def _fail(arguments: Arguments) -> Answer:
    raise BookwheelError("This tool intentionally returns an error for testing")


def _repeat(arguments: Arguments) -> Answer:
    return Answer(json.dumps(arguments))
