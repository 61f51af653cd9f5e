"""Read reStructuredText: headings, code, tables, links and notes as Markdown, everything else as it is written.

A reader of lines, not the language: nothing is included, run or looked up, and what it does not know stays in sight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from bookwheel.formats.encoding import decode
from bookwheel.formats.lines import skip_mark, uniform
from bookwheel.formats.made import Made, document
from bookwheel.formats.writing import code, fence, heading, indent, join, quote, table
from bookwheel.model import Document, Source

BULLETS = "-*+•"
DEEPEST = 20  # blocks within each other

_ITEM = re.compile(r"([-*+•]|\d{1,9}[.)]|#\.) +(\S.*)$")
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1+\s*$")
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|]+\| +)?([\w:.+-]+?)::(?: +(.*))?$")
_TARGET = re.compile(r"\.\. +_(`[^`]+`|[^:]+): *(.*)$|__ +(\S.*)$")
_NOTE = re.compile(r"\.\. +\[(#?[\w.-]*|\*)\] +(.*)$")
_OPTION = re.compile(r":[\w-]+:(?: |$)")
_SIMPLE = re.compile(r"={2,}(?: +={2,})+ *$")
_GRID = re.compile(r"\+(?:[-=]+\+)+ *$")
_CODE = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "highlight", "prompt", "doctest"}
)
_QUOTED = frozenset(
    {"note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error", "seealso"}
)
_SILENT = frozenset(
    {"toctree", "contents", "index", "highlight", "meta", "include", "raw", "sectnum", "currentmodule", "module",
     "default-role", "role", "target-notes", "header", "footer", "title", "tabularcolumns"}
)  # fmt: skip
_INLINE = re.compile(
    r"``(?P<literal>.+?)``(?!`)"
    r"|(?<![\w`]):(?P<role>[\w:.+-]+):`(?P<content>[^`]+)`"
    r"|`(?P<text>[^`<]+?)\s*<(?P<address>[^`>]+)>`_{1,2}"
    r"|`(?P<name>[^`]+)`_{1,2}"
    r"|\[(?P<note>#?[\w.-]+|\*)\]_"
    r"|`(?P<default>[^`]+)`(?!_)"
    r"|(?<![\w`])(?P<word>[\w.+-]*\w)_(?![\w`])"
)
_ROLE_TARGET = re.compile(r"(.*?)\s*<[^<>]*>$", re.DOTALL)
_PROSE_ROLES = frozenset(
    {"ref", "doc", "term", "numref", "any", "sub", "sup", "emphasis", "strong", "title", "guilabel", "menuselection",
     "abbr", "pep", "rfc", "dfn", "cite"}
)  # fmt: skip


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown."""
    text = decode(data)
    lines = uniform(text[skip_mark(text) :]).expandtabs(8).split("\n")
    reader = Reader(addresses(lines))
    return document(source, Made(join(reader.blocks(lines))), "this file is empty")


def addresses(lines: Sequence[str]) -> dict[str, str]:
    """Return the addresses that names stand for."""
    found: dict[str, str] = {}
    for line in lines:
        if (target := _TARGET.match(line.strip())) and target[1] and target[2]:
            found[fold(target[1])] = target[2].strip("`<> ").removesuffix("_")
    return found


def fold(name: str) -> str:
    """Return a name as it is compared."""
    return " ".join(name.strip("`").lower().split())


