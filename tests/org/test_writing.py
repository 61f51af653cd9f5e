"""What a write leaves is what Org leaves."""

from __future__ import annotations

import json

import pytest
from operations import CASES, Operation, operations, perform

GOLDEN: dict[str, tuple[int, int, str]] = json.loads((CASES / "writing.json").read_text())


def test_every_operation_has_an_answer() -> None:
    assert [operation.name for operation in operations()] == list(GOLDEN)


@pytest.mark.parametrize("operation", list(operations()), ids=lambda operation: operation.name)
def test_a_write_leaves_what_org_leaves(operation: Operation) -> None:
    source = (CASES / operation.file).read_bytes().decode()

    after = perform(operation, source).source

    start, end, text = GOLDEN[operation.name]
    assert after == source[:start] + text + source[end:]
