"""Pictures and recordings are read where markitdown is installed; here something of its shape stands in for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bookwheel import conversion
from bookwheel.errors import ParseFailed, Unreadable
from bookwheel.formats import supported
from bookwheel.model import Source

STAND_IN = """
from types import SimpleNamespace

class MarkItDown:
    def convert_stream(self, stream, file_extension):
        data = stream.read()
        if data == b"broken":
            raise RuntimeError("no")
        return SimpleNamespace(markdown="" if data == b"blank" else f"{data.decode()} as {file_extension}")
"""


def picture(data: bytes) -> str:
    return conversion.read(Source("l", "/a.png", "a.png"), data).text


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install it, for us and for children that are started from now on."""
    (tmp_path / "markitdown.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(str(tmp_path))
    conversion.POOL.rest()


@pytest.mark.usefixtures("beside")
def test_with_it_pictures_are_read_in_a_child() -> None:
    assert picture(b"A wheel") == "A wheel as .png\n"
    assert "markitdown" not in sys.modules
    with pytest.raises(ParseFailed, match="markitdown found no text in it; describe it in a text file"):
        picture(b"blank")
    with pytest.raises(ParseFailed, match=r"markitdown could not read it \(RuntimeError\)"):
        picture(b"broken")


def test_without_it_they_are_unsupported() -> None:
    conversion.POOL.rest()

    assert not supported(".png")
    with pytest.raises(Unreadable, match="install the extra `markitdown`"):
        picture(b"A wheel")
