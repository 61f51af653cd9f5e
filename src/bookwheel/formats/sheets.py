"""Read workbooks (.xlsx, .xls, .xlsb, .ods): a heading a sheet, a table for each block of filled rows."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from bookwheel.errors import ParseFailed, TooLarge
from bookwheel.formats.made import Made, document
from bookwheel.formats.package import Package, damaged
from bookwheel.formats.writing import heading, join, literal, table
from bookwheel.model import Document, Source

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

LARGEST = 20_000_000  # characters
WHAT = "a workbook"

Row = Sequence[str]


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown."""
    return document(source, convert(data), "every sheet of this workbook is empty")


def convert(data: bytes) -> Made:
    """Return a workbook as Markdown."""
    import python_calamine  # noqa: PLC0415 - only where a workbook is read

    if data.startswith(b"PK"):
        Package(data, WHAT)  # for its checks
    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        return Made(join(sheets(workbook)))
    except python_calamine.PasswordError as error:
        raise ParseFailed("this workbook is encrypted: save a copy without a password, and try again") from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise damaged(WHAT) from error


def sheets(workbook: CalamineWorkbook) -> Iterator[str]:
    """Yield the text of each sheet that has any."""
    size = 0
    for name in (one.name for one in workbook.sheets_metadata if "WorkSheet" in str(one.typ)):
        rows = [[shown(value) for value in row] for row in workbook.get_sheet_by_name(name).to_python()]
        blocks = [text for filled, block in groupby(rows, any) if filled and (text := block_of(list(block)))]
        size += sum(map(len, blocks))
        if size > LARGEST:
            raise TooLarge(f"this workbook has more than {LARGEST:,} characters: split it, or export what matters")
        if blocks:
            yield join([heading(2, name), *blocks])


def block_of(rows: Sequence[Row]) -> str:
    """Return rows that stand together: as paragraphs where each has one cell, else as a table."""
    used = [place for place in range(max(map(len, rows))) if any(place < len(row) and row[place] for row in rows)]
    kept = [[row[place] if place < len(row) else "" for place in used] for row in rows]
    if all(sum(map(bool, row)) == 1 for row in kept) and len(used) == 1:
        return join(literal(row[0]) for row in kept)
    return table(kept)


def shown(value: object) -> str:
    """Return a cell as a reader sees it: no .0 behind whole numbers, no midnight behind dates."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ", "seconds")
    return str(value).strip()
