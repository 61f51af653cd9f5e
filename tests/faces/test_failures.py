"""Whatever goes wrong, a face says it in its contract's own shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bookwheel import errors
from bookwheel.catalog import Catalog
from bookwheel.errors import BookwheelError
from bookwheel.faces.composed import Composed
from bookwheel.faces.docs import Docs
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


@pytest.mark.parametrize("name", ["table_of_contents", "search_documents"])
def test_a_bug_is_told_in_the_words_of_the_face_it_is_in(tmp_path: Path, name: str) -> None:
    catalog = Catalog(tmp_path)
    docs, sections = Docs(catalog), Sections(catalog)

    answer = Composed([docs, sections]).mishap(name, {"filename": "a.md"})

    owner = sections if name == "table_of_contents" else docs
    assert answer == owner.mishap(name, {"filename": "a.md"})
    assert answer.error
    assert "the server's log says why" in answer.text
