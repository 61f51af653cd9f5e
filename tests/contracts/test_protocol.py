"""The real server over real standard input and output, in every version of the protocol."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from bookwheel import VERSION
from contracts.conftest import LIBRARY
from contracts.harness import (
    ERAS,
    VERSIONS,
    Answer,
    Json,
    Reader,
    Wire,
    eventually,
    handshake,
    listening,
    request,
    requirement,
    serving,
    wired,
    write,
)

README: Json = {
    "uri": "docs://README.md",
    "name": "README.md",
    "title": "Project Overview",
    "description": "This project is a small library.",
    "mimeType": "text/markdown",
    "_meta": {"tags": []},
}
ANSWERS = {
    "docs": {"resources": {"subscribe": False, "listChanged": True}, "tools": {}},
    "sections": {"tools": {}},
}
NAMES = {"docs": "mcp-serve", "sections": "bookwheel"}
SPOKEN = {"docs": VERSIONS, "sections": (VERSIONS[0], VERSIONS[-1])}  # a server costs a second, and they share the code


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder of its own for a test that starts a server."""
    return write(tmp_path / "library", LIBRARY)


# greetings


@pytest.fixture(scope="module")
def greeted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], tuple[Wire, Json]]]:
    """Servers of both faces greeted in every version of the handshake, with what they answered."""
    base = tmp_path_factory.mktemp("greeted")
    folder = write(base / "library", LIBRARY)
    wires: dict[tuple[str, str], Wire] = {}
    with ExitStack() as stack:
        for face in NAMES:
            for version in SPOKEN[face]:
                home = base / f"{face}-{version}"
                options = ("--face", face, "--store", home)
                wires[face, version] = stack.enter_context(wired(home.with_suffix(".log"), folder, *options))
        for (_, version), wire in wires.items():
            wire.send(*handshake(version))
        yield {key: (wire, wire.answer(0)) for key, wire in wires.items()}
        for wire in wires.values():
            wire.leave()


@requirement(
    "faces.alone", "faces.identity.docs", "faces.identity.sections", "docs.capabilities", "docs.no-subscriptions"
)
@pytest.mark.parametrize(("face", "version"), [(face, version) for face in NAMES for version in SPOKEN[face]])
def test_initialize_is_answered_with_exactly_the_faces_capabilities_and_identity(
    greeted: dict[tuple[str, str], tuple[Wire, Json]], face: str, version: str
) -> None:
    _, answer = greeted[face, version]

    assert answer == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {
            "protocolVersion": version,
            "capabilities": ANSWERS[face],
            "serverInfo": {"name": NAMES[face], "version": VERSION},
        },
    }


@requirement("docs.resources.read", "docs.tool.definition", "faces.alone", "model.unknown-resource")
@pytest.mark.parametrize("version", VERSIONS)
def test_docs_answers_the_bare_wire_in_every_version(
    greeted: dict[tuple[str, str], tuple[Wire, Json]], version: str
) -> None:
    wire, _ = greeted["docs", version]
    text = str(LIBRARY["README.md"])

    wire.send(request(1, "resources/read", uri="docs://README.md"))
    read = wire.answer(1)
    wire.send(request(2, "resources/read", uri="docs://absent.md"))
    unknown = wire.answer(2)
    wire.send(request(3, "tools/list"))
    tools = wire.answer(3)

    assert read["result"]["contents"] == [{"uri": "docs://README.md", "mimeType": "text/markdown", "text": text}]
    assert unknown["error"]["code"] == -32602
    assert unknown["error"]["message"] == "Resource not found: docs://absent.md"
    assert [tool["name"] for tool in tools["result"]["tools"]] == ["search_documents"]


@requirement("docs.resources.list", "docs.tool.response")
@pytest.mark.parametrize("version", VERSIONS)
def test_docs_lists_and_searches_on_the_bare_wire_in_every_version(
    greeted: dict[tuple[str, str], tuple[Wire, Json]], version: str
) -> None:
    wire, _ = greeted["docs", version]

    wire.send(request(11, "resources/list"))
    listed = wire.answer(11)
    wire.send(request(12, "tools/call", name="search_documents", arguments={"query": "zeppelin"}))
    found = wire.answer(12)

    assert sorted(one["uri"] for one in listed["result"]["resources"]) == sorted(f"docs://{name}" for name in LIBRARY)
    assert found["result"]["content"][0]["text"].startswith(
        'Search results: 1 matches\n\n1. docs://guides/setup.md - "Setup Guide" (relevance: '
    )


