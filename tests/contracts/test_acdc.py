"""The acdc contract: who the server is, which files are resources, and how they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import unquote

import pytest
from anyio.from_thread import BlockingPortal

from contracts.conftest import Open
from contracts.harness import (
    ERAS,
    PATIENCE,
    VERSIONS,
    Json,
    Reader,
    eventually,
    handshake,
    listening,
    request,
    requirement,
    serving,
    wired,
    write,
)
from contracts.sources import ENTRIES, IDENTITY, LIBRARY, Content, configure, hits, location, page, template

SHOWN = ("uri", "name", "description", "mimeType")


def entries(reader: Reader) -> list[Json]:
    """Return the resources as far as the contract defines them."""
    return [{key: one[key] for key in SHOWN} for one in reader.resources()]


def names(reader: Reader) -> list[str]:
    return sorted(one["name"] for one in reader.resources())


# who it is


@requirement(
    "faces.alone",
    "faces.identity.acdc",
    "acdc.config.server-name",
    "acdc.config.server-version",
    "acdc.config.server-instructions",
    "acdc.instructions",
    "acdc.principle.config",
    "acdc.stdio.input",
    "acdc.stdio.output",
)
@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_initialize_tells_the_identity_and_the_instructions_of_the_config(tmp_path: Path, version: str) -> None:
    config = configure(tmp_path / "content", LIBRARY)

    with wired(tmp_path / "log", "--face", "acdc", "--config", config, "--store", tmp_path / "store") as wire:
        wire.send(*handshake(version), request(1, "tools/list"))
        greeting = wire.answer(0)["result"]
        tools = wire.answer(1)["result"]["tools"]

    assert {key: greeting["serverInfo"][key] for key in ("name", "version")} == {
        key: IDENTITY[key] for key in ("name", "version")
    }
    assert (greeting["protocolVersion"], greeting["instructions"]) == (version, IDENTITY["instructions"])
    assert greeting["capabilities"].keys() == {"prompts", "resources", "tools"}
    assert greeting["capabilities"]["resources"]["listChanged"] is True
    assert greeting["capabilities"]["prompts"]["listChanged"] is True
    assert sorted(tool["name"] for tool in tools) == ["read", "search"]
    assert [line for line in map(json.loads, wire.lines) if line["jsonrpc"] != "2.0"] == []


@requirement("faces.identity.acdc", "acdc.instructions", "acdc.principle.config")
def test_both_eras_learn_the_same_identity_and_what_is_there(acdc_server: Reader) -> None:
    client = acdc_server.client

    assert client.server_info
    assert (client.server_info.name, client.server_info.version) == (IDENTITY["name"], IDENTITY["version"])
    assert client.instructions == IDENTITY["instructions"]
    assert client.server_capabilities.tools is not None
    assert client.server_capabilities.resources is not None
    assert client.server_capabilities.prompts is not None


@requirement("acdc.config.server-instructions", "acdc.config.server-name", "acdc.config.server-version")
def test_identity_is_told_as_it_is_written(acdc: Open) -> None:
    odd = {"name": "Bücherei “#1”: all", "version": "2.0.0-rc.1+b7", "instructions": "One.\n\n  Two: 日本 {x}\n"}

    client = acdc({"docs": location({"a.md": page("A")})}, server=odd).client

    assert client.server_info
    assert {
        "name": client.server_info.name,
        "version": client.server_info.version,
        "instructions": client.instructions,
    } == odd


# tools


@requirement("acdc.tools.always", "acdc.search.input", "acdc.read.input", "acdc.principle.discovery", "faces.alone")
def test_there_are_search_and_read_with_the_specified_arguments(acdc_server: Reader) -> None:
    tools = {tool["name"]: tool["inputSchema"] for tool in acdc_server.tools()}

    assert tools.keys() == {"search", "read"}
    assert {name: schema["required"] for name, schema in tools.items()} == {"search": ["query"], "read": ["uri"]}
    assert {
        name: {
            key: (value["type"], value["description"].partition(";")[0]) for key, value in schema["properties"].items()
        }
        for name, schema in tools.items()
    } == {
        "search": {
            "query": ("string", "Natural language or keyword query"),
            "source": ("string", "Filter results to a specific content source"),
        },
        "read": {"uri": ("string", "The acdc:// URI of the resource (e.g., acdc://docs/guide)")},
    }


@requirement("acdc.config.tools-default", "acdc.tools.descriptions")
def test_tools_are_described_without_any_word_in_the_config(acdc_server: Reader) -> None:
    assert [tool["name"] for tool in acdc_server.tools() if len(tool["description"].split()) < 8] == []


@requirement("acdc.config.tools", "acdc.config.tools-default", "acdc.tools.descriptions")
@pytest.mark.parametrize(("custom", "other"), [("search", "read"), ("read", "search")])
def test_description_in_the_config_replaces_that_tools_alone(
    acdc: Open, acdc_reader: Reader, custom: str, other: str
) -> None:
    given = {"name": custom, "description": "Ask the harbour master."}

    tools = {tool["name"]: tool for tool in acdc({"docs": location({"a.md": page("A")})}, tools=[given]).tools()}

    default = {tool["name"]: tool for tool in acdc_reader.tools()}
    assert tools == {custom: {**default[custom], "description": "Ask the harbour master."}, other: default[other]}


@requirement("acdc.search.input", "acdc.read.input")
@pytest.mark.parametrize(
    ("tool", "arguments", "culprit"),
    [
        ("search", {}, "query"),
        ("search", {"query": 5}, "query"),
        ("search", {"query": None}, "query"),
        ("search", {"query": "anchor", "source": 5}, "source"),
        ("search", {"query": "anchor", "source": ["docs"]}, "source"),
        ("read", {}, "uri"),
        ("read", {"uri": 5}, "uri"),
        ("read", {"uri": ["acdc://docs/guide"]}, "uri"),
    ],
)
def test_arguments_that_break_the_schema_are_errors_that_name_the_argument(
    acdc_server: Reader, tool: str, arguments: dict[str, object], culprit: str
) -> None:
    answer = acdc_server.call(tool, **arguments)

    assert answer.error
    assert culprit in answer.text


@requirement("acdc.tools.always", "faces.alone")
def test_unknown_tool_is_an_error_that_names_it(acdc_server: Reader) -> None:
    error = acdc_server.refusal(lambda: acdc_server.call("search_documents"))

    assert error.code == -32602
    assert "search_documents" in error.message


# resources


@requirement(
    "acdc.mcp.resources",
    "acdc.mcp.uri",
    "acdc.mcp.name",
    "acdc.mcp.description",
    "acdc.mcp.mime",
    "acdc.resources.discovery",
    "acdc.uri.format",
    "acdc.uri.example",
    "acdc.uri.slashes",
    "acdc.file.name",
    "acdc.file.description",
    "acdc.resource.only",
    "acdc.principle.sources",
    "acdc.location.resources",
    "acdc.config.content",
    "model.uri.encoded",
)
def test_every_markdown_file_with_name_and_description_is_listed_and_nothing_else(acdc_server: Reader) -> None:
    assert entries(acdc_server) == [{**one, "mimeType": "text/markdown"} for one in ENTRIES]


ODD_NAMES = [
    "my file[1] ü #.md",
    "100%.md",
    "50%25.md",
    "what?.md",
    "a%20b.md",
    "plus+and&=;,.md",
    "colon: quote' \"star*.md",
    "日本語/ページ 1.md",
    "dir #1/v1.2 notes.md",
    "twice.md.md",
    "tilde~{brace}|^`.md",
]


@pytest.fixture(scope="module")
def oddities(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A server of files with names that need care."""
    base = tmp_path_factory.mktemp("odd")
    files = {name: page(f"Page {number}", body=f"Body {number}.\n") for number, name in enumerate(ODD_NAMES)}
    config = configure(base / "content", {"docs": location(files)})
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with serving(portal, config.parent, base / "log", *arguments, cwd=base) as reader:
        yield reader


