"""The vectordb contract: search, its results and its filters."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from contracts.conftest import StartStore
from contracts.harness import ERAS, Json, Reader, requirement, serving, write
from contracts.vectors import CASES, KEYS, ask, chapters, fault, put, results, sources

BEASTS = ("quokka", "okapi", "tapir", "lemur", "gibbon", "wombat")
METADATA = {"author": 'O\'Neill "Ann"'}


@pytest.fixture(scope="module", params=ERAS)
def zoo(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server with two libraries, in each era; tests only search."""
    base = tmp_path_factory.mktemp("zoo")
    files = write(base / "files", {'it\'s "odd".md': '# It\'s "odd"\n\nOf the quokka.\n'})
    os.utime(files / 'it\'s "odd".md', (1_735_689_600, 1_735_689_600))
    arguments = ("--face", "vectordb", "--store", base / "store")
    with serving(portal, base, base / "log", *arguments, mode=ERAS[request.param], cwd=base) as reader:
        ask(reader, "ingest_file", path=str(CASES / "pdf/manual.pdf"), library="papers")
        ask(reader, "ingest_file", path=str(CASES / "pptx/talk.pptx"), library="papers")
        ask(reader, "ingest_folder", folder=str(files), library="notes", metadata=METADATA)
        put(reader, chapters(*BEASTS), "beasts", library="notes")
        put(reader, "# Quokka\n\nA quokka, a quokka, and only the quokka.\n", "quokka.txt", library="notes")
        put(reader, "# Numbers\n\nThe quokka has a number.\n", "7")
        yield reader


# results


@requirement("vectordb.search", "vectordb.search.answer", "vectordb.search.keys", "vectordb.answers.json")
def test_results_have_exactly_the_contracts_keys_and_kinds(zoo: Reader) -> None:
    said = ask(zoo, "search", query="quokka", top_k=100)

    assert said.keys() == {"results"}
    assert said["results"]
    for one in said["results"]:
        assert one.keys() == KEYS
        assert all(isinstance(one[name], str) for name in KEYS - {"page", "chunk_index", "metadata"})
        assert all(type(one[name]) is int and one[name] >= 0 for name in ("page", "chunk_index"))
        assert isinstance(one["metadata"], dict)
        assert datetime.fromisoformat(one["last_modified"]).utcoffset() is not None


@requirement("vectordb.search", "vectordb.search.answer")
def test_result_is_the_passage_and_says_where_it_is_from(zoo: Reader) -> None:
    (found, *_) = results(zoo, "tapir")
    (listed,) = [one for one in ask(zoo, "list_documents")["documents"] if one["source"] == "beasts"]
    whole = ask(zoo, "get_document", doc_id=found["doc_id"])["content"]

    assert found == {
        **found,
        "doc_id": listed["doc_id"],
        "source": "beasts",
        "title": "About the quokka",
        "library": "notes",
        "file_type": "text",
        "page": 0,
        "metadata": {},
    }
    assert "The tapir is told of here." in found["content"]
    assert "The lemur is told of here." not in found["content"]
    assert found["content"] in whole
    assert 0 <= found["chunk_index"] < listed["chunk_count"]


@requirement("vectordb.search", "vectordb.get-document.whole")
def test_several_passages_of_one_document_are_results_of_their_own(zoo: Reader) -> None:
    found = results(zoo, "told of here", library="notes", top_k=100, filter={"source": "beasts"})

    indexes = [one["chunk_index"] for one in found]
    assert len(found) >= len(BEASTS)
    assert len(indexes) == len(set(indexes))
    assert len({one["doc_id"] for one in found}) == 1
    assert all(any(f"The {beast} is told of here" in one["content"] for one in found) for beast in BEASTS)


@requirement("vectordb.search.sorted", "vectordb.server.search")
def test_results_are_sorted_by_relevance(zoo: Reader) -> None:
    assert sources(zoo, "quokka", library="notes")[0] == "quokka.txt"
    assert "wombat" in results(zoo, "the wombat", library="notes")[0]["content"]


