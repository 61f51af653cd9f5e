"""The scanner finds the headings CommonMark finds: markdown-it-py is the judge."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bookwheel.formats import markdown

PIECES = [
    "# a", "## b", "#", "###### f #", "####### g", "#x", " # one", "  # two", "   # three", "    # four", "\t# tab",
    "text", "  text", "    text", "\ttext", "", "", "", "  ", "```", "``` py", "````", "  ```", "   ```", "    ```",
    "``` a`b", "~~~", "~~~ x`", "~~~~", "> q", "> # q", ">", ">     c", "> ```", "> - i", ">> d", "- a", "- # h", "-",
    "- ```", "-     c", "-\tt", "* a", "+ a", "  - n", "   - n", "1. o", "2. o", "2)", "10. x", "1.", "   o", "- - x",
    "---", "***", "- - -", "===", "--", "<!-- c", "-->", "<!-- c -->", "<div>", "</div>", "<pre>", "</pre>", "<script>",
    "</script> x", "<a>", "<a b='c'>", "</b>", "<a> t", "<?php", "?>", "<!X", ">x", "<![CDATA[", "]]>", "  <div>",
    "   <a>", "<b", "<DIV", "<x-y />", "<a b=\"c", "d\">",
]  # fmt: skip
QUIRKS = {"    # four", "\t# tab", "    ```"}  # after a quote or list they go on with its text, but not to the judge
ORACLE = MarkdownIt("commonmark")


def expected(text: str) -> list[tuple[int, int]]:
    """Level and line of each ATX heading that is in no quote and no list, as markdown-it-py sees it."""
    return [
        (int(token.tag[1]), token.map[0] + 1)
        for token in ORACLE.parse(text)
        if token.type == "heading_open" and token.level == 0 and token.map and token.markup[0] == "#"
    ]


def found(text: str) -> list[tuple[int, int]]:
    return [(section.level, section.line) for section in markdown.sections(text)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@settings(max_examples=700, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14))
@example(["- a", "lazy", "  # two"])
@example(["- a", "", "  # two"])
@example(["- ```", "# a"])
@example(["> q", "<a>", "# a"])
@example(["-", "", "  # two"])
@example(["<div>", "# a", "", "# a"])
@example(["text", "2. o", "   # three"])
@example(["- >", "", "  ", "  # two"])
def test_headings_are_those_of_commonmark(end: str, lines: list[str]) -> None:
    assume(not any(line in QUIRKS and before.strip() for before, line in pairwise(lines)))
    text = end.join(lines)

    assert found(text) == expected(text)
