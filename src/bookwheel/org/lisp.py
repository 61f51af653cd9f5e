"""Lisp values as data: `t`, `nil`, `77`, `?w`, `"text"`, `symbol`, `(("work" . ?w))`. Nothing is ever evaluated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from bookwheel.errors import Invalid

DEEPEST = 100  # parentheses within parentheses: no setting has more than a few


class Symbol(str):
    """A name, such as `time`; `t` and `nil` are read as True and None."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """`(first . rest)` where the rest is no list."""

    first: Value
    rest: Value


Value: TypeAlias = "bool | int | str | Pair | tuple[Value, ...] | None"

_TOKEN = re.compile(r"""\s*(?:([()'])|"((?:[^"\\]|\\.)*)"|\?(\\?.)(?=[\s()]|$)|([^\s()'"?;][^\s()'";]*))""", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[0-9]+\.?")
_ESCAPES = {"n": "\n", "t": "\t", "\n": "", " ": "", "s": " "}


def read(text: str) -> Value:
    """Return the one value *text* holds. Raises Invalid if it holds none, or more, or a broken one."""
    value, end = read_value(text, 0, 0)
    if text[end:].strip():
        raise Invalid(f"after the Lisp value there is more: {text[end:].strip()}", value=text)
    return value


def read_value(text: str, start: int, depth: int) -> tuple[Value, int]:
    """Return the value that begins at *start*, and where it ends."""
    token = _TOKEN.match(text, start)
    if not token or token[1] == ")" or depth > DEEPEST:
        raise Invalid(f'not a Lisp value: {text.strip() or "(nothing)"}; write t, nil, 77, "text" or (…)', value=text)
    if token[1] == "(":
        return read_list(text, token.end(), depth + 1)
    if token[1] == "'":
        return read_value(text, token.end(), depth + 1)
    return read_atom(token), token.end()


def read_list(text: str, start: int, depth: int) -> tuple[Value, int]:
    """Return the list whose parenthesis was opened before *start*, and where it ends."""
    found: list[Value] = []
    while token := _TOKEN.match(text, start):
        if token[1] == ")":
            return tuple(found) or None, token.end()
        if token[4] == "." and found:
            rest, end = read_value(text, token.end(), depth)
            closing = _TOKEN.match(text, end)
            if closing and closing[1] == ")":
                return dotted(found, rest), closing.end()
            break
        value, start = read_value(text, start, depth)
        found.append(value)
    raise Invalid(f"a parenthesis is not closed: {text}", value=text)


def dotted(found: list[Value], rest: Value) -> Value:
    """Return the list of *found* that goes on with *rest*."""
    if rest is None or isinstance(rest, tuple):
        return (*found, *(rest or ()))
    pair: Value = rest
    for value in reversed(found):
        pair = Pair(value, pair)
    return pair


def read_atom(token: re.Match[str]) -> Value:
    """Return what one word, string or character stands for."""
    if token[2] is not None:
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), token[2], flags=re.DOTALL)
    if token[3]:
        letter = token[3]
        return ord(letter if len(letter) == 1 else _ESCAPES.get(letter[1], letter[1]) or " ")
    if _NUMBER.fullmatch(token[4]):
        return int(token[4].rstrip("."))
    return {"t": True, "nil": None}.get(token[4], Symbol(token[4]))


def show(value: Value) -> str:
    """Return *value* as Lisp prints it."""
    if value is None or value is True:
        return "nil" if value is None else "t"
    if isinstance(value, tuple):
        return f"({' '.join(map(show, value))})" if value else "nil"
    if isinstance(value, Pair):
        return f"({show(value.first)} . {show(value.rest)})"
    if isinstance(value, str) and not isinstance(value, Symbol):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
