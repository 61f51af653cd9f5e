"""A face that may not write has no tool that does."""

from __future__ import annotations

import pytest

from bookwheel.errors import NotFound
from bookwheel.faces.base import Answer, Face, Tool, object_schema


class Desk(Face):
    name = "desk"

    def __init__(self) -> None:
        self.tools = [
            Tool("look", "Looks.", object_schema(), lambda _: Answer("seen")),
            Tool("write", "Writes.", object_schema(), lambda _: Answer("written"), writes=True),
        ]


def test_every_tool_is_there_unless_writing_is_forbidden() -> None:
    assert Desk().call("write", {}) == Answer("written")


def test_a_tool_that_writes_is_neither_listed_nor_called() -> None:
    desk = Desk()

    desk.forbid_writes()

    assert [tool.name for tool in desk.tools] == ["look"]
    assert desk.call("look", {}) == Answer("seen")
    with pytest.raises(NotFound, match="there is no tool write"):
        desk.call("write", {})