class Reader:
    """One document on its way to Markdown."""

    def __init__(self, links: dict[str, str]) -> None:
        self.links = links
        self.styles: list[str] = []  # of headings, in the order in which they first came

    def blocks(self, lines: Sequence[str], depth: int = 0) -> Iterator[str]:
        """Yield the blocks of *lines*, which are not indented as a whole."""
        at = 0
        while at < len(lines):
            text, following = self.block(lines, at, depth) if lines[at].strip() else ("", at)
            yield text
            at = max(following, at + 1)

    def block(self, lines: Sequence[str], at: int, depth: int) -> tuple[str, int]:
        """Return the block that begins at a line, and where the next one does."""
        line = lines[at]
        if found := self.title(lines, at):
            return found
        if line.startswith((".. ", "__ ")) or line == "..":
            return self.explicit(lines, at, depth)
        if _SIMPLE.match(line):
            return self.simple_table(lines, at)
        if _GRID.match(line):
            return self.grid_table(lines, at)
        if line.startswith(" "):
            inner, end = indented(lines, at)
            return (quote(join(self.blocks(inner, depth + 1))) if depth < DEEPEST else "\n".join(inner)), end
        return self.items(lines, at, depth) if _ITEM.match(line) and depth < DEEPEST else self.paragraph(lines, at)

    def items(self, lines: Sequence[str], at: int, depth: int) -> tuple[str, int]:
        """Return a list, from its first item to the last one that follows."""
        texts: list[str] = []
        bullets = lines[at][0] in BULLETS
        while at < len(lines) and (found := _ITEM.match(lines[at])) and (found[1] in BULLETS) == bullets:
            inner, end = indented(lines, at + 1)
            marker = "-" if bullets else "1." if found[1] == "#." else found[1]
            blank = at + 1 < end and not lines[at + 1].strip()
            rest = ["", *inner] if blank and inner else inner
            texts.append(f"{marker} {indent(join(self.blocks([found[2], *rest], depth + 1)), len(marker) + 1)}")
            at = end
        return ("\n\n" if any("\n\n" in text for text in texts) else "\n").join(texts), at

    def title(self, lines: Sequence[str], at: int) -> tuple[str, int] | None:
        """Return the heading that begins at a line, if one does."""
        rule = _RULE.match(lines[at])
        if rule and at + 2 < len(lines) and lines[at + 2].rstrip() == lines[at].rstrip() and lines[at + 1].strip():
            return heading(self.level(rule[1] * 2), self.inline(lines[at + 1].strip())), at + 3
        below = _RULE.match(lines[at + 1]) if at + 1 < len(lines) and not lines[at].startswith(" ") else None
        if below and not rule and len(lines[at + 1].rstrip()) >= min(len(lines[at].rstrip()), 4):
            return heading(self.level(below[1]), self.inline(lines[at].strip())), at + 2
        return ("\n---\n", at + 1) if rule and len(lines[at].strip()) >= 4 and not _SIMPLE.match(lines[at]) else None

    def level(self, style: str) -> int:
        """Return the level of a heading in a style: the next one for a style that is new."""
        if style not in self.styles:
            self.styles.append(style)
        return self.styles.index(style) + 1

    def explicit(self, lines: Sequence[str], at: int, depth: int) -> tuple[str, int]:
        """Return what begins with two dots: a directive, a note, a target or a comment."""
        inner, end = indented(lines, at + 1)
        if found := _DIRECTIVE.match(lines[at]):
            return self.directive(found[1].lower(), found[2] or "", inner, depth), end
        if found := _NOTE.match(lines[at]):
            said = " ".join(" ".join([found[2], *inner]).split())
            return f"[^{found[1].lstrip('#') or 'note'}]: {self.inline(said)}", end
        return "", end

    def directive(self, name: str, argument: str, lines: Sequence[str], depth: int) -> str:
        """Return a directive: code in a fence, a remark as a quote, else its words and what is in it."""
        options = [line for line in lines if _OPTION.match(line)]
        body = list(lines[len(options) :]) if list(lines[: len(options)]) == options else list(lines)
        if name in _SILENT:
            return ""
        if name in _CODE:
            return fence("\n".join(body).strip("\n"), argument.partition(" ")[0]) if any(body) else ""
        if name in {"image", "figure"}:
            shown = next((line.partition("alt:")[2].strip() for line in options if "alt:" in line), "")
            return join([f"![{shown}]({argument.strip()})", *self.blocks(body, depth + 1)])
        if name == "math":
            return fence("\n".join([argument, *body]).strip("\n"), "math")
        if name in {"csv-table", "list-table"}:
            return join([f"**{argument}**" if argument else "", self.table_of(name, body)])
        if argument and body and name in _QUOTED:
            argument, body = "", [argument, *body]
        words = f"**{name.rpartition(':')[2].capitalize()}:**" if name in _QUOTED else ""
        text = join(
            [*filter(None, [self.inline(argument)]), *(self.blocks(body, depth + 1) if depth < DEEPEST else body)]
        )
        return quote(f"{words} {text}".strip()) if words else text

    def table_of(self, name: str, lines: Sequence[str]) -> str:
        """Return a table that is written as CSV, or as a list of lists."""
        import csv  # noqa: PLC0415 - rarely needed

        if name == "csv-table":
            return table(
                [[self.inline(cell) for cell in row] for row in csv.reader(lines, skipinitialspace=True) if row]
            )
        rows: list[list[str]] = []
        for line in lines:
            if line.startswith("* -"):
                rows.append([line[3:].strip()])
            elif rows and (item := re.match(r" +- ?(.*)", line)):
                rows[-1].append(item[1].strip())
            elif rows:
                rows[-1][-1] += f" {line.strip()}"
        return table([[self.inline(cell) for cell in row] for row in rows])

    def paragraph(self, lines: Sequence[str], at: int) -> tuple[str, int]:
        """Return a paragraph or list, with the block of code that its two last colons announce."""
        end = at
        while end < len(lines) and lines[end].strip():
            if end > at and (lines[end].startswith(".. ") or _RULE.match(lines[end])):
                break
            end += 1
        text = self.inline("\n".join(line.rstrip() for line in lines[at:end]))
        if not text.endswith("::"):
            return re.sub(r"^(?=#+ )", r"\\", text, flags=re.MULTILINE), end
        inner, after = indented(lines, end)
        shown = text[:-2].rstrip() if text[:-2].endswith((" ", "\n")) or text == "::" else text[:-1]
        return join([shown, fence("\n".join(inner).strip("\n"))]) if any(inner) else shown, after

    def inline(self, text: str) -> str:
        """Return *text* with literals, roles and references in Markdown's form."""
        return re.sub(r"\\([^\w\s])", r"\1", _INLINE.sub(self.mark, text)) if "`" in text or "_" in text else text

    def mark(self, found: re.Match[str]) -> str:
        """Return one literal, role or reference in Markdown's form."""
        if found["literal"]:
            return code(found["literal"])
        if role := found["role"]:
            named = _ROLE_TARGET.match(found["content"])
            shown = (named[1] if named else found["content"]).lstrip("~!")
            return shown if role.rpartition(":")[2] in _PROSE_ROLES else code(shown)
        if found["text"]:
            return f"[{found['text']}]({found['address'].strip()})"
        if found["note"]:
            return f"[^{found['note'].lstrip('#') or 'note'}]"
        if found["default"]:
            return f"*{found['default']}*"
        name = found["name"] or found["word"]
        address = self.links.get(fold(name))
        return f"[{name}]({address})" if address else name if found["name"] else found[0]

    def simple_table(self, lines: Sequence[str], at: int) -> tuple[str, int]:
        """Return a table whose columns are told by rules of equals signs."""
        spans = [match.span() for match in re.finditer("=+", lines[at])]
        rules = list(islice((i for i in range(at + 1, min(len(lines), at + 2_000)) if _SIMPLE.match(lines[i])), 2))
        edges = [start for start, _ in spans]
        stop = rules[-1] if rules else at
        ends = [*edges[1:], None]
        rows: list[list[str]] = []
        for line in lines[at + 1 : stop]:
            if _SIMPLE.match(line) or not line.strip() or re.fullmatch(r"[- ]+", line):
                continue
            cells = [line[start:end].strip() for start, end in zip(edges, ends, strict=True)]
            if rows and not cells[0]:
                rows[-1] = [f"{one} {other}".strip() for one, other in zip(rows[-1], cells, strict=True)]
            else:
                rows.append(cells)
        return table([[self.inline(cell) for cell in row] for row in rows]), stop + 1

    def grid_table(self, lines: Sequence[str], at: int) -> tuple[str, int]:
        """Return a table that is drawn with bars and dashes."""
        edges = [match.start() for match in re.finditer(r"\+", lines[at])]
        rows, cells, end = list[list[str]](), [""] * (len(edges) - 1), at + 1
        while end < len(lines) and lines[end].startswith(("+", "|")):
            if _GRID.match(lines[end]):
                rows.append(cells)
                cells = [""] * (len(edges) - 1)
            else:
                parts = (lines[end][start + 1 : stop].strip(" |") for start, stop in pairwise(edges))
                cells = [f"{one} {other}".strip() for one, other in zip(cells, parts, strict=True)]
            end += 1
        return table([[self.inline(cell) for cell in row] for row in rows]), end


def indented(lines: Sequence[str], at: int) -> tuple[list[str], int]:
    """Return the indented lines from a line on, without their indentation, and where the next others begin."""
    end = at
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" ")):
        end += 1
    inner = lines[at:end]
    width = min((len(line) - len(line.lstrip()) for line in inner if line.strip()), default=0)
    found = [line[width:].rstrip() for line in inner]
    while found and not found[0]:
        found.pop(0)
    while found and not found[-1]:
        found.pop()
    return found, end
