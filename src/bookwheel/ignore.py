"""What patterns and ignore files hide.

Patterns are those of .gitignore. Each is held against an entry itself and never against the folders above it,
because a folder that is ruled out is not entered: that is how git walks, and why `!` works as it does.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

IGNORE_FILES = (".gitignore", ".bookwheelignore")  # the later one has the last word
DIRECTORY_MARK = "(?P<ps_d>/)"  # what pathspec writes where a pattern matches a folder
WHOLE = {".": ".+", DIRECTORY_MARK: ".*/", "/": ".+/.+"}  # pathspec's shortcuts for `*`, `*/` and `**/*/**`

Rules: TypeAlias = tuple[tuple[bool, re.Pattern[str]], ...]
"""What to say of an entry and when, the deciding rule first."""
Layers: TypeAlias = tuple[tuple[int, Rules], ...]
"""The rules of the folders above an entry, the nearest first, with the length of their own path."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Which paths are wanted: any of the included ones, none of the excluded ones."""

    include: tuple[str, ...] = ()  # none: every file
    exclude: tuple[str, ...] = ()

    def select(self, path: str) -> bool:
        """Return whether the relative path is wanted; a path below an excluded folder is not."""
        included = glob(self.included)
        parts = path.split("/")
        above = ["/".join(parts[:depth]) + "/" for depth in range(1, len(parts))]
        excluded = glob(self.exclude)
        return not (included and not included(path)) and not (excluded and any(map(excluded, [*above, path])))

    @property
    def included(self) -> tuple[str, ...]:
        """The patterns of included files; one for a folder means all that is in it."""
        return tuple(one + "**" if one.endswith("/") else one for one in self.include)


@lru_cache(maxsize=64)
def glob(patterns: tuple[str, ...]) -> Callable[[str], object] | None:
    """Return what tells whether a relative path matches one of the patterns; None without patterns."""
    if not patterns:
        return None
    rules = compiled(tuple(map(literal, patterns)))
    return rules[0][1].fullmatch if rules else lambda _: False


@lru_cache(maxsize=512)
def compiled(lines: tuple[str, ...]) -> Rules:
    """Return the lines of an ignore file as rules, neighbours with the same verdict as one."""
    runs: list[tuple[bool, list[str]]] = []
    for verdict, expression in filter(None, map(translated, reversed(lines))):
        if not runs or runs[-1][0] is not verdict:
            runs.append((verdict, []))
        runs[-1][1].append(expression)
    return tuple((verdict, re.compile("|".join(run), re.DOTALL)) for verdict, run in runs)


def translated(line: str) -> tuple[bool, str] | None:
    """Return whether the line hides or shows what its expression fully matches; None for a line without a pattern.

    A folder's path is to be matched with a slash at its end.
    """
    line = line.removesuffix("\r")
    if not line or line.startswith("#"):
        return None  # most lines that say nothing need no pathspec
    from pathspec.patterns.gitignore.base import GitIgnorePatternError  # noqa: PLC0415 - start-up does not pay for it
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415

    try:
        expression, verdict = GitIgnoreSpecPattern.pattern_to_regex(spelled_out(line))
    except GitIgnorePatternError:
        return None  # git lets such a line match nothing
    if expression is None or verdict is None:
        return None
    return verdict, WHOLE.get(expression, expression).replace(DIRECTORY_MARK, "/").removeprefix(
        "^"
    )  # it is matched in full


def spelled_out(line: str) -> str:
    """Return the line with a final `**` written so that it matches entries one by one, not just their folder."""
    bare = line.rstrip(" ")
    if bare.endswith("/**"):
        return bare + "/*"
    return bare + "*/" if bare.endswith("/**/") else line


def literal(pattern: str) -> str:
    """Return a folder's pattern as a line of an ignore file: `!` and `#` are letters, `./` is the root."""
    pattern = pattern[1:] if pattern.startswith("./") else pattern
    return "\\" + pattern if pattern[:1] in {"!", "#"} else pattern


def reach(pattern: str) -> int:
    """Return how many levels down the pattern can match; 0 if there is no limit."""
    inner = pattern.removeprefix("./").removeprefix("/")
    if "**" in pattern or pattern.endswith("/") or "/" not in pattern:
        return 0
    return inner.count("/") + 1


def ignored(path: str, layers: Layers) -> bool:
    """Return whether the nearest rule that matches the absolute path hides it."""
    for start, rules in layers:
        for verdict, expression in rules:
            if expression.fullmatch(path, start):
                return verdict
    return False


def own_layers(place: Path) -> Layers:
    """Return the rules of the ignore files in this very folder."""
    lines = tuple(line for name in IGNORE_FILES for line in lines_of(place / name))
    rules = compiled(lines) if lines else ()
    return ((len(below(place)), rules),) if rules else ()


def lines_of(path: Path) -> list[str]:
    """Return the lines of an ignore file; none unless it is a regular file that can be read.

    Like git, this does not follow a link, which could lead anywhere.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return []
        return path.read_text("utf-8-sig", "surrogateescape").split("\n")
    except OSError:
        return []


def upper_layers(root: Path) -> Layers:
    """Return the rules of the folders above the root, up to the top of its git work tree.

    None, if they hide the root itself: who serves an ignored folder does so on purpose.
    """
    layers: Layers = ()
    for place in lineage(root):
        if ignored(below(place), layers):
            return ()
        layers = layers if place == root else own_layers(place) + layers
    return layers


def lineage(root: Path) -> list[Path]:
    """Return the folders from the top of the git work tree down to the root; none if it is in none."""
    line = [root, *root.parents]
    top = next((depth for depth, place in enumerate(line) if os.path.lexists(place / ".git")), 0)
    return line[top::-1] if top else []


def below(place: Path) -> str:
    """Return the folder's path with a slash at its end."""
    return place.as_posix().rstrip("/") + "/"