@requirement("sections.error.format", "sections.answer.text", "faces.alone")
@pytest.mark.parametrize("version", SPOKEN["sections"])
def test_sections_answers_the_bare_wire_from_the_oldest_to_the_newest_version(
    greeted: dict[tuple[str, str], tuple[Wire, Json]], version: str
) -> None:
    wire, _ = greeted["sections", version]

    wire.send(request(1, "tools/call", name="table_of_contents", arguments={"filename": "README.md"}))
    contents = wire.answer(1)["result"]
    wire.send(request(2, "tools/call", name="table_of_contents", arguments={"filename": "absent.md"}))
    missing = wire.answer(2)["result"]
    wire.send(request(3, "tools/list"))
    tools = wire.answer(3)["result"]["tools"]

    assert json.loads(contents["content"][0]["text"]) == [
        {"id": "project-overview", "title": "Project Overview", "level": 1, "character_count": 53}
    ]
    assert not contents.get("isError")
    assert missing["isError"] is True
    assert json.loads(missing["content"][0]["text"])["error"]["code"] == "FILE_NOT_FOUND"
    assert [tool["name"] for tool in tools] == ["list_documentation_files", "table_of_contents", "read_sections"]


@requirement("faces.alone", "faces.identity.sections")
def test_sections_has_no_resources(greeted: dict[tuple[str, str], tuple[Wire, Json]]) -> None:
    wire, _ = greeted["sections", VERSIONS[-1]]

    wire.send(request(21, "resources/list"))

    assert wire.answer(21)["error"]["code"] == -32601


@requirement("faces.identity.docs", "faces.identity.sections", "docs.capabilities")
@pytest.mark.parametrize("face", NAMES)
def test_modern_client_learns_the_same_identity_and_what_is_there(
    served: Callable[[str, str], Reader], face: str
) -> None:
    client = served(face, "modern").client

    assert client.protocol_version == "2026-07-28"
    assert client.server_info
    assert (client.server_info.name, client.server_info.version) == (NAMES[face], VERSION)
    assert client.server_capabilities.tools is not None
    assert client.server_capabilities.prompts is None
    resources = client.server_capabilities.resources
    assert (resources.list_changed if resources else None) is (True if face == "docs" else None)


# the basic flows in both eras


@requirement("docs.startup.argument", "docs.resources.list", "docs.uri.scheme", "docs.name", "docs.mime")
def test_docs_server_lists_the_folder_it_is_given(docs_server: Reader) -> None:
    assert docs_server.resources() == [
        README,
        {
            "uri": "docs://api/reference.html",
            "name": "reference.html",
            "title": "Reference",
            "description": "All the calls.",
            "mimeType": "text/markdown",
            "_meta": {"tags": []},
        },
        {
            "uri": "docs://guides/setup.md",
            "name": "setup.md",
            "title": "Setup Guide",
            "description": "A working zeppelin.",
            "mimeType": "text/markdown",
            "_meta": {"tags": []},
        },
        {
            "uri": "docs://notes/memo.txt",
            "name": "memo.txt",
            "title": "Memo",
            "description": "Buy rope.",
            "mimeType": "text/plain",
            "_meta": {"tags": []},
        },
    ]


@requirement("docs.resources.read", "docs.read.bytes")
def test_docs_server_reads_a_file(docs_server: Reader) -> None:
    assert docs_server.read("docs://guides/setup.md") == [
        {"uri": "docs://guides/setup.md", "mimeType": "text/markdown", "text": LIBRARY["guides/setup.md"]}
    ]


@requirement("docs.tool.response", "docs.search.structured")
def test_docs_server_searches(docs_server: Reader) -> None:
    answer = docs_server.call("search_documents", query="rope")

    assert answer.data
    (result,) = answer.data["results"]
    assert answer.text == (
        f'Search results: 1 matches\n\n1. docs://notes/memo.txt - "Memo" (relevance: {result["relevance"]:.2f})\n'
        f"   Excerpt: {result['excerpt']}\n   Match location: content"
    )


