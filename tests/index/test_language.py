"""Words are stemmed in the language of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.catalog import Catalog
from bookwheel.folders import Folder
from bookwheel.index.analysis import ENGLISH, SPOKEN, terms
from bookwheel.model import Query
from bookwheel.settings import LANGUAGES


@pytest.fixture(autouse=True)
def spoken_afterwards() -> Iterator[None]:
    yield
    SPOKEN.speak(ENGLISH)


@pytest.fixture
def notes(tmp_path: Path) -> Folder:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Bibliothek\n\nDie Bücher stehen in den Häusern.\n")
    return Folder(folder, "notes")


def found(catalog: Catalog, query: str) -> list[str]:
    return [hit.record.source.path for hit in catalog.search(Query(query)).hits]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_that_can_be_chosen_has_a_stemmer(language: str) -> None:
    SPOKEN.speak(language)

    assert terms("notes")


def test_words_are_found_in_every_form_of_their_language(tmp_path: Path, notes: Folder) -> None:
    catalog = Catalog(tmp_path / "store", [notes], language="german")
    catalog.sync()

    assert found(catalog, "Büchern") == ["a.md"]


def test_changing_the_language_reads_the_documents_anew(tmp_path: Path, notes: Folder) -> None:
    before = Catalog(tmp_path / "store", [notes])
    before.sync()
    before.close()
    after = Catalog(tmp_path / "store", [notes], language="german")

    changes = after.sync()

    assert changes.indexed == 1
    assert found(after, "Häuser") == ["a.md"]


def test_the_same_language_reads_nothing_anew(tmp_path: Path, notes: Folder) -> None:
    before = Catalog(tmp_path / "store", [notes], language="german")
    before.sync()
    before.close()

    changes = Catalog(tmp_path / "store", [notes], language="german").sync()

    assert (changes.indexed, changes.unchanged) == (0, 1)


def test_who_names_no_language_goes_on_in_that_of_the_store(tmp_path: Path, notes: Folder) -> None:
    before = Catalog(tmp_path / "store", [notes], language="german")
    before.sync()
    before.close()
    SPOKEN.speak(ENGLISH)
    after = Catalog(tmp_path / "store", [notes])

    changes = after.sync()

    assert (changes.indexed, changes.unchanged) == (0, 1)
    assert found(after, "Büchern") == ["a.md"]
