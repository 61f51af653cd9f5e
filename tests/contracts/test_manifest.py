"""Every sentence of the contracts has a test, and every test says which sentences it is for."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = tomllib.loads((HERE / "requirements.toml").read_text("utf-8"))["requirement"]


def written() -> Iterator[ast.FunctionDef]:
    """Yield the tests of the contracts."""
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if path != Path(__file__) and isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield node


def named(test: ast.FunctionDef) -> list[str]:
    """Return the ids a test names."""
    calls = [one for one in test.decorator_list if isinstance(one, ast.Call)]
    marks = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id == "requirement"]
    return [ast.literal_eval(argument) for mark in marks for argument in mark.args]


def test_every_requirement_is_named_by_a_test() -> None:
    proven = {one for test in written() for one in named(test)}

    assert [one["id"] for one in REQUIREMENTS if one["id"] not in proven] == []


def test_every_id_a_test_names_is_a_requirement() -> None:
    known = {one["id"] for one in REQUIREMENTS}

    assert {test.name: set(named(test)) - known for test in written() if set(named(test)) - known} == {}


def test_every_test_names_a_requirement() -> None:
    assert [test.name for test in written() if not named(test)] == []


def test_every_requirement_is_complete_and_there_once() -> None:
    assert [
        one for one in REQUIREMENTS if one.keys() != {"id", "face", "source", "quote"} or not all(one.values())
    ] == []
    assert {one["source"] for one in REQUIREMENTS} == {
        "contracts.md",
        "specs/acdc.md",
        "specs/docs.md",
        "specs/org.md",
        "specs/sections.md",
        "specs/vectordb.md",
    }
    assert [name for name, times in Counter(one["id"] for one in REQUIREMENTS).items() if times > 1] == []