@requirement("model.unknown-resource")
def test_docs_server_refuses_an_unknown_resource(docs_server: Reader) -> None:
    error = docs_server.refusal(lambda: docs_server.read("docs://absent%20one.md"))

    assert (error.code, error.message) == (-32602, "Resource not found: docs://absent%20one.md")


@requirement("model.containment.refused")
@pytest.mark.parametrize(
    "uri", ["docs://../greeted.md", "docs:///etc/passwd", "docs://%2e%2e/x.md", "file:///etc/passwd"]
)
def test_docs_server_refuses_what_lies_outside(docs_server: Reader, uri: str) -> None:
    error = docs_server.refusal(lambda: docs_server.read(uri))

    assert (error.code, error.message) == (-32602, f"Resource not found: {uri}")


@requirement("faces.alone")
@pytest.mark.parametrize("face", NAMES)
def test_unknown_tool_is_an_error_that_names_it(served: Callable[[str, str], Reader], era: str, face: str) -> None:
    reader = served(face, era)

    error = reader.refusal(lambda: reader.call("conjure"))

    assert error.code == -32602
    assert "conjure" in error.message


@requirement("sections.list.all", "sections.answer.text", "sections.answer.structured")
def test_sections_server_lists_the_markdown_files(sections_server: Reader) -> None:
    answer = sections_server.call("list_documentation_files")

    rows = json.loads(answer.text)
    assert answer == Answer([answer.text], {"result": rows})
    assert [(one["filename"], one["title"], one["keywords"], one["size"]) for one in rows] == [
        ("README.md", "README", [], "53b"),
        ("guides/setup.md", "setup", [], "83b"),
    ]


@requirement("sections.read.content", "sections.answer.structured")
def test_sections_server_reads_a_section(sections_server: Reader) -> None:
    answer = sections_server.call("read_sections", filename="guides/setup.md", section_ids=["setup-guide/steps"])

    rows = [{"title": "Steps", "content": "## Steps\n\nInstall the anchor.\n"}]
    assert (json.loads(answer.text), answer.data, answer.error) == (rows, {"result": rows}, False)


@requirement("sections.error.file-not-found", "sections.errors.object", "sections.error.format")
def test_sections_server_words_an_error_as_specified(sections_server: Reader) -> None:
    answer = sections_server.call("table_of_contents", filename="absent.md")

    fault = json.loads(answer.text)
    assert answer == Answer([answer.text], fault, error=True)
    assert {**fault["error"], "message": ""} == {
        "code": "FILE_NOT_FOUND",
        "message": "",
        "details": {"filename": "absent.md", "search_path": str(sections_server.folder)},
    }


# word of changes


