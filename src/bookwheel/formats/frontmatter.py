"""Split the front matter from a text: YAML between a first line of --- and the next.

Whatever is in it, reading it ends soon and never fails: what is wrong is returned as a sentence.
Only --- closes it. YAML would allow ... too, but so does prose below a rule, and few tools read it.
A first --- above a blank line and text is a rule, not front matter: what follows is prose, up to the next rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from bookwheel.formats.lines import skip_mark

LARGEST = 65_536  # characters
DEEPEST = 50  # levels: the C loader crashes on thousands

_OPEN = re.compile(r"---[ \t]*+(?:\r\n|\n|\r)(?![ \t]*+[\r\n]\s*+(?!---))")
_RISK = re.compile(r"[&*]|---|\.\.\.")  # without one there is no anchor, alias or second document
_NEST = re.compile(r"[-?:\[{]")  # no list or mapping begins without one of its own
_LINE = r"""([A-Za-z][A-Za-z_-]{0,63}): (?:"([ !#-\[\]-~]*)"|([A-Za-z](?:[A-Za-z0-9 ,.()/_-]*[A-Za-z0-9.)])?))\n"""
_PAIR, _PAIRS = re.compile(_LINE), re.compile(f"(?:{_LINE})++")  # a word and an ASCII text, quoted or not
_KEYWORDS = {"null", "true", "false", "yes", "no", "on", "off"}  # no texts to YAML, in some spellings
_CLOSE = re.compile(r"(?:(?<=\n)|(?<=\r))---[ \t]*(?:\r\n|\n|\r|\Z)")


class Refused(Exception):
    """The front matter is more than we are willing to load."""


def split(text: str) -> tuple[dict[str, object], int, str]:
    """Return the metadata, its keys in lower case, where the body begins, and what is wrong with the front matter."""
    start = skip_mark(text)
    opened = _OPEN.match(text, start)
    closed = opened and _CLOSE.search(text, opened.end())
    if not opened or not closed:
        return {}, start, ""
    try:
        return load(text[opened.end() : closed.start()]), closed.end(), ""
    except Exception as error:  # noqa: BLE001 - YAML's constructors raise whatever int(), date() and others do
        return {}, closed.end(), explain(error)


def load(block: str) -> dict[str, object]:
    """Return the mapping in *block* as values JSON can hold. Raises Refused or one of YAML's errors."""
    if len(block) > LARGEST:
        raise Refused(f"is longer than {LARGEST // 1024} KiB")
    found = pairs(block) or parse(block)
    if not isinstance(found, dict | None):
        raise Refused("is not a list of names with values")
    return {str(key).lower(): simplify(value) for key, value in (found or {}).items()}


def pairs(block: str) -> dict[str, str]:
    """Return what YAML would where *block* is nothing but words with texts; empty where the two might differ."""
    if not _PAIRS.fullmatch(block):
        return {}
    found = {key: quoted or bare for key, quoted, bare in _PAIR.findall(block)}
    return {} if any(word.lower() in _KEYWORDS for pair in found.items() for word in pair) else found


def parse(block: str) -> object:
    """Return what YAML finds in *block*. Raises Refused or one of its errors."""
    import yaml  # noqa: PLC0415 - a slow import for a file that has none

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if _RISK.search(block) or len(_NEST.findall(block)) > DEEPEST:  # else it is safe, and parsed once only
        guard(yaml.parse(block, Loader=loader))
    return yaml.load(block, Loader=loader)  # noqa: S506 - both loaders are the safe ones


def guard(events: Any) -> None:
    """Raise Refused where *events* go too deep or refer to each other."""
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if depth > DEEPEST + 2:  # the stream and the document count too
            raise Refused(f"is nested more than {DEEPEST} levels deep")
        if getattr(event, "anchor", None):
            raise Refused(f"uses an anchor or alias at line {event.start_mark.line + 2}, which is not supported")


def simplify(value: object) -> object:
    """Return *value* as JSON can hold it: dates as ISO text, sets and tuples as lists."""
    if isinstance(value, Mapping):
        return {str(key): simplify(one) for key, one in value.items()}
    if isinstance(value, set):
        return [simplify(one) for one in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return [simplify(one) for one in value]
    return scalar(value)


def scalar(value: object) -> object:
    """Return a single *value* as JSON can hold it."""
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - NaN
        return str(value)
    return hex(value) if isinstance(value, int) and value.bit_length() > 64 else value


def explain(error: Exception) -> str:
    """Return a sentence that says what is wrong with the front matter, and where if that is known."""
    if isinstance(error, Refused):
        return f"the front matter {error}"
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    where = f" at line {mark.line + 2}" if mark else ""
    return f"the front matter is not valid YAML{where}: {problem or type(error).__name__}"
