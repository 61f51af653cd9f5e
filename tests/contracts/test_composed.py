"""Several faces in one server: which there are, and the one search over all libraries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from contracts.harness import ERAS, Answer, Files, Json, Reader, plain, requirement, serving, write
from contracts.sources import ENTRIES, LIBRARY, configure

NOTES: Files = {
    "README.md": "# Notes\n\nThese notes tell of an anchor.\n",
    "guides/setup.md": "# Setup Guide\n\n## Requirements\n\nA working periscope.\n\n## Steps\n\nInstall the anchor.\n",
    "memo.txt": "Memo\nBuy rope, an armadillo and a periscope.\n",
}
DOCS_TOOLS = {"search_documents"}
SECTIONS_TOOLS = {"list_documentation_files", "table_of_contents", "read_sections"}
ACDC_TOOLS = {"search", "read"}
KEYS = {
    *("doc_id", "source", "title", "library", "file_type", "last_modified", "page", "content", "chunk_index"),
    *("metadata", "uri", "score", "section", "lines"),
}
LINE = re.compile(r"- \[([^\]]*)\] \[(.*)\]\(([a-z]+://[^ ()]+)\): (.*) \(relevance: (\d+\.\d\d)\)")


@pytest.fixture(scope="module", params=ERAS)
def composed(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server of a folder and of the sources of a config, in each era."""
    base = tmp_path_factory.mktemp("composed")
    folder = write(base / "notes", NOTES)
    config = configure(base / "content", LIBRARY)
    arguments = (folder, "--config", config, "--store", base / "store")
    with serving(portal, folder, base / "log", *arguments, mode=ERAS[request.param], cwd=base) as reader:
        yield reader


def names(reader: Reader) -> list[str]:
    return [tool["name"] for tool in reader.tools()]


def results(answer: Answer) -> list[Json]:
    """Return the results of a search."""
    assert not answer.error, answer.texts
    assert answer.data is not None
    return list(answer.data["results"])


def libraries(answer: Answer) -> set[str]:
    return {one["library"] for one in results(answer)}


def told(answer: Answer) -> str:
    """Return what went wrong, whichever of the two contracts worded it."""
    assert answer.error or (answer.data is not None and answer.data["status"] == "error"), answer
    assert not answer.data or "results" not in answer.data
    return answer.text


# which faces


@requirement("composed.faces", "composed.names")
def test_folder_and_config_together_give_the_tools_of_every_face_by_their_own_names(composed: Reader) -> None:
    found = names(composed)

    assert set(found) >= DOCS_TOOLS | SECTIONS_TOOLS | ACDC_TOOLS
    assert len(found) == len(set(found))


@requirement("composed.faces", "composed.names", "acdc.mcp.resources", "acdc.prompts.namespace")
def test_every_face_answers_in_its_own_way(composed: Reader) -> None:
    listed = {one["uri"] for one in composed.resources()}

    assert {one["uri"] for one in ENTRIES} <= listed
    assert len([uri for uri in listed if uri.startswith("docs://")]) >= len(NOTES)
    assert composed.call("read", uri="acdc://wiki/guide").text == "Nothing but a submarine.\n"
    assert composed.text("acdc://wiki/guide") == "Nothing but a submarine.\n"
    assert "periscope" in composed.call("search_documents", query="periscope").text
    assert not composed.call("list_documentation_files").error
    assert [one["name"] for one in composed.prompts()] == ["docs:code-review", "wiki:code-review"]


