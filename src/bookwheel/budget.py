"""Keep an answer within so many tokens: whole sentences, and word of what was left out."""

from __future__ import annotations

import re

_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(
    r"(?<!^\d)(?<!\n\d)(?<!\n\d\d)[.!?][\"')\]]*(?=\s)|[。！？]"  # a stop, but not that of a numbered item
    r"|\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.))"  # the end of a paragraph or an item
)


def count(text: str) -> int:
    """Return about how many tokens a model makes of a text: one for four letters, one for each wide character."""
    wide = len(_WIDE.findall(text)) if not text.isascii() else 0
    return wide + (len(text) - wide + 3) // 4


def cut(text: str, tokens: int) -> str:
    """Return the beginning of a text that fits, up to the last whole sentence, or word where there is none."""
    if count(text) <= tokens:
        return text
    end = 4 * tokens
    while end > 0 and count(text[:end]) > tokens:
        end -= max(1, count(text[:end]) - tokens)
    ends = [match.end() for match in _SENTENCE.finditer(text, 0, end + 1) if match.end() <= end]
    if ends:
        return text[: ends[-1]].rstrip()
    return text[: max(text.rfind(" ", 0, end + 1), 0) or end].rstrip()
