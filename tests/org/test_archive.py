"""A tree goes to the archive its file or a property names; what is expected here is what Org leaves."""

from __future__ import annotations

from datetime import datetime

import pytest

from bookwheel.errors import Invalid
from bookwheel.org import Archived, Target, archive, archive_target, parse

NOW = datetime(2026, 11, 15, 10, 0)
CONTEXT = """\
:PROPERTIES:
:ARCHIVE_TIME: 2026-11-15 Sun 10:00
:ARCHIVE_FILE: /notes/a.org
"""
HOUSE = f"""\
{"* House [1/2]":<71}:home:
** DONE Roof :roof:
Text.
*** Slate
** TODO Walls
"""


def archived(text: str, line: int, existing: str | None = None) -> tuple[Target, Archived]:
    headline = parse(text, name="a.org").at_line(line)
    assert headline
    target = archive_target(headline, "a.org")
    return target, archive(headline, NOW, "/notes/a.org", target, existing)


def test_a_tree_goes_to_a_file_of_its_own() -> None:
    target, after = archived(HOUSE, 2)

    assert target == Target("a.org_archive", "")
    assert after.source == f"{'* House [0/1]':<71}:home:\n** TODO Walls\n"
    assert after.archive == (
        "#    -*- mode: org -*-\n\n\nArchived entries from file /notes/a.org\n\n\n"
        f"{'* DONE Roof':<71}:roof:\n"
        f"{CONTEXT}:ARCHIVE_OLPATH: House\n:ARCHIVE_CATEGORY: a\n:ARCHIVE_TODO: DONE\n:ARCHIVE_ITAGS: home\n:END:\n"
        "Text.\n** Slate\n"
    )


def test_an_archive_that_is_there_gets_one_more_tree() -> None:
    _, after = archived("* a\n* b\n", 1, "* old\n")

    assert after == Archived("* b\n", f"* old\n\n* a\n{CONTEXT}:ARCHIVE_CATEGORY: a\n:END:\n")


def test_a_tree_goes_below_a_headline_of_its_own_file() -> None:
    _, after = archived("#+ARCHIVE: ::* Old\n* a\n* b\nlast", 3)

    assert after == Archived(
        f"#+ARCHIVE: ::* Old\n* a\n* Old\n\n** b\n{CONTEXT}:ARCHIVE_CATEGORY: a\n:END:\nlast\n", None
    )


def test_a_property_above_names_a_headline_elsewhere() -> None:
    text = "* a\n:PROPERTIES:\n:ARCHIVE: other.org::* Old\n:END:\n** b\n"

    target, after = archived(text, 5, "* Old :x:\n** first\n\n\n* After\n")

    assert target == Target("other.org", "* Old")
    wanted = f"** b\n{CONTEXT}:ARCHIVE_OLPATH: a\n:ARCHIVE_CATEGORY: a\n:END:\n"
    assert after.archive == f"* Old :x:\n** first\n\n{wanted}* After\n"


def test_variables_for_emacs_stay_at_the_end_of_the_file() -> None:
    _, after = archived("* a\n* b\nText.\n# Local Variables:\n# End:\n", 2)

    assert after.source == "* a\n# Local Variables:\n# End:\n"


@pytest.mark.parametrize("location", ["nowhere", "%s_archive::datetree/"])
def test_an_archive_that_is_none_is_refused(location: str) -> None:
    headline = parse(f"#+ARCHIVE: {location}\n* a\n").headlines[0]

    with pytest.raises(Invalid):
        archive_target(headline, "a.org")


def test_a_tree_cannot_go_into_itself() -> None:
    with pytest.raises(Invalid, match="into itself"):
        archived("#+ARCHIVE: ::* Old\n* Old\n** a\n", 2)
