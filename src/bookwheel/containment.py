"""Whether a name a caller gives stays inside a folder: the one check for every path and URI."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from bookwheel.errors import Invalid, NotFound, OutsideRoots, Unreadable
from bookwheel.model import Stamp

DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)|\\\\")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def contain(root: Path, name: str, encoded: bool = False) -> Path:
    """Return the file *name* means below *root*, under that name.

    It is taken as it is and, if there is no such file, percent-decoded once; the other way round if *encoded*.

    Raises Invalid for an empty name, OutsideRoots for one that leads elsewhere, also through a link, or is
    spelled as if to lead elsewhere, and NotFound if there is no such file.
    """
    if not name:
        raise Invalid("the name is empty; give a path relative to the served folder", filename=name)
    base = root.resolve()
    for spelling in reversed(spellings(name)) if encoded else spellings(name):
        path = locate(base, spelling, name)
        if path is not None:
            return path
    raise NotFound(f"{shown(name)} is not in the served folder", filename=name)


def stamp(path: Path) -> Stamp:
    """Return the size and time of the file, behind a link those of its target.

    Raises NotFound if it is gone, Unreadable if the system does not say.
    """
    try:
        status = path.stat()
        return Stamp.of(status)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"{shown(path.name)} is not there any more", filename=path.name) from error
    except OSError as error:
        raise Unreadable(f"{shown(path.name)} cannot be read", filename=path.name) from error


def spellings(name: str) -> list[str]:
    """Return what *name* can stand for: itself, and itself decoded once."""
    try:
        decoded = unquote(name, errors="strict")
    except UnicodeDecodeError:
        return [name]
    return [name] if decoded == name else [name, decoded]


def locate(base: Path, spelling: str, name: str) -> Path | None:
    """Return the file at exactly this spelling below *base*, None if there is none."""
    outside = OutsideRoots(f"{shown(name)} is not a path inside the served folder", filename=name)
    if strays(spelling):
        raise outside
    path = base / spelling
    there = encodable(spelling) and os.path.isfile(path)  # noqa: PTH113 - a Path's own raises on a long name
    if encodable(spelling) and leads_out(base, path):
        raise outside
    if "\\" in spelling and not there:
        raise outside
    return path if there else None


def strays(spelling: str) -> bool:
    """Return whether the name is spelled as one that leaves its folder, on any system."""
    if spelling.startswith("/") or DRIVE.match(spelling) or CONTROL.search(spelling):
        return True
    return ".." in re.split(r"[\\/]", spelling)


def leads_out(root: Path, path: Path) -> bool:
    """Return whether *path*, its links resolved, lies outside *root*, which has none."""
    return not Path(os.path.realpath(path)).is_relative_to(root)


def objection(name: str) -> str:
    """Return why a file of this name cannot be served; empty if it can.

    These are the names that contain() would refuse.
    """
    if "\\" not in name and name.isprintable():
        return ""
    if not encodable(name):
        return "its name is not valid UTF-8"
    if CONTROL.search(name):
        return "its name has control characters"
    return "its name looks like a path that leads elsewhere" if strays(name) else ""


def encodable(name: str) -> bool:
    """Return whether the name is text, without bytes that could not be decoded."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def shown(name: str) -> str:
    """Return the name as far as a message should show it."""
    return name[:200].encode("utf-8", "backslashreplace").decode("utf-8")