@requirement("vectordb.search.top-k")
@pytest.mark.parametrize("number", [1, 2, 6, 100])
def test_no_more_results_than_asked_for_and_the_best_of_all(zoo: Reader, number: int) -> None:
    everything = results(zoo, "quokka told of here", top_k=100)

    assert len(everything) > 6
    assert results(zoo, "quokka told of here", top_k=number) == everything[:number]
    assert len(results(zoo, "quokka told of here")) == 5


@requirement("vectordb.search.library")
def test_library_restricts_the_search_and_null_does_not(zoo: Reader) -> None:
    def libraries(**arguments: object) -> set[str]:
        return {one["library"] for one in results(zoo, "quokka wheel", top_k=100, **arguments)}

    assert libraries() == libraries(library=None) == {"notes", "papers", "default"}
    assert libraries(library="papers") == {"papers"}
    assert libraries(library="default") == {"default"}
    assert libraries(library="absent") == set()


@requirement("vectordb.page", "vectordb.search.page")
def test_pages_of_pdfs_and_slides_are_the_real_ones(zoo: Reader) -> None:
    def pages(query: str, **conditions: object) -> set[int]:
        return {one["page"] for one in results(zoo, query, top_k=100, filter=conditions)}

    assert pages('"A talk on R&D"', file_type="pptx") >= {1}
    assert pages("speak slowly", file_type="pptx") == {2}
    assert pages("1588", file_type="pptx") == {3}
    assert pages("eight books stays level", file_type="pdf", page=1) == {1}
    assert pages("motor", file_type="pdf") == {2}
    assert pages("caring", file_type="pdf") == {3}
    assert pages("quokka", source="beasts") == {0}


# filters


@requirement(
    "vectordb.search.filter",
    "vectordb.search.filter.every",
    "vectordb.search.filter.all",
    "vectordb.search.filter.useful",
    "vectordb.search.filter.values",
)
@pytest.mark.parametrize("field", sorted(KEYS - {"metadata"}))
def test_every_field_of_a_result_can_be_filtered_by(zoo: Reader, field: str) -> None:
    everything = results(zoo, "quokka wheel told of here", top_k=100)
    values = {one[field] for one in everything}

    for value in values:
        found = results(zoo, "quokka wheel told of here", top_k=100, filter={field: value})
        assert {one[field] for one in found} == {value}
        assert [one for one in everything if one[field] == value and one not in found] == []
    assert results(zoo, "quokka wheel", filter={field: "no such value"}) == []


@requirement("vectordb.search.filter.every")
def test_metadata_can_be_filtered_by_as_its_json(zoo: Reader) -> None:
    found = results(zoo, "quokka", top_k=100, filter={"metadata": json.dumps(METADATA)})

    assert [one["metadata"] for one in found] == [METADATA]


@requirement("vectordb.search.filter.all", "vectordb.search.filter.examples", "vectordb.search.filter.useful")
def test_conditions_are_all_to_be_met(zoo: Reader) -> None:
    modified = {one["last_modified"] for one in results(zoo, "odd quokka", filter={"title": 'It\'s "odd"'})}

    assert {one["page"] for one in results(zoo, "talk wheel numbers", filter={"file_type": "pptx", "page": 2})} == {2}
    assert results(zoo, "wheel", filter={"file_type": "pdf", "page": 999}) == []
    assert results(zoo, "wheel", filter={"file_type": "pptx", "library": "notes"}) == []
    assert modified == {"2025-01-01T00:00:00+00:00"}
    assert len(results(zoo, "quokka", filter={"last_modified": "2025-01-01T00:00:00+00:00"})) == 1


@requirement("vectordb.search.filter.library")
def test_library_may_stand_in_the_filter_and_must_not_contradict(zoo: Reader) -> None:
    assert {one["library"] for one in results(zoo, "quokka", filter={"library": "notes"}, top_k=100)} == {"notes"}
    assert results(zoo, "quokka", filter={"library": "notes"}, library="notes") == results(
        zoo, "quokka", library="notes"
    )
    assert results(zoo, "quokka", filter={"library": "notes"}, library="default") == []
    assert results(zoo, "quokka", filter={"library": "absent"}) == []


