"""Setup files are followed where the caller lets them be, and tags are handed down by the settings' rule."""

from __future__ import annotations

import pytest

from bookwheel.org.outline import parse
from bookwheel.org.settings import Settings, assign

FILES = {
    "shared.org": "#+TODO: OPEN | SHUT\n#+FILETAGS: :shared:\n#+SETUPFILE: deeper.org\n",
    "deeper.org": "#+FILETAGS: :deep:\n#+SETUPFILE: shared.org\n",
}


def load(name: str, base: str) -> tuple[str, str] | None:
    return (name, FILES[name]) if name in FILES else None


def test_a_setup_file_counts_as_if_it_stood_there() -> None:
    outline = parse('#+SETUPFILE: "shared.org"\n#+FILETAGS: :own:\n* OPEN a\n', name="main.org", load=load)

    assert outline.headlines[0].keyword == "OPEN"
    assert outline.preamble.filetags == ("shared", "deep", "own")


@pytest.mark.parametrize("name", ["https://example.org/x.org", "absent.org", ""])
def test_a_setup_file_elsewhere_counts_for_nothing(name: str) -> None:
    asked: list[str] = []

    def loader(wanted: str, _: str) -> tuple[str, str] | None:
        asked.append(wanted)
        return None

    outline = parse(f"#+SETUPFILE: {name}\n* TODO a\n", load=loader)

    assert outline.headlines[0].keyword == "TODO"
    assert asked == (["absent.org"] if name == "absent.org" else [])


def test_setup_files_that_name_each_other_come_to_an_end() -> None:
    asked: list[str] = []

    def loader(wanted: str, base: str) -> tuple[str, str]:
        asked.append(wanted)
        return f"{base}/{wanted}", "#+SETUPFILE: a\n#+SETUPFILE: b\n"

    parse("#+SETUPFILE: a\n", load=loader)

    assert len(asked) == 64


@pytest.mark.parametrize(
    ("assignment", "tags"),
    [
        ("org-use-tag-inheritance=t", ("file", "up", "own")),
        ("org-use-tag-inheritance=nil", ("own",)),
        ('org-use-tag-inheritance="^u"', ("up", "own")),
        ('org-use-tag-inheritance=("file")', ("file", "own")),
        ('org-tags-exclude-from-inheritance=("up")', ("file", "own")),
    ],
)
def test_tags_are_handed_down_by_rule(assignment: str, tags: tuple[str, ...]) -> None:
    text = "#+FILETAGS: :file:\n* a :up:\n** b :own:\n"

    assert parse(text, assign(Settings(), assignment)).headlines[1].tags == tags


def test_general_tags_give_way_to_those_of_the_file() -> None:
    settings = assign(assign(Settings(), 'org-tag-alist=(("x"))'), 'org-tag-persistent-alist=(("p" . ?p))')

    assert parse("", settings).preamble.tag_alist == parse("#+TAGS: x\n", settings).preamble.tag_alist
    assert parse("#+TAGS: y\n", settings).preamble.tag_alist != parse("", settings).preamble.tag_alist