@requirement("model.uri.encoded", "model.uri.accepted", "model.uri.compared", "acdc.uri.format", "acdc.read.resolves")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_file_name_round_trips_as_a_uri_encoded_and_raw(oddities: Reader, name: str) -> None:
    number = ODD_NAMES.index(name)

    (uri,) = [one["uri"] for one in oddities.resources() if one["name"] == f"Page {number}"]

    assert re.fullmatch(r"acdc://docs/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", uri, re.ASCII)
    assert unquote(uri) == f"acdc://docs/{name.removesuffix('.md')}"
    for spelling in (uri, f"acdc://docs/{name.removesuffix('.md')}"):
        assert oddities.text(spelling) == f"Body {number}.\n"
        assert oddities.call("read", uri=spelling).text == f"Body {number}.\n"


@requirement("model.uri.encoded", "model.uri.accepted", "acdc.config.content-name", "acdc.prompts.namespace")
def test_source_may_be_named_as_people_name_things(acdc: Open) -> None:
    prompts = {"hail.md": template("hail", "Ahoy.\n")}
    reader = acdc({"Team Wiki ü": location({"a b.md": page("A", body="The body.\n")}, prompts)})

    (uri,) = [one["uri"] for one in reader.resources()]

    assert uri == "acdc://Team%20Wiki%20%C3%BC/a%20b"
    assert reader.call("read", uri=uri).text == "The body.\n"
    assert [
        one[:3] for one in hits(reader.call("search", query="body", source="Team Wiki ü"), "body", "Team Wiki ü")
    ] == [("Team Wiki ü", "A", uri)]
    assert [one["name"] for one in reader.prompts()] == ["Team Wiki ü:hail"]