@requirement("vectordb.search.filter.every", "vectordb.search.filter.values")
@pytest.mark.parametrize(
    "value",
    ["' OR '1'='1", "x'; DROP TABLE documents; --", '"', "\\", "%", "_", "*", "", "\0", "NULL", 10**40, -1, "ü🦘"],
)
def test_values_are_never_more_than_values(zoo: Reader, value: str | int) -> None:
    for field in KEYS:
        assert results(zoo, "quokka", filter={field: value}) == []
    assert results(zoo, "quokka") != []


@requirement("vectordb.search.filter.every", "vectordb.search.filter.values")
def test_number_finds_what_is_written_as_a_number(zoo: Reader) -> None:
    assert sources(zoo, "quokka", filter={"source": 7}) == ["7"]
    assert sources(zoo, "quokka", filter={"source": "7"}) == ["7"]


@requirement("vectordb.search.filter.refused", "vectordb.search.filter.invalid", "vectordb.errors.ordinary")
@pytest.mark.parametrize("value", [True, False, None, 1.5, ["pdf"], {"eq": "pdf"}])
@pytest.mark.parametrize("field", ["file_type", "page", "library", "metadata", "content"])
def test_other_kinds_of_values_are_refused(zoo: Reader, field: str, value: object) -> None:
    assert field in fault(zoo.call("search", query="quokka", filter={field: value}))


@requirement("vectordb.search.filter.refused", "vectordb.search.filter.invalid")
@pytest.mark.parametrize("library", [None, "notes", "absent"])
@pytest.mark.parametrize("key", ["bogus", "", "file_type ", "FILE_TYPE", "doc_id = '' OR 1=1 --", "vector", "score"])
def test_unknown_fields_are_an_error_that_names_the_valid_ones(zoo: Reader, key: str, library: str | None) -> None:
    said = fault(zoo.call("search", query="quokka", library=library, filter={"file_type": "md", key: "x"}))

    assert all(name in said for name in KEYS)


# words and meaning


@requirement("vectordb.search", "vectordb.search.sorted", "vectordb.server.search", "vectordb.swap")
def test_search_by_meaning_finds_what_shares_no_word_right_after_it_was_taken_in(
    vectordb: StartStore, tmp_path: Path, era: str
) -> None:
    reader = vectordb(era=era, env={"BOOKWHEEL_EMBEDDER": "minilm"})
    put(reader, "The physician examined the patient and wrote a prescription for antibiotics.", "clinic")
    put(reader, "The engine of the lorry was repaired in the garage.", "garage")
    put(reader, "Bread is baked from flour, water, salt and yeast.", "bakery")

    found = sources(reader, "which doctor treats sick people with medicine", top_k=1)
    ask(reader, "ingest_content", content="Kittens and puppies play in the yard.", source="clinic")

    assert found == ["clinic"]
    assert results(reader, "young cats and dogs", top_k=1)[0]["content"] == "Kittens and puppies play in the yard."
    assert "physician" not in json.dumps(ask(reader, "search", query="doctor", top_k=100))


@requirement("vectordb.search", "vectordb.server.search")
def test_exact_words_win_over_likeness(vectordb: StartStore) -> None:
    reader = vectordb(env={"BOOKWHEEL_EMBEDDER": "minilm"})
    put(reader, "Set WHEEL_TIMEOUT_MS to 500 in the configuration of the server.", "settings")
    put(reader, "The configuration of the server says how long a client is waited for.", "manual")

    assert sources(reader, "WHEEL_TIMEOUT_MS")[0] == "settings"


@requirement("vectordb.search", "vectordb.search.top-k")
def test_nothing_taken_in_gives_no_results(vectordb: StartStore) -> None:
    empty: Json = {"results": []}

    assert ask(vectordb(), "search", query="quokka") == empty
