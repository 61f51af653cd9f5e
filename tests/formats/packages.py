"""Make the insides of Office files by hand, for what no program writes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def package(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip file of these parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def word(body: str, **parts: str) -> bytes:
    """Return a Word document with that body, and other parts of the folder `word` by their names."""
    main = f'<w:document xmlns:w="{NAMESPACE}"><w:body>{body}</w:body></w:document>'
    return package({"word/document.xml": main, **{f"word/{name}.xml": text for name, text in parts.items()}})


def line(text: str, look: str = "") -> str:
    """Return a paragraph of a Word document."""
    return f'<w:p><w:pPr>{look}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'