@pytest.fixture(scope="module", params=ERAS)
def living(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A real docs server whose folder changes, with a client that hears of it, in each era."""
    base = tmp_path_factory.mktemp("living")
    folder = write(base / "library", {**LIBRARY, "fleeting.md": "# Fleeting\n", "growing.md": "# Small\n"})
    arguments = (folder, "--face", "docs", "--store", base / "store")
    with ExitStack() as stack:
        mode = ERAS[request.param]
        reader = stack.enter_context(serving(portal, folder, base / "log", *arguments, mode=mode))
        if request.param == "modern":
            stack.enter_context(listening(reader))
        reader.resources()
        yield reader


def titles(reader: Reader) -> set[str]:
    return {one["title"] for one in reader.resources()}


@requirement("model.list-changed", "docs.list-changed")
def test_added_file_is_told_and_listed(living: Reader) -> None:
    write(living.folder, {"new/added.md": "# Added\n"})

    living.await_change(lambda: "Added" in titles(living))


@requirement("model.list-changed", "docs.list-changed")
def test_changed_file_is_told_and_listed(living: Reader) -> None:
    write(living.folder, {"growing.md": "# Grown\n"})

    living.await_change(lambda: "Grown" in titles(living))


@requirement("model.list-changed", "docs.list-changed")
def test_removed_file_is_told_and_not_listed(living: Reader) -> None:
    (living.folder / "fleeting.md").unlink()

    living.await_change(lambda: "Fleeting" not in titles(living))


@requirement("model.list-changed", "docs.list-changed")
def test_removed_folder_is_told_and_its_files_are_not_listed(living: Reader) -> None:
    shutil.rmtree(living.folder / "guides")

    living.await_change(lambda: "Setup Guide" not in titles(living))


# the first request


@requirement("docs.index.first-search")
def test_search_is_complete_even_as_the_very_first_request(tmp_path: Path) -> None:
    folder = write(tmp_path / "library", {f"{n}.md": f"# Page {n}\n\n{'word ' * 200}\nzebra{n}\n" for n in range(450)})

    with wired(tmp_path / "log", folder, "--face", "docs", "--store", tmp_path / "store") as wire:
        search = request(1, "tools/call", name="search_documents", arguments={"query": "zebra449"})
        wire.send(*handshake("2025-11-25"), search)
        answer = wire.answer(1)["result"]

    assert answer["structuredContent"]["matches"] == 1
    assert [one["text"].split(" (")[0] for one in answer["content"]] == [
        'Search results: 1 matches\n\n1. docs://449.md - "Page 449"'
    ]


@requirement("docs.index.first-search", "docs.startup.default")
def test_first_message_of_a_modern_client_may_be_a_search_of_the_current_folder(
    portal: BlockingPortal, library: Path, tmp_path: Path
) -> None:
    arguments = ("--face", "docs", "--store", tmp_path / "store")

    with serving(portal, library, tmp_path / "log", *arguments, mode="2026-07-28", cwd=library) as reader:
        answer = reader.call("search_documents", query="zeppelin")
        listed = [one["uri"] for one in reader.resources()]

    assert answer.data
    assert [one["uri"] for one in answer.data["results"]] == ["docs://guides/setup.md"]
    assert listed == sorted(f"docs://{name}" for name in LIBRARY)


# what goes over the wire

GARBAGE = [
    b"garbage",
    b"",
    b"   ",
    b"{}",
    b"[]",
    b"null",
    b"42",
    b'"text"',
    b"\xff\xfe\x00\x01",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":77}',
    b'{"jsonrpc":"1.0","id":78,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":79,"method":5}',
    b'{"jsonrpc":"2.0","id":80,"method":"tools/list","params":"x"}',
    b'{"jsonrpc":"2.0","id":81,"method":"no/such/method"}',
    b'{"jsonrpc":"2.0","id":82,"method":"resources/read"}',
    b'{"jsonrpc":"2.0","id":83,"method":"resources/read","params":{"uri":5}}',
    b'{"jsonrpc":"2.0","id":84,"method":"resources/read","params":{"uri":"docs://\\ud800.md"}}',
    b'{"jsonrpc":"2.0","id":85,"method":"tools/call","params":{"name":"search_documents","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":86,"method":"tools/call","params":{"name":"search_documents","arguments":{"query":"\\udfff"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/unheard"}',
    b'{"jsonrpc":"2.0","id":87,"result":{}}',
    b'{"jsonrpc":"2.0","id":88,"method":"tools/list"',
    b"[" * 5000,
    b"x" * 200_000,
]


@requirement("model.stdout", "model.bad-file.others", "model.bad-file.reported")
def test_server_survives_garbage_and_says_nothing_but_json_rpc(library: Path, tmp_path: Path) -> None:
    with open(library / "huge.md", "wb") as huge:
        huge.truncate(10_485_761)
    arguments = (library, "--face", "docs", "--store", tmp_path / "store", "--log-level", "debug")

    with wired(tmp_path / "log", *arguments) as wire:
        wire.send(*handshake("2025-11-25"))
        wire.answer(0)
        wire.send(*GARBAGE)
        wire.send(request(1, "tools/call", name="search_documents", arguments={"query": "zeppelin"}))
        answer = wire.answer(1)

    assert answer["result"]["structuredContent"]["matches"] == 1
    assert [line for line in map(json.loads, wire.lines) if line["jsonrpc"] != "2.0"] == []
    assert wire.process.returncode == 0
    assert "huge.md" in wire.log.read_text("utf-8")


# sections: settings, changes, permissions


@requirement(
    "sections.config.file",
    "sections.config.documentation-path",
    "sections.config.auto-index",
    "sections.config.refresh-interval",
    "sections.config.max-file-size",
    "sections.config.exclude",
    "sections.config.include",
    "sections.follows",
)
def test_config_file_with_the_specified_keys_is_followed_and_so_are_changes(
    portal: BlockingPortal, tmp_path: Path
) -> None:
    folder = write(
        tmp_path / "documentation",
        {
            "a.md": "# A\n",
            "deep/b.md": "# B\n",
            "drafts/c.md": "# C\n",
            "d.draft.md": "# D\n",
            "big.md": "# Big\n" + "x" * 100,
        },
    )
    config = tmp_path / "config.json"
    config.write_text(
        json.dumps(
            {
                "documentation_path": str(folder),
                "auto_index": True,
                "index_refresh_interval": 1,
                "max_file_size": 100,
                "exclude_patterns": ["drafts/**", "*.draft.md"],
                "include_patterns": ["**/*.md"],
            }
        )
    )
    arguments = ("--config", config, "--face", "sections", "--store", tmp_path / "store")

    def readable() -> list[str]:
        rows = json.loads(reader.call("list_documentation_files").text)
        return [one["filename"] for one in rows if one["filename"] != "big.md"]

    with serving(portal, folder, tmp_path / "log", *arguments) as reader:
        assert readable() == ["a.md", "deep/b.md"]
        large = reader.call("table_of_contents", filename="big.md")
        write(folder, {"deep/new.md": "# New\n"})
        eventually(readable, ["a.md", "deep/b.md", "deep/new.md"])
        (folder / "a.md").unlink()
        eventually(readable, ["deep/b.md", "deep/new.md"])

    assert json.loads(large.text)["error"]["code"] == "FILE_TOO_LARGE"


@requirement("sections.fresh", "sections.config.auto-index", "sections.config.file")
def test_read_is_fresh_also_where_the_index_does_not_follow(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "documentation", {"page.md": "# A\n\nold\n"})
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"documentation_path": str(folder), "auto_index": False}))
    arguments = ("--config", config, "--face", "sections", "--store", tmp_path / "store")

    with serving(portal, folder, tmp_path / "log", *arguments, mode="auto") as reader:
        before = reader.call("read_sections", filename="page.md", section_ids=["a"])
        write(folder, {"page.md": "# A\n\nnew\n\n## B\n"})
        after = reader.call("read_sections", filename="page.md", section_ids=["a", "a/b"])

    assert before.data == {"result": [{"title": "A", "content": "# A\n\nold\n"}]}
    assert after.data == {
        "result": [{"title": "A", "content": "# A\n\nnew\n\n## B\n"}, {"title": "B", "content": "## B\n"}]
    }


POWERLESS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")  # root reads everything


@requirement("sections.error.permission-denied", "model.bad-file.others", "model.bad-file.reported")
@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which(POWERLESS[0]), reason="nothing is forbidden to root without setpriv"
)
def test_file_that_may_not_be_read_is_denied_and_the_others_are_not(
    portal: BlockingPortal, library: Path, tmp_path: Path
) -> None:
    write(library, {"locked.md": "# Locked\n"})
    (library / "locked.md").chmod(0)
    arguments = (library, "--face", "sections", "--store", tmp_path / "store")
    prefix = POWERLESS if os.geteuid() == 0 else ()

    with serving(portal, library, tmp_path / "log", *arguments, prefix=prefix) as reader:
        contents = reader.call("table_of_contents", filename="locked.md")
        section = reader.call("read_sections", filename="locked.md", section_ids=["locked"])
        other = reader.call("table_of_contents", filename="README.md")
        listed = [one["filename"] for one in json.loads(reader.call("list_documentation_files").text)]

    for answer in (contents, section):
        fault = json.loads(answer.text)["error"]
        assert (fault["code"], fault["details"]["filename"]) == ("PERMISSION_DENIED", "locked.md")
    assert not other.error
    assert {"README.md", "guides/setup.md"} <= set(listed)
    assert "locked.md" in (tmp_path / "log").read_text("utf-8")
