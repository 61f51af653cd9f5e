"""What is read of every case is what Org reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from operations import CASES

from bookwheel.org.lisp import show
from bookwheel.org.outline import Headline, parse

GOLDEN: dict[str, dict[str, Any]] = json.loads((CASES / "reading.json").read_text())


def described(headline: Headline) -> dict[str, Any]:
    return {
        "line": headline.line_number,
        "level": headline.level,
        "path": list(headline.path),
        "todo": headline.keyword,
        "done": headline.done,
        "priority": headline.priority,
        "commented": headline.commented,
        "own_tags": list(headline.own_tags),
        "tags": sorted(set(headline.tags)),
        "scheduled": headline.scheduled,
        "deadline": headline.deadline,
        "closed": headline.closed,
        "properties": {name: value for name, value in headline.properties.items() if name != "CATEGORY"},
        "owner": headline.value("Owner", inherit=True),
        "place": headline.value("place", inherit=True),
        "category": headline.category,
        "id": headline.id,
    }


@pytest.mark.parametrize("name", GOLDEN)
def test_a_file_is_read_as_org_reads_it(name: str) -> None:
    outline = parse((CASES / name).read_bytes().decode(), name=name)

    golden = GOLDEN[name]
    wanted = [headline | {"tags": sorted(set(headline["tags"]))} for headline in golden["headlines"]]
    assert [described(headline) for headline in outline.headlines] == wanted
    assert list(outline.todo.names) == golden["todo"]
    assert list(outline.todo.done) == golden["done"]
    assert list(outline.preamble.filetags) == golden["filetags"]
    assert show(outline.preamble.tag_alist) == golden["tag_alist"]


@pytest.mark.parametrize("name", GOLDEN)
def test_a_file_that_was_read_is_printed_to_the_byte(name: str) -> None:
    data = (CASES / name).read_bytes()

    assert parse(data.decode()).source().encode() == data
