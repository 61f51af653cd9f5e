"""Whatever goes wrong, a face says it in its contract's own shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bookwheel import errors
from bookwheel.catalog import Catalog
from bookwheel.errors import BookwheelError
from bookwheel.faces.sections import Sections

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BookwheelError)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_error_has_a_code(tmp_path: Path, kind: type[BookwheelError]) -> None:
    face = Sections(Catalog(tmp_path))

    answer = face.failure(kind("it went wrong"), {"filename": "a.md"})

    fault = json.loads(answer.text)["error"]
    assert answer.error
    assert answer.data == {"error": fault}
    assert fault["code"].isupper()
    assert fault["message"].startswith("it went wrong; ")
    assert fault["details"]["filename"] == "a.md"
