"""Read notebooks (.ipynb): text, code and what the code printed, in the order of the cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from bookwheel.errors import ParseFailed
from bookwheel.formats.encoding import decode
from bookwheel.formats.made import Made, document
from bookwheel.formats.writing import fence, join
from bookwheel.model import Document, Source

LONGEST = 20_000  # characters of one output: more is a log
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown."""
    return document(source, convert(data), "this notebook has no cells with text")


def convert(data: bytes) -> Made:
    """Return a notebook as Markdown."""
    try:
        notebook = json.loads(decode(data))
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        language = str(notebook.get("metadata", {}).get("kernelspec", {}).get("language") or "python")
        return Made(join(text for one in cells for text in cell(one, language)))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ParseFailed(
            "this is not a Jupyter notebook, or it is damaged: open it in Jupyter and save it anew"
        ) from error


def cell(one: dict[str, Any], language: str) -> Iterator[str]:
    """Yield the text of a cell, and of its outputs."""
    source = text_of(one.get("source", one.get("input", "")))
    kind = one.get("cell_type")
    if kind == "markdown":
        yield source
    elif kind == "heading":  # of the third version of the format
        yield f"{'#' * int(one.get('level', 1))} {source}"
    elif source.strip():
        yield fence(source, language if kind == "code" else "")
    for output in one.get("outputs", ()):
        yield shown(output)


def shown(output: dict[str, Any]) -> str:
    """Return what a cell printed or gave: Markdown as it is, else plain text."""
    data = output.get("data", output)
    if "text/markdown" in data:
        return text_of(data["text/markdown"])
    text = text_of(
        output.get("traceback") or data.get("text/plain") or output.get("text") or "", "\n" * ("traceback" in output)
    )
    plain = _COLOURS.sub("", text)
    cut = plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}\n…"
    return fence(cut, "text") if cut.strip() else ""


def text_of(lines: object, between: str = "") -> str:
    """Return text that is kept as one string or as many."""
    return lines if isinstance(lines, str) else between.join(map(str, lines)) if isinstance(lines, list) else ""