@requirement("composed.faces")
def test_without_content_there_is_nothing_of_acdc(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", NOTES)

    with serving(portal, folder, tmp_path / "log", folder, "--store", tmp_path / "store", cwd=tmp_path) as reader:
        assert set(names(reader)) >= DOCS_TOOLS | SECTIONS_TOOLS
        assert "read" not in names(reader)


@requirement("composed.narrowed", "composed.names")
@pytest.mark.parametrize(
    ("face", "tools"), [("docs,acdc", DOCS_TOOLS | ACDC_TOOLS), ("acdc,sections", SECTIONS_TOOLS | ACDC_TOOLS)]
)
def test_named_faces_are_served_and_no_others(
    portal: BlockingPortal, tmp_path: Path, face: str, tools: set[str]
) -> None:
    folder = write(tmp_path / "notes", NOTES)
    config = configure(tmp_path / "content", LIBRARY)
    arguments = (folder, "--config", config, "--face", face, "--store", tmp_path / "store")

    with serving(portal, folder, tmp_path / "log", *arguments, cwd=tmp_path) as reader:
        assert sorted(names(reader)) == sorted(tools)


@requirement("composed.read-only")
def test_read_only_offers_no_tool_that_writes(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", NOTES)
    config = configure(tmp_path / "content", LIBRARY)
    arguments = (folder, "--config", config, "--read-only", "--store", tmp_path / "store")

    with serving(portal, folder, tmp_path / "log", *arguments, cwd=tmp_path) as reader:
        tools = [plain(tool) for tool in reader.portal.call(reader.client.list_tools).tools]
        answer = reader.call("search", query="periscope")

    assert [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]] == []
    assert {tool["name"] for tool in tools} >= DOCS_TOOLS | SECTIONS_TOOLS | ACDC_TOOLS
    assert libraries(answer) == {"notes"}


# one search


@requirement("composed.search.union", "composed.search.top-k", "composed.search.library", "composed.search.filter")
def test_search_has_the_arguments_of_both_contracts_and_needs_a_query_alone(composed: Reader) -> None:
    (schema,) = [tool["inputSchema"] for tool in composed.tools() if tool["name"] == "search"]

    def kinds(name: str) -> set[str]:
        one = schema["properties"][name]
        found = [one["type"]] if "type" in one else [other["type"] for other in one["anyOf"]]
        return {kind for part in found for kind in (part if isinstance(part, list) else [part])}

    assert schema["required"] == ["query"]
    assert {name: kinds(name) - {"null"} for name in schema["properties"] if name != "max_tokens"} == {
        "query": {"string"},
        "source": {"string"},
        "top_k": {"integer"},
        "library": {"string"},
        "filter": {"object"},
    }
    assert (schema["properties"]["top_k"]["minimum"], schema["properties"]["top_k"]["maximum"]) == (1, 100)


@requirement("composed.search.libraries", "model.library", "composed.folder.library")
def test_search_looks_in_the_folder_and_in_every_source(composed: Reader) -> None:
    assert libraries(composed.call("search", query="anchor")) == {"notes", "docs", "wiki"}


@requirement("composed.search.structured", "composed.search.sorted", "composed.search.libraries")
def test_results_have_the_keys_of_the_vector_contract_and_say_where_they_are(composed: Reader) -> None:
    answer = composed.call("search", query="submarine")

    (result,) = results(answer)
    assert result.keys() >= KEYS
    assert {key: result[key] for key in ("title", "library", "file_type", "page", "chunk_index", "uri")} == {
        "title": "Wiki Guide",
        "library": "wiki",
        "file_type": "md",
        "page": 0,
        "chunk_index": 0,
        "uri": "acdc://wiki/guide",
    }
    assert "submarine" in result["content"]
    assert Path(result["source"]).name == "guide.md"
    assert Path(result["source"]).is_absolute()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d", result["last_modified"])
    assert isinstance(result["metadata"], dict)
    assert result["score"] > 0


@requirement("composed.search.structured")
def test_uri_of_a_result_can_be_read(composed: Reader) -> None:
    found = results(composed.call("search", query="periscope"))

    assert sorted(Path(one["source"]).relative_to(composed.folder.resolve()).as_posix() for one in found) == [
        "guides/setup.md",
        "memo.txt",
    ]
    assert all("periscope" in composed.text(one["uri"]) for one in found)


@requirement("composed.search.sorted", "composed.search.structured")
def test_results_are_sorted_by_score(composed: Reader) -> None:
    scores = [one["score"] for one in results(composed.call("search", query="anchor"))]

    assert scores == sorted(scores, reverse=True)


@requirement("composed.search.text", "composed.search.structured")
def test_text_is_worded_as_acdc_does(composed: Reader) -> None:
    answer = composed.call("search", query="anchor")

    head = "Search results for 'anchor':\n\n"
    assert answer.text.startswith(head)
    *entries, rest = answer.text.removeprefix(head).split("\n\n")
    matches = [match for match in map(LINE.fullmatch, entries) if match]
    assert (rest, len(matches)) == ("", len(entries))
    assert [(one[1], one[2], one[3]) for one in matches] == [
        (one["library"], one["title"], one["uri"]) for one in results(answer)
    ]


@requirement("composed.search.text", "composed.search.libraries", "model.library")
@pytest.mark.parametrize("source", ["notes", "docs", "wiki"])
def test_source_narrows_the_search_to_a_library_in_the_words_of_acdc(composed: Reader, source: str) -> None:
    answer = composed.call("search", query="anchor", source=source)

    assert answer.text.startswith(f"Search results for 'anchor' in source '{source}':\n\n- [{source}] [")
    assert libraries(answer) == {source}


@requirement("composed.search.text", "composed.search.structured")
def test_nothing_found_is_worded_as_acdc_does_and_empty_as_data(composed: Reader) -> None:
    plainly = composed.call("search", query="xqzzvwkj")
    narrowly = composed.call("search", query="xqzzvwkj", source="wiki")

    assert (plainly.text, results(plainly)) == ("No results found for 'xqzzvwkj'", [])
    assert (narrowly.text, results(narrowly)) == ("No results found for 'xqzzvwkj' in source 'wiki'", [])


ASKED: dict[str, tuple[Json, set[str]]] = {
    "top_k": ({"top_k": 50}, {"notes", "docs", "wiki"}),
    "library": ({"library": "wiki"}, {"wiki"}),
    "folder": ({"library": "notes"}, {"notes"}),
    "filter": ({"filter": {"file_type": "md"}}, {"notes", "docs", "wiki"}),
    "filter of the library": ({"filter": {"library": "docs"}}, {"docs"}),
    "filter of several": ({"filter": {"file_type": "md", "title": "Wiki Home"}}, {"wiki"}),
    "filter of a number": ({"filter": {"page": 0, "library": "wiki"}}, {"wiki"}),
    "all": ({"top_k": 1, "library": "wiki", "filter": {"file_type": "md"}}, {"wiki"}),
    "source that agrees": ({"source": "wiki", "library": "wiki"}, {"wiki"}),
    "source with top_k": ({"source": "docs", "top_k": 5}, {"docs"}),
}


@requirement(
    "composed.search.json",
    "composed.search.top-k",
    "composed.search.library",
    "composed.search.filter",
    "composed.search.agree",
    "model.library",
)
@pytest.mark.parametrize(("arguments", "found"), ASKED.values(), ids=ASKED)
def test_text_is_the_json_where_the_vector_contract_is_asked(
    composed: Reader, arguments: Json, found: set[str]
) -> None:
    answer = composed.call("search", query="anchor", **arguments)

    assert json.loads(answer.text) == answer.data
    assert libraries(answer) == found


@requirement("composed.search.json", "composed.search.filter", "composed.search.library")
@pytest.mark.parametrize(
    "arguments",
    [
        {"filter": {"title": "O'Neil \" ; DROP"}},
        {"filter": {"file_type": "pdf"}},
        {"filter": {"page": 7}},
    ],
    ids=str,
)
def test_nothing_found_is_json_too_where_the_vector_contract_is_asked(composed: Reader, arguments: Json) -> None:
    answer = composed.call("search", query="anchor", **arguments)

    assert json.loads(answer.text) == answer.data
    assert results(answer) == []


@requirement("composed.search.top-k")
@pytest.mark.parametrize("number", [1, 2])
def test_top_k_bounds_the_results(composed: Reader, number: int) -> None:
    assert len(results(composed.call("search", query="anchor", top_k=number))) == number


@requirement("composed.search.agree")
@pytest.mark.parametrize(("source", "library"), [("docs", "wiki"), ("wiki", "notes"), ("nowhere", "docs")])
def test_source_and_library_that_disagree_are_an_error_that_names_both(
    composed: Reader, source: str, library: str
) -> None:
    message = told(composed.call("search", query="anchor", source=source, library=library))

    assert [word for word in ("source", "library", source, library) if word not in message] == []


@requirement("composed.search.filter", "composed.search.top-k", "composed.search.union")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": "anchor", "filter": {"colour": "red"}}, ["colour", "file_type", "page", "title"]),
        ({"query": "anchor", "filter": {"page": True}}, ["page"]),
        ({"query": "anchor", "filter": {"title": ["x"]}}, ["title"]),
        ({"query": "anchor", "filter": "file_type"}, ["filter"]),
        ({"query": "anchor", "top_k": 0}, ["top_k"]),
        ({"query": "anchor", "top_k": 101}, ["top_k"]),
        ({"query": "anchor", "top_k": "five"}, ["top_k"]),
        ({"query": "anchor", "library": 5}, ["library"]),
        ({"query": "anchor", "source": 5}, ["source"]),
        ({"library": "docs"}, ["query"]),
    ],
    ids=str,
)
def test_wrong_arguments_are_errors_that_name_what_is_wrong(
    composed: Reader, arguments: Json, words: list[str]
) -> None:
    message = told(composed.call("search", **arguments))

    assert [word for word in words if word not in message] == []


