"""Org as Markdown, for readers who know no Org."""

from __future__ import annotations

import pytest

from bookwheel.formats.orgdown import convert

TEXT = """#+TITLE: Plans & R&D
#+FILETAGS: :x:
# a comment

Intro with *bold*, /italic/, =verbatim=, ~code~ and +struck+; a < b, 5*3*2 and a/b/c.
See [[https://example.org/a?b=1][the site]], [[file:other file.org]] and a note[fn:1].

* TODO [#A] First headline :work:
SCHEDULED: <2024-06-10 Mon>
:PROPERTIES:
:ID: abc
:END:
- item
  * inner
1. one
- [X] done
** Second
#+begin_src python
,* no headline
def f():
    return "*x*"
#+end_src

#+BEGIN_QUOTE
Make haste
slowly.
#+END_QUOTE

| Name | Value |
|------+-------|
| a    | x & y |
* Last
#+begin_src unclosed
text stays

[fn:1] The note.
"""

SHOWN = """# Plans & R&D

Intro with **bold**, *italic*, `verbatim`, `code` and ~~struck~~; a < b, 5*3*2 and a/b/c.
See [the site](https://example.org/a?b=1), [other file.org](other%20file.org) and a note[^1].

## TODO [#A] First headline :work:

SCHEDULED: <2024-06-10 Mon>

- ID: abc

- item
  - inner
1. one
- [X] done

### Second

```python
* no headline
def f():
    return "*x*"
```

> Make haste
> slowly.

| Name | Value |
| --- | --- |
| a | x & y |

## Last

text stays

[^1]: The note.
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_org_reads_as_markdown(end: str) -> None:
    assert convert("\ufeff" + TEXT.replace("\n", end)) == SHOWN


def test_without_a_title_levels_stay() -> None:
    assert convert("* One\n** Two\n") == "# One\n\n## Two\n"


@pytest.mark.parametrize(
    "text", ["*a " * 50_000, "[[" * 50_000, "=" * 100_000, "| a " * 50_000, ":a:\n" * 5_000, "~a" * 50_000]
)
def test_hostile_org_is_read_to_its_end(text: str) -> None:
    assert convert(text)
