"""Templates of prompts: text with `{{.name}}` and `{{if .name}}…{{else}}…{{end}}`, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bookwheel.errors import ParseFailed

_TAG = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_VALUE = re.compile(r"\.([A-Za-z_]\w*)")
_IF = re.compile(r"if\s+\.([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an argument."""

    name: str

    def render(self, values: Mapping[str, str]) -> str:
        """Return the value; empty where there is none."""
        return values.get(self.name, "")


@dataclass(frozen=True, slots=True)
class Choice:
    """One text if an argument has a value, another if not."""

    name: str
    given: Template
    missing: Template

    def render(self, values: Mapping[str, str]) -> str:
        """Return the text that applies."""
        return (self.given if values.get(self.name) else self.missing).render(values)


@dataclass(frozen=True, slots=True)
class Template:
    """Pieces of text, values and choices, in order."""

    pieces: tuple[str | Value | Choice, ...] = ()

    def render(self, values: Mapping[str, str]) -> str:
        """Return the text with the values in place."""
        return "".join(one if isinstance(one, str) else one.render(values) for one in self.pieces)


@dataclass(frozen=True, slots=True)
class _Tag:
    """What stands between braces, and in which line."""

    text: str
    line: int


def parse(text: str) -> Template:
    """Return the template in *text*; raises ParseFailed for what is no such template, naming the line."""
    template, end = _parse_until_end(_tokens(text))
    if end:
        raise ParseFailed(f"the template has {{{{{end.text}}}}} in line {end.line} without an if before it")
    return template


def _tokens(text: str) -> Iterator[str | _Tag]:
    place = 0
    for tag in _TAG.finditer(text):
        yield _plain(text, place, tag.start())
        yield _Tag(tag[1].strip(), _line(text, tag.start()))
        place = tag.end()
    yield _plain(text, place, len(text))


def _plain(text: str, start: int, end: int) -> str:
    """Return the text between two tags; raises ParseFailed where a tag begins in it that never ends."""
    if (place := text.find("{{", start, end)) >= 0:
        raise ParseFailed(f"the template has {{{{ in line {_line(text, place)} that is not closed by }}}}")
    return text[start:end]


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _parse_until_end(tokens: Iterator[str | _Tag]) -> tuple[Template, _Tag | None]:
    """Return what comes before the next `else` or `end`, and that tag; None at the end of the text."""
    pieces: list[str | Value | Choice] = []
    for token in tokens:
        if isinstance(token, str):
            pieces.append(token)
        elif token.text in {"else", "end"}:
            return Template(tuple(pieces)), token
        else:
            pieces.append(_piece(token, tokens))
    return Template(tuple(pieces)), None


def _piece(tag: _Tag, tokens: Iterator[str | _Tag]) -> Value | Choice:
    if value := _VALUE.fullmatch(tag.text):
        return Value(value[1])
    if condition := _IF.fullmatch(tag.text):
        return _choice(condition[1], tag, tokens)
    raise ParseFailed(
        f"the template has {{{{{tag.text}}}}} in line {tag.line}, "
        "which is neither a value such as {{.name}} nor {{if .name}}, {{else}}, {{end}}"
    )


def _choice(name: str, tag: _Tag, tokens: Iterator[str | _Tag]) -> Choice:
    given, end = _parse_until_end(tokens)
    missing = Template()
    if end and end.text == "else":
        missing, end = _parse_until_end(tokens)
    if end is None or end.text != "end":
        raise ParseFailed(f"the template has {{{{{tag.text}}}}} in line {tag.line} without its {{{{end}}}}")
    return Choice(name, given, missing)