# libraries


@requirement("composed.folder.library", "model.library")
def test_folders_of_one_name_are_libraries_of_different_names(portal: BlockingPortal, tmp_path: Path) -> None:
    first = write(tmp_path / "a" / "notes", {"one.md": "# One\n\nA platypus.\n"})
    second = write(tmp_path / "b" / "notes", {"two.md": "# Two\n\nA platypus.\n"})
    third = write(tmp_path / "c" / "wiki", {"three.md": "# Three\n\nA platypus.\n"})
    config = configure(tmp_path / "content", LIBRARY)
    arguments = (first, second, third, "--config", config, "--store", tmp_path / "store")

    with serving(portal, first, tmp_path / "log", *arguments, cwd=tmp_path) as reader:
        found = {one["title"]: one["library"] for one in results(reader.call("search", query="platypus"))}
        narrowed = {one["title"] for one in results(reader.call("search", query="platypus", library="notes-2"))}

    assert found == {"One": "notes", "Two": "notes-2", "Three": "wiki-2"}
    assert narrowed == {"Two"}


# small for the client


def weight(reader: Reader) -> int:
    """Return how many bytes the list of tools takes."""
    tools = [plain(tool) for tool in reader.portal.call(reader.client.list_tools).tools]
    return len(json.dumps(tools, ensure_ascii=False).encode())


@requirement("composed.faces")
@pytest.mark.parametrize(("face", "most"), [("", 20_000), ("docs", 2_000)])
def test_list_of_tools_is_small(portal: BlockingPortal, tmp_path: Path, face: str, most: int) -> None:
    folder = write(tmp_path / "notes", {**NOTES, "plan.org": "* TODO Sail\n"})
    config = configure(tmp_path / "content", LIBRARY)
    options = ("--face", face) if face else ("--config", config)

    with serving(portal, folder, tmp_path / "log", folder, *options, "--store", tmp_path / "store") as reader:
        found = names(reader)

        assert weight(reader) < most
        assert face or {"read", "ingest_file", "org-get-todos", "read_sections", "search_documents"} <= set(found)
