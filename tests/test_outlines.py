"""Org files as outlines: as they are now, found by what callers call them, edited in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from bookwheel import formats
from bookwheel.catalog import Catalog
from bookwheel.errors import Invalid, NotFound, OutsideRoots, Unreadable
from bookwheel.folders import Folder, folder_for
from bookwheel.org import Edited, Headline, Settings, schedule, set_deadline, set_todo
from bookwheel.outlines import Outlines, Place

WHEN = datetime(2024, 6, 10, 9, 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a few Org files."""
    place = tmp_path / "notes"
    (place / "sub").mkdir(parents=True)
    (place / "a.org").write_text("* TODO A\n* TODO B\n")
    (place / "sub" / "b.org").write_text("* C\n")
    return place


@pytest.fixture
def outlines(folder: Path, tmp_path: Path) -> Iterator[Outlines]:
    """The outlines of that folder."""
    options = Folder(Path("/"), "", suffixes=formats.SERVED)
    catalog = Catalog(tmp_path / "store", [folder_for(folder, "notes", options)])
    catalog.sync()
    yield Outlines(catalog, Settings())
    catalog.close()


def finish(headline: Headline) -> Edited:
    return set_todo(headline, "DONE", WHEN)


def plan(headline: Headline) -> Edited:
    return schedule(headline, "2024-12-24", WHEN)


def limit(headline: Headline) -> Edited:
    return set_deadline(headline, "2024-12-25", WHEN)


def refuse(headline: Headline) -> Edited:
    raise Invalid("no")


def test_outline_is_kept_until_its_file_changes(outlines: Outlines, folder: Path) -> None:
    file = outlines.file("a.org")
    first, again = outlines.open(file), outlines.open(file)

    (folder / "a.org").write_text("* Another\n")

    assert first is again
    assert [one.title for one in outlines.open(file).headlines] == ["Another"]


def test_outline_is_read_anew_when_its_setup_file_comes_changes_or_goes(outlines: Outlines, folder: Path) -> None:
    (folder / "a.org").write_text("#+SETUPFILE: setup.org\n* NEXT A\n")
    file = outlines.file("a.org")

    def state() -> str | None:
        return outlines.open(file).headlines[0].keyword

    states = [state()]
    (folder / "setup.org").write_text("#+TODO: NEXT | OVER\n")
    states.append(state())
    (folder / "setup.org").write_text("#+TODO: LATER | OVER\n")
    states.append(state())
    (folder / "setup.org").write_text("#+TODO: NEXT | OVER AT LAST\n")
    states.append(state())
    (folder / "setup.org").unlink()
    states.append(state())

    assert states == [None, "NEXT", None, "NEXT", None]


@pytest.mark.parametrize("name", ["sub/b.org", "b.org", "sub%2Fb.org"])
def test_file_goes_by_its_path_or_the_end_of_it(outlines: Outlines, folder: Path, name: str) -> None:
    assert outlines.file(name, encoded=True).path == folder / "sub" / "b.org"


@pytest.mark.parametrize(
    ("name", "error"),
    [("absent.org", NotFound), ("../notes/a.org", OutsideRoots), ("ub/b.org", NotFound), ("", Invalid)],
)
def test_other_names_are_refused(outlines: Outlines, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        outlines.file(name)


def test_several_changes_are_one_step(outlines: Outlines, folder: Path, tmp_path: Path) -> None:
    place = Place(outlines.file("a.org"), "A")

    done = outlines.edit(place, [plan, limit, finish], tmp_path / "locks")

    assert (done.changed, done.state) == (True, "DONE")
    assert (folder / "a.org").read_text() == (
        "* DONE A\nDEADLINE: <2024-12-25 Wed> SCHEDULED: <2024-12-24 Tue>\n* TODO B\n"
    )


def test_none_of_several_changes_is_made_if_one_cannot_be(outlines: Outlines, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        outlines.edit(Place(outlines.file("a.org"), "A"), [plan, refuse], tmp_path / "locks")

    assert (folder / "a.org").read_text() == "* TODO A\n* TODO B\n"


def moving(folder: Path, text: str) -> Callable[[Headline], Edited]:
    """Return a change in whose midst somebody else writes, once."""
    left = [text]

    def change(headline: Headline) -> Edited:
        if left:
            (folder / "a.org").write_text(left.pop())
        return finish(headline)

    return change


def test_headline_is_looked_up_again_in_the_file_as_it_is_then(
    outlines: Outlines, folder: Path, tmp_path: Path
) -> None:
    change = moving(folder, "New.\n* TODO B\n* TODO A\n")

    outlines.edit(Place(outlines.file("a.org"), "A"), [change], tmp_path / "locks")

    assert (folder / "a.org").read_text() == "New.\n* TODO B\n* DONE A\n"


@pytest.mark.parametrize("identity", ["", "x"])
def test_headline_that_is_gone_by_then_is_not_found(
    outlines: Outlines, folder: Path, tmp_path: Path, identity: str
) -> None:
    (folder / "a.org").write_text("* TODO A\n:PROPERTIES:\n:ID: x\n:END:\n")
    change = moving(folder, "* TODO B\n")

    with pytest.raises(NotFound):
        outlines.edit(Place(outlines.file("a.org"), "A", identity), [change], tmp_path / "locks")

    assert (folder / "a.org").read_text() == "* TODO B\n"


def test_bytes_that_could_not_be_written_back_are_not_edited(outlines: Outlines, folder: Path, tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf* TODO A\n\xff\xfe\n"
    (folder / "a.org").write_bytes(data)

    with pytest.raises(Unreadable, match=r"a\.org"):
        outlines.edit(Place(outlines.file("a.org"), "A"), [finish], tmp_path / "locks")

    assert (folder / "a.org").read_bytes() == data