BAD_FILES: dict[str, tuple[str | bytes, str]] = {
    "no-front-matter.md": ("# Heading\n\nText.\n", "front matter|name"),
    "unclosed.md": ("---\nname: A\ndescription: B\n\nText.\n", "front matter|name"),
    "empty-file.md": ("", "front matter|name"),
    "no-name.md": ("---\ndescription: B\n---\nText.\n", "name"),
    "no-description.md": ("---\nname: A\n---\nText.\n", "description"),
    "empty-name.md": ("---\nname: ''\ndescription: B\n---\nText.\n", "name"),
    "blank-description.md": ("---\nname: A\ndescription: '  '\n---\nText.\n", "description"),
    "null-name.md": ("---\nname:\ndescription: B\n---\nText.\n", "name"),
    "number-name.md": ("---\nname: 5\ndescription: B\n---\nText.\n", "name"),
    "list-description.md": ("---\nname: A\ndescription: [B]\n---\nText.\n", "description"),
    "no-yaml.md": ("---\nname: [unclosed\ndescription: B\n---\nText.\n", "front matter"),
    "yaml-list.md": ("---\n- name\n- description\n---\nText.\n", "front matter"),
    "binary.md": (bytes(range(256)) * 8, ""),
}


@pytest.fixture(scope="module")
def spoiled(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A server of one good file among bad ones."""
    base = tmp_path_factory.mktemp("bad")
    files = {**{name: text for name, (text, _) in BAD_FILES.items()}, "good.md": page("Good", body="A lone walrus.\n")}
    config = configure(base / "content", {"docs": location(files)})
    (base / "content/docs/mcp-resources/nowhere.md").symlink_to(base / "absent.md")
    (base / "content/docs/mcp-resources/folder.md").mkdir()
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with serving(portal, config.parent, base / "log", *arguments, cwd=base) as reader:
        yield reader


@requirement("model.bad-file.others", "model.front-matter.acdc", "acdc.resource.only", "acdc.file.format")
def test_bad_files_do_not_keep_the_good_one_from_being_served(spoiled: Reader) -> None:
    assert [one["uri"] for one in spoiled.resources()] == ["acdc://docs/good"]
    assert [one[2] for one in hits(spoiled.call("search", query="walrus"), "walrus")] == ["acdc://docs/good"]
    assert [one[2] for one in hits(spoiled.call("search", query="*"), "*")] == ["acdc://docs/good"]


@requirement("acdc.resource.skipped", "model.front-matter.acdc", "model.bad-file.reported", "acdc.stdio.errors")
@pytest.mark.parametrize("name", BAD_FILES)
def test_skipped_file_is_named_in_a_warning_with_the_reason(spoiled: Reader, name: str) -> None:
    reason = BAD_FILES[name][1]
    spoiled.resources()

    def warned() -> bool:
        lines = [line for line in spoiled.said().splitlines() if re.search(rf"(?<![\w-]){re.escape(name)}", line)]
        return any(re.search(reason, line.replace(name, ""), re.IGNORECASE) for line in lines)

    eventually(warned, True, PATIENCE)


@requirement("acdc.resource.only", "model.unknown-resource")
@pytest.mark.parametrize("name", BAD_FILES)
def test_skipped_file_cannot_be_read(spoiled: Reader, name: str) -> None:
    uri = f"acdc://docs/{name.removesuffix('.md')}"

    error = spoiled.refusal(lambda: spoiled.read(uri))
    answer = spoiled.call("read", uri=uri)

    assert uri in error.message
    assert answer.error
    assert uri in answer.text


@requirement("model.front-matter.keys", "acdc.file.name", "acdc.file.description", "acdc.file.keywords")
def test_keys_of_the_front_matter_count_in_any_case(acdc: Open) -> None:
    reader = acdc(
        {"docs": location({"a.md": "---\nNAME: Given\nDescription: Said.\nKeywords: [walrus]\n---\nText.\n"})}
    )

    assert entries(reader) == [
        {"uri": "acdc://docs/a", "name": "Given", "description": "Said.", "mimeType": "text/markdown"}
    ]
    assert [one[1] for one in hits(reader.call("search", query="walrus"), "walrus")] == ["Given"]


@requirement("acdc.resources.discovery", "acdc.mcp.resources")
def test_long_list_holds_every_file_once(acdc: Open) -> None:
    files = {f"folder {number % 7}/page {number}.md": page(f"Page {number}") for number in range(450)}

    reader = acdc({"docs": location(files)}, era="modern")

    assert names(reader) == sorted(f"Page {number}" for number in range(450))


# reading

HEAD = "---\nname: A\ndescription: B\n---\n"
BODIES: dict[str, tuple[str, str]] = {
    "blank-line": (f"{HEAD}\n# A\n\nText.\n", "\n# A\n\nText.\n"),
    "blank-lines": (f"{HEAD}\n\n  indented\n\n\n", "\n\n  indented\n\n\n"),
    "no-final-newline": (f"{HEAD}Text. ", "Text. "),
    "rules": (f"{HEAD}One\n\n---\n\nname: no\n---\nTwo\n", "One\n\n---\n\nname: no\n---\nTwo\n"),
    "windows": (HEAD.replace("\n", "\r\n") + "One\r\n\r\nTwo\r\n", "One\r\n\r\nTwo\r\n"),
    "mark": (f"\ufeff{HEAD}Text.\n", "Text.\n"),
    "mark-windows": ("\ufeff" + HEAD.replace("\n", "\r\n") + "Text.\r\n", "Text.\r\n"),
    "mixed": (f"{HEAD}One\r\nTwo\nThree \t\n", "One\r\nTwo\nThree \t\n"),
    "unicode": (f"{HEAD}ü 日本 \U0001f40b e\u0301 \u2028 \u0085\n", "ü 日本 \U0001f40b e\u0301 \u2028 \u0085\n"),
    "nothing": (HEAD, ""),
    "markup": (f"{HEAD}<!-- x -->\n```\n# y\n```\n{{{{.z}}}}\n", "<!-- x -->\n```\n# y\n```\n{{.z}}\n"),
}


@pytest.fixture(scope="module", params=ERAS)
def bodies(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server of files whose bodies need care, in each era."""
    base = tmp_path_factory.mktemp("bodies")
    files = {f"{name}.md": text for name, (text, _) in BODIES.items()}
    config = configure(base / "content", {"docs": location(files)})
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with serving(portal, config.parent, base / "log", *arguments, mode=ERAS[request.param], cwd=base) as reader:
        yield reader


@requirement(
    "acdc.read.all",
    "acdc.read.body",
    "acdc.read.output",
    "acdc.read.unchanged",
    "acdc.mcp.mime",
    "model.scanner.bom-crlf",
)
@pytest.mark.parametrize("name", BODIES)
def test_read_gives_the_body_right_after_the_front_matter_unchanged(bodies: Reader, name: str) -> None:
    uri, body = f"acdc://docs/{name}", BODIES[name][1]

    answer = bodies.call("read", uri=uri)

    assert (answer.text, answer.error) == (body, False)
    assert bodies.read(uri) == [{"uri": uri, "mimeType": "text/markdown", "text": body}]


@requirement("acdc.read.resolves", "acdc.principle.sources")
def test_same_path_in_two_sources_is_two_resources(acdc_server: Reader) -> None:
    assert acdc_server.call("read", uri="acdc://docs/guide").text == "\n# Anchors\n\nDrop the anchor slowly.\n"
    assert acdc_server.call("read", uri="acdc://wiki/guide").text == "Nothing but a submarine.\n"


UNKNOWN = [
    "acdc://docs/absent",
    "acdc://nowhere/guide",
    "acdc://wiki/guides/getting-started",
    "acdc://docs/home",
    "acdc://docs/guide.md",
    "acdc://docs/guides",
    "acdc://docs/plain",
    "acdc://docs/notes",
    "acdc://docs",
    "acdc://docs/",
    "acdc://",
    "acdc:///guide",
    "docs://docs/guide",
    "docs/guide",
    "guide",
    "file:///etc/passwd",
    "",
]


@requirement("model.unknown-resource", "acdc.read.resolves")
@pytest.mark.parametrize("uri", UNKNOWN)
def test_unknown_resource_is_an_error_that_names_it(acdc_server: Reader, uri: str) -> None:
    error = acdc_server.refusal(lambda: acdc_server.read(uri))
    answer = acdc_server.call("read", uri=uri)

    assert error.code == -32602
    for message in (error.message, answer.text):
        assert uri in message
        assert "not found" in message.lower()
    assert answer.error


OUTSIDE = [
    "docs/../../{}",
    "docs/..%2f..%2f{}",
    "docs/%2e%2e/%2e%2e/{}",
    "docs/%2E%2e%2f%2e%2E%2F{}",
    "docs/guides/../../../{}",
    "docs/./../../{}",
    "docs/..\\..\\{}",
    "docs/..%5c..%5c{}",
    "docs/%252e%252e/%252e%252e/{}",
    "docs/../../{}%00",
    "docs/guide\0{}",
    "docs/linked/{}",
    "docs/linked%2f{}",
    "../{}",
    "%2e%2e/{}",
    "docs//{}",
    "docs/%2f{}",
    "docs/C:\\{}",
    "..%2f{}",
]


@pytest.fixture(scope="module")
def fenced(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A server with secrets beside its files, and links that lead to them."""
    base = tmp_path_factory.mktemp("fenced")
    config = configure(base / "content", {**LIBRARY})
    secret = (
        write(base / "content", {"secret.md": page("Secret", "Told to nobody.", "A hidden narwhal.\n")}) / "secret.md"
    )
    inside = base / "content/docs/mcp-resources"
    (inside / "linked").symlink_to(base / "content")
    (inside / "link.md").symlink_to(secret)
    (inside / "dangling.md").symlink_to(base / "absent.md")
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with serving(portal, config.parent, base / "log", *arguments, cwd=base) as reader:
        yield reader


@requirement("model.containment.refused", "model.containment.no-hint", "model.containment.decode-once")
@pytest.mark.parametrize("spelling", OUTSIDE, ids=ascii)
def test_what_lies_outside_is_unknown_whether_it_exists_or_not(fenced: Reader, spelling: str) -> None:
    def told(name: str) -> tuple[int, str, str]:
        uri = f"acdc://{spelling.format(name)}"
        error = fenced.refusal(lambda: fenced.read(uri))
        answer = fenced.call("read", uri=uri)
        assert uri in error.message
        assert answer.error
        return error.code, error.message.replace(uri, "URI"), answer.text.replace(uri, "URI")

    assert told("secret") == told("absent") == told("secret.md")


@requirement("model.containment.refused", "acdc.location.prompts")
@pytest.mark.parametrize(
    "uri",
    [
        "acdc://docs/../mcp-prompts/code-review",
        "acdc://docs/%2e%2e/mcp-prompts/code-review",
        "acdc://docs/../../wiki/mcp-resources/home",
        "acdc://docs/../mcp-resources/guide",
        "acdc://docs/../wiki/home",
        "acdc://docs/%2e%2e/wiki/home",
        "acdc://docs//etc/passwd",
        "acdc://docs/%2Fetc%2Fpasswd",
    ],
)
def test_prompts_and_other_sources_are_not_reached_by_a_path(fenced: Reader, uri: str) -> None:
    error = fenced.refusal(lambda: fenced.read(uri))
    answer = fenced.call("read", uri=uri)

    assert uri in error.message
    assert answer.error
    assert uri in answer.text


@requirement("model.containment.refused")
def test_absolute_paths_are_unknown(fenced: Reader) -> None:
    places = [fenced.folder / "secret", fenced.folder / "secret.md", fenced.folder / "docs/mcp-resources/guide"]

    answers = [fenced.call("read", uri=f"acdc://docs/{place}") for place in places]

    assert [answer.error for answer in answers] == [True, True, True]


@requirement("model.containment.links", "model.containment.no-hint")
def test_links_that_lead_out_are_neither_listed_nor_found_nor_read(fenced: Reader) -> None:
    assert [one["uri"] for one in fenced.resources()] == [one["uri"] for one in ENTRIES]
    assert fenced.call("search", query="narwhal").text == "No results found for 'narwhal'"
    for name in ("link", "dangling", "linked/secret"):
        assert fenced.call("read", uri=f"acdc://docs/{name}").error


# changes while running

GROWING: Content = {
    "docs": location(
        {
            "fleeting.md": page("Fleeting"),
            "growing.md": page("Small", body="An ostrich.\n"),
            "fragile.md": page("Fragile", body="A penguin.\n"),
        }
    ),
    "wiki": location({"home.md": page("Home")}),
}


@pytest.fixture(scope="module", params=ERAS)
def living(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server whose files change, with a client that hears of it, in each era."""
    base = tmp_path_factory.mktemp("living")
    config = configure(base / "content", GROWING)
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with ExitStack() as stack:
        running = serving(portal, config.parent, base / "log", *arguments, mode=ERAS[request.param], cwd=base)
        reader = stack.enter_context(running)
        if request.param == "modern":
            stack.enter_context(listening(reader))
        reader.resources()
        yield reader


def found(reader: Reader, query: str) -> Callable[[], str]:
    """Return what searches anew and gives the names of the hits."""
    return lambda: ", ".join(one[1] for one in hits(reader.call("search", query=query), query))


@requirement("model.list-changed", "acdc.resources.discovery")
def test_added_file_is_told_listed_found_and_read(living: Reader) -> None:
    write(living.folder / "wiki/mcp-resources", {"new/added.md": page("Added", body="A flamingo.\n")})

    living.await_change(lambda: "Added" in names(living))
    eventually(found(living, "flamingo"), "Added")
    assert living.call("read", uri="acdc://wiki/new/added").text == "A flamingo.\n"


@requirement("model.list-changed", "acdc.mcp.name")
def test_changed_file_is_told_and_answered_anew(living: Reader) -> None:
    write(living.folder / "docs/mcp-resources", {"growing.md": page("Grown", body="A cormorant.\n")})

    assert living.call("read", uri="acdc://docs/growing").text == "A cormorant.\n"
    living.await_change(lambda: "Grown" in names(living))
    eventually(found(living, "cormorant"), "Grown")
    eventually(found(living, "ostrich"), "")


@requirement("model.list-changed", "model.unknown-resource")
def test_removed_file_is_told_and_gone(living: Reader) -> None:
    (living.folder / "docs/mcp-resources/fleeting.md").unlink()

    living.await_change(lambda: "Fleeting" not in names(living))
    assert living.call("read", uri="acdc://docs/fleeting").error
    eventually(found(living, "fleeting"), "")


@requirement("model.list-changed", "acdc.resource.only", "acdc.resource.skipped", "model.front-matter.acdc")
def test_file_that_turns_bad_is_gone_and_comes_back_when_it_is_mended(living: Reader) -> None:
    folder = living.folder / "docs/mcp-resources"

    write(folder, {"fragile.md": "---\nname: [unclosed\n---\nA penguin.\n"})
    living.await_change(lambda: "Fragile" not in names(living))
    eventually(found(living, "penguin"), "")
    assert living.call("read", uri="acdc://docs/fragile").error
    eventually(lambda: "fragile.md" in living.said(), True)
    write(folder, {"fragile.md": page("Mended", body="A penguin.\n")})
    living.await_change(lambda: "Mended" in names(living))
    eventually(found(living, "penguin"), "Mended")


@requirement("acdc.index.startup", "acdc.search.all")
def test_search_is_complete_even_as_the_very_first_request(tmp_path: Path) -> None:
    files = {f"{n}.md": page(f"Page {n}", body=f"{'word ' * 200}\nzebra{n}\n") for n in range(450)}
    config = configure(tmp_path / "content", {"docs": location(files)})

    with wired(tmp_path / "log", "--face", "acdc", "--config", config, "--store", tmp_path / "store") as wire:
        search = request(1, "tools/call", name="search", arguments={"query": "zebra449"})
        wire.send(*handshake("2025-11-25"), search)
        (content,) = wire.answer(1)["result"]["content"]

    assert content["text"].startswith("Search results for 'zebra449':\n\n- [docs] [Page 449](acdc://docs/449): ")
