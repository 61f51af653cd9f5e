"""Prompts: files of a folder, as they are on disk now."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bookwheel.errors import Invalid, NotFound
from bookwheel.folders import Folder
from bookwheel.prompts import Argument, Prompts

REVIEW = """---
name: review
description: Looks at a change
arguments:
  - name: language
    description: Which one
  - {name: tone, required: false}
---
Review this {{.language}} change{{if .tone}}, {{.tone}}{{end}}.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with one prompt."""
    root = (tmp_path / "mcp-prompts").resolve()
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "review.md").write_text(REVIEW)
    return Folder(root, "docs", include=("*.md",))


def names(prompts: Prompts) -> list[str]:
    return [prompt.name for prompt in prompts.all()]


def test_a_prompt_says_what_it_takes(folder: Folder) -> None:
    prompt = Prompts([folder]).get("docs", "review")

    assert prompt.description == "Looks at a change"
    assert prompt.arguments == (Argument("language", "Which one"), Argument("tone", "", required=False))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"language": "Go"}, "Review this Go change.\n"),
        ({"language": "Go", "tone": "kindly"}, "Review this Go change, kindly.\n"),
        ({"language": "Go", "tone": ""}, "Review this Go change.\n"),
    ],
)
def test_a_prompt_is_filled_in(folder: Folder, values: dict[str, str], expected: str) -> None:
    assert Prompts([folder]).get("docs", "review").render(values) == expected


@pytest.mark.parametrize("values", [{}, {"language": ""}, {"language": " "}, {"tone": "kindly"}])
def test_a_missing_value_is_named(folder: Folder, values: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="the prompt review needs a value for: language"):
        Prompts([folder]).get("docs", "review").render(values)


def test_an_unknown_prompt_is_not_found(folder: Folder) -> None:
    with pytest.raises(NotFound, match="there is no prompt absent in docs"):
        Prompts([folder]).get("docs", "absent")


def test_prompts_follow_their_files(folder: Folder) -> None:
    prompts = Prompts([folder])
    first = prompts.refresh()
    again = prompts.refresh()
    (folder.root / "new.md").write_text("---\nname: new\n---\nHello\n")
    added = (prompts.refresh(), names(prompts))
    (folder.root / "new.md").write_text("---\nname: newer\n---\nHello\n")
    changed = (prompts.refresh(), names(prompts))
    (folder.root / "new.md").unlink()
    removed = (prompts.refresh(), names(prompts))

    assert (first, again) == (True, False)
    assert added == (True, ["new", "review"])
    assert changed == (True, ["newer", "review"])
    assert removed == (True, ["review"])


def test_a_folder_may_come_later_and_go(folder: Folder) -> None:
    moved = folder.root.with_name("moved")
    folder.root.rename(moved)
    prompts = Prompts([folder])
    before = names(prompts)
    moved.rename(folder.root)

    assert (before, names(prompts)) == ([], ["review"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no front matter", "no text under `name`"),
        ("---\nname: [a]\n---\nx", "no text under `name`"),
        ("---\nname: ' '\n---\nx", "no text under `name`"),
        ("---\nname: a\narguments: b\n---\nx", "its `arguments` are not a list"),
        ("---\nname: a\narguments: [b]\n---\nx", "its arguments[0] has no text under `name`"),
        ("---\nname: a\narguments: [{name: b}, {}]\n---\nx", "its arguments[1] has no text under `name`"),
        ("---\nname: a\narguments: [{name: b, required: soon}]\n---\nx", "required must be true or false"),
        ("---\nname: a\n---\n{{.x", "not closed"),
        ("---\nname: a: b\n---\nx", "not valid YAML"),
    ],
)
def test_a_bad_file_is_told_once_and_left_out(
    folder: Folder, text: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    (folder.root / "bad.md").write_text(text)
    prompts = Prompts([folder])

    with caplog.at_level(logging.WARNING):
        found = [names(prompts), names(prompts)]

    assert found == [["review"], ["review"]]
    assert [told in record.getMessage() for record in caplog.records] == [True]
    assert "docs/bad.md is left out" in caplog.text


def test_the_first_of_two_files_with_one_name_counts(folder: Folder, caplog: pytest.LogCaptureFixture) -> None:
    (folder.root / "again.md").write_text("---\nname: review\n---\nFirst\n")
    prompts = Prompts([folder])

    said = [prompts.get("docs", "review").render({}) for _ in range(2)]

    assert said == ["First\n", "First\n"]
    assert caplog.text.count("another file of its source has the same name") == 1
