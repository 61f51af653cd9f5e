"""The org contract: who the server is, what its resources are, and how headlines are addressed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from contracts.conftest import Start
from contracts.harness import (
    VERSIONS,
    Json,
    Reader,
    handshake,
    plain,
    refused,
    request,
    requirement,
    serving,
    wired,
    write,
)
from contracts.notebook import KINDS, LIBRARY, ODD, PLAN_ID, TASKS, fault, found, outline, told

FILES = [
    "config/inner.org",
    "id/inner.org",
    "kinds.org",
    "odd.org",
    "one/twin.org",
    "sub%20folder/my%20file%5B1%5D%20%C3%BC%20%23.org",
    "sub/deep/lonely.org",
    "tasks.org",
    "two/twin.org",
]
ARGUMENTS: dict[str, tuple[set[str], dict[str, str]]] = {
    "org-search-headlines": (
        {"query"},
        {"query": "string", "files": "array", "tags": "array", "excludeTags": "array", "caseSensitive": "boolean"},
    ),
    "org-get-todos": (
        set(),
        {
            "files": "array",
            "states": "array",
            "tags": "array",
            "scheduled": "object",
            "deadline": "object",
            "includeArchived": "boolean",
        },
    ),
    "org-search-content": (
        {"query"},
        {"query": "string", "files": "array", "includeArchived": "boolean", "maxResults": "number"},
    ),
    "org-update-todo-state": (
        {"resourceUri", "currentState", "newState"},
        {"resourceUri": "string", "currentState": "string", "newState": "string", "note": "string"},
    ),
    "org-schedule-task": (
        {"resourceUri"},
        {
            "resourceUri": "string",
            "scheduled": "string",
            "deadline": "string",
            "removeScheduled": "boolean",
            "removeDeadline": "boolean",
            "note": "string",
        },
    ),
    "org-get-properties": ({"resourceUri"}, {"resourceUri": "string", "properties": "array"}),
    "org-get-todo-config": (set(), {}),
    "org-get-tag-config": (set(), {}),
}


# who it is


@requirement("faces.alone", "faces.identity.org", "model.stdout")
@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_initialize_tells_who_it_is_and_what_it_can(tmp_path: Path, version: str) -> None:
    folder = write(tmp_path / "notes", LIBRARY)

    with wired(tmp_path / "log", folder, "--face", "org", "--store", tmp_path / "store") as wire:
        wire.send(*handshake(version), request(1, "tools/list"))
        greeting = wire.answer(0)["result"]
        tools = wire.answer(1)["result"]["tools"]

    assert greeting["serverInfo"]["name"] == "org-mcp"
    assert greeting["protocolVersion"] == version
    assert greeting["capabilities"].keys() == {"resources", "tools"}
    assert greeting["capabilities"]["resources"]["listChanged"] is True
    assert sorted(tool["name"] for tool in tools) == sorted(ARGUMENTS)
    assert [line for line in map(json.loads, wire.lines) if line["jsonrpc"] != "2.0"] == []


@requirement(
    "faces.alone",
    "org.headlines.query",
    "org.headlines.files",
    "org.headlines.tags",
    "org.headlines.exclude-tags",
    "org.todos.purpose",
    "org.todos.files",
    "org.todos.states",
    "org.content.query",
    "org.content.files",
    "org.content.most",
    "org.update.uri",
    "org.update.current",
    "org.update.new",
    "org.note",
    "org.schedule.uri",
    "org.schedule.scheduled",
    "org.schedule.deadline",
    "org.properties.uri",
    "org.properties.some",
)
def test_tools_have_the_specified_arguments(org_server: Reader) -> None:
    schemas = {tool["name"]: tool["inputSchema"] for tool in org_server.tools()}

    assert {
        name: (
            set(schema.get("required", ())),
            {argument: about["type"] for argument, about in schema["properties"].items()},
        )
        for name, schema in schemas.items()
    } == ARGUMENTS
    assert {
        about["items"]["type"]
        for schema in schemas.values()
        for about in schema["properties"].values()
        if about["type"] == "array"
    } == {"string"}


@requirement("org.headlines.case", "org.content.archived", "org.todos.archived")
@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("org-search-headlines", "caseSensitive"),
        ("org-search-content", "includeArchived"),
        ("org-get-todos", "includeArchived"),
    ],
)
def test_switches_are_off_by_default(org_reader: Reader, tool: str, argument: str) -> None:
    (schema,) = [one["inputSchema"] for one in org_reader.tools() if one["name"] == tool]

    assert schema["properties"][argument]["default"] is False


@requirement("org.no-emacs")
def test_no_emacs_is_needed(org: Start, tmp_path: Path) -> None:
    reader = org({"a.org": "* TODO A\n"}, env={"PATH": str(tmp_path / "nothing")})

    assert told(
        reader.call("org-update-todo-state", resourceUri="org://a.org/headline/A", currentState="TODO", newState="DONE")
    )["success"]


# resources


@requirement("org.resources.listed", "org.resources.no-views", "model.uri.encoded", "org.archive-files")
def test_every_file_and_its_outline_is_listed_and_the_configuration(org_server: Reader) -> None:
    listed = [one["uri"] for one in org_server.resources()]

    expected = [f"org://{name}{view}" for name in FILES for view in ("", "/outline")]
    assert sorted(listed) == sorted([*expected, "org://config/todo-states"])


@requirement("org.principle.uri", "org.uri.reserved", "org.uri.slashes", "model.uri.accepted")
def test_every_listed_resource_can_be_read(org_server: Reader) -> None:
    for one in org_server.resources():
        (content,) = org_server.read(one["uri"])
        assert (content["uri"], content["mimeType"]) == (one["uri"], one["mimeType"])


@requirement("org.templates", "org.uri.file", "org.uri.outline", "org.uri.headline", "org.uri.id")
def test_templates_are_those_of_the_contract(org_server: Reader) -> None:
    templates = org_server.portal.call(org_server.client.list_resource_templates).resource_templates

    assert [plain(one)["uriTemplate"] for one in templates] == [
        "org://{filename}",
        "org://{filename}/outline",
        "org://{filename}/headline/{+path}",
        "org://id/{uuid}",
    ]


@requirement("org.uri.file", "org.resources.as-is")
@pytest.mark.parametrize("name", ["tasks.org", "odd.org", "kinds.org"])
def test_file_is_its_raw_text(org_server: Reader, name: str) -> None:
    assert org_server.text(f"org://{name}") == LIBRARY[name]


RAW: dict[str, str] = {
    "windows": "* A\r\nText.\r\n",
    "mark": "\ufeff* A\n",
    "no-final-newline": "* A\nText. ",
    "nothing": "",
    "mixed": "* A\r\nOne\nTwo\r\n",
    "unicode": "* ü 日本 \U0001f40b\n\u2028\n",
}


@requirement("org.uri.file", "org.resources.as-is", "model.scanner.bom-crlf")
def test_file_is_read_as_it_is_written(org: Start) -> None:
    reader = org({f"{name}.org": text for name, text in RAW.items()})

    assert {name: reader.text(f"org://{name}.org") for name in RAW} == RAW


@requirement("org.uri.outline", "org.outline", "org.resources.as-is")
def test_outline_has_all_headings_of_all_levels(org_server: Reader) -> None:
    (content,) = org_server.read("org://tasks.org/outline")

    assert content["mimeType"] == "application/json"
    assert json.loads(content["text"]) == {
        "headings": outline(
            (
                "Project Alpha",
                1,
                [
                    ("Write the plan", 2, [("Detail", 3, [])]),
                    ("Call the harbour", 2, []),
                    ("Weigh anchor", 2, []),
                ],
            ),
            ("Wind", 1, []),
        )
    }


@requirement("org.outline", "org.uri.titles")
def test_outline_shows_titles_without_keyword_priority_tags_and_comment(org_server: Reader) -> None:
    headings = json.loads(org_server.text("org://odd.org/outline"))["headings"]

    assert headings == outline(
        ("Q4/Q1 plan? 100% [x] ü #1", 1, [("Back\\slash\\..\\..\\etc", 2, []), ("../../etc/passwd", 2, [])]),
        ("Same", 1, []),
        ("Same", 1, [("Child", 2, [])]),
        ("Same", 1, []),
        ("", 1, [("Below nothing", 2, [])]),
        ("Quiet", 1, [("Under quiet", 2, [])]),
        ("Attic", 1, [("Old task", 2, [])]),
        ("*Bold* and [[https://example.org][a link]]", 1, []),
        ("One", 1, [("Three", 3, [("Five", 5, [])])]),
    )


@requirement("org.outline")
def test_outline_of_a_file_without_headlines_is_empty(org: Start) -> None:
    reader = org({"a.org": "Text.\n#+begin_example\n,* Not one\n#+end_example\n", "b.org": ""})

    assert json.loads(reader.text("org://a.org/outline")) == {"headings": []}
    assert json.loads(reader.text("org://b.org/outline")) == {"headings": []}


# addresses

SLASHED = "Q4%2FQ1%20plan%3F%20100%25%20%5Bx%5D%20%C3%BC%20%231"
PLACES: dict[str, tuple[str, str]] = {
    "top": ("tasks.org/headline/Wind", TASKS[TASKS.index("* WAIT Wind") :]),
    "nested": (
        "tasks.org/headline/Project%20Alpha/Write%20the%20plan",
        TASKS[TASKS.index("** TODO") : TASKS.index("** NEXT")],
    ),
    "leaf": ("tasks.org/headline/Project%20Alpha/Write%20the%20plan/Detail", "*** Detail\nA small narwhal.\n"),
    "encoded": (f"odd.org/headline/{SLASHED}", ODD[: ODD.index("* Same")]),
    "backslash": (
        f"odd.org/headline/{SLASHED}/Back%5Cslash%5C..%5C..%5Cetc",
        "** Back\\slash\\..\\..\\etc\nBackslashes.\n",
    ),
    "dots": (f"odd.org/headline/{SLASHED}/..%2F..%2Fetc%2Fpasswd", "** ../../etc/passwd\nDots.\n"),
    "first": ("odd.org/headline/Same", "* Same\nFirst.\n"),
    "second": ("odd.org/headline/Same?n=2", "* Same\nSecond.\n** Child\nOf the second.\n"),
    "third": ("odd.org/headline/Same?n=3", "* Same\nThird.\n"),
    "empty": ("odd.org/headline/", "* \nNothing.\n** Below nothing\nDeep.\n"),
    "below-empty": ("odd.org/headline//Below%20nothing", "** Below nothing\nDeep.\n"),
    "comment": ("odd.org/headline/Quiet", "* COMMENT Quiet\nA hushed walrus.\n** TODO Under quiet\n"),
    "archived": ("odd.org/headline/Attic/Old%20task", "** TODO Old task\n"),
    "markup": (
        "odd.org/headline/*Bold*%20and%20%5B%5Bhttps:%2F%2Fexample.org%5D%5Ba%20link%5D%5D",
        "* TODO [#B] *Bold* and [[https://example.org][a link]] :a:b:\n",
    ),
    "skipped-level": ("odd.org/headline/One/Three/Five", "***** Five\n"),
    "subfolder": ("sub/deep/lonely.org/headline/Lonely", "* Lonely\nA pangolin.\n"),
    "odd-file": (
        "sub%20folder/my%20file%5B1%5D%20%C3%BC%20%23.org/headline/Odd%20name",
        "* Odd name\nA quokka.\n",
    ),
    "folder-id": ("id/inner.org/headline/Inside%20id", "* Inside id\n"),
    "folder-config": ("config/inner.org/headline/Inside%20config", "* Inside config\n"),
    "id": (f"id/{PLAN_ID}", TASKS[TASKS.index("** TODO") : TASKS.index("** NEXT")]),
}


@requirement(
    "org.uri.headline",
    "org.headline.text",
    "org.uri.titles",
    "org.uri.structure",
    "org.uri.nth",
    "org.uri.first-sibling",
    "org.uri.empty-title",
    "org.uri.backslash",
    "org.uri.id",
    "org.resources.addressable",
)
@pytest.mark.parametrize("name", PLACES)
def test_headline_is_the_text_of_its_tree(org_server: Reader, name: str) -> None:
    uri, text = f"org://{PLACES[name][0]}", PLACES[name][1]

    assert org_server.read(uri) == [{"uri": uri, "mimeType": "text/org", "text": text}]


@requirement("org.headline.text", "org.write.elsewhere")
def test_tree_is_shown_with_the_line_ends_of_the_file(org: Start) -> None:
    reader = org({"a.org": "\ufeff* A\r\nText.\r\n* B\r\nMore.\r\n"})

    assert reader.text("org://a.org/headline/A") == "* A\r\nText.\r\n"


PLAN_TREE = PLACES["nested"][1]
SPELLINGS: dict[str, str] = {
    "org-headline://tasks.org/Project%20Alpha/Write%20the%20plan": PLAN_TREE,
    "org-headline://tasks.org#Project%20Alpha/Write%20the%20plan": PLAN_TREE,
    "org-headline://tasks.org#Project Alpha/Write the plan": PLAN_TREE,
    "org://tasks.org/headline/Project Alpha/Write the plan": PLAN_TREE,
    "org://tasks.org/headline/Project%20Alpha/%57rite the%20plan": PLAN_TREE,
    f"org-id://{PLAN_ID}": PLAN_TREE,
    "org-headline://odd.org/Same?n=2": PLACES["second"][1],
    "org-headline://odd.org#Same?n=3": PLACES["third"][1],
    "org-headline://sub/deep/lonely.org/Lonely": "* Lonely\nA pangolin.\n",
    "org-headline://lonely.org#Lonely": "* Lonely\nA pangolin.\n",
    "org://lonely.org/headline/Lonely": "* Lonely\nA pangolin.\n",
    "org://tasks.org/": TASKS,  # as some clients write a URI without a path
    "org://lonely.org": "* Lonely\nA pangolin.\n",
    "org://sub%2Fdeep%2Flonely.org": "* Lonely\nA pangolin.\n",
    "org://sub folder/my file[1] ü #.org": "* Odd name\nA quokka.\n",
    "org://sub folder/my file[1] ü #.org/headline/Odd name": "* Odd name\nA quokka.\n",
    "org://my file[1] ü #.org": "* Odd name\nA quokka.\n",
    "org://my%20file%5B1%5D%20%C3%BC%20%23.org": "* Odd name\nA quokka.\n",
    "org://my%20file%5B1%5D%20%C3%BC%20%23.org/headline/Odd%20name": "* Odd name\nA quokka.\n",
}


@requirement("org.uri.accepted", "model.uri.accepted", "model.uri.compared", "org.uri.base-name", "org.uri.slashes")
@pytest.mark.parametrize("uri", SPELLINGS, ids=ascii)
def test_other_spellings_are_accepted(org_server: Reader, uri: str) -> None:
    assert org_server.text(uri) == SPELLINGS[uri]


@requirement("org.uri.accepted", "org.uri.outline")
@pytest.mark.parametrize("uri", ["org-outline://kinds.org", "org-outline://sub/deep/lonely.org"])
def test_outline_has_a_spelling_of_its_own(org_server: Reader, uri: str) -> None:
    name = uri.removeprefix("org-outline://")

    assert org_server.text(uri) == org_server.text(f"org://{name}/outline")


@requirement("org.uri.accepted", "org.update.uri", "org.properties.uri")
@pytest.mark.parametrize(
    "uri",
    [
        "org://tasks.org/headline/Project%20Alpha/Write%20the%20plan",
        "org-headline://tasks.org/Project%20Alpha/Write%20the%20plan",
        "org-headline://tasks.org#Project Alpha/Write the plan",
        f"org-id://{PLAN_ID}",
        f"org://id/{PLAN_ID}",
    ],
)
def test_tools_take_every_spelling(org_server: Reader, uri: str) -> None:
    assert told(org_server.call("org-get-properties", resourceUri=uri))["EFFORT"] == "1:30"


@requirement("org.uri.structure", "org.uri.titles", "model.unknown-resource")
@pytest.mark.parametrize(
    "uri",
    [
        "org://absent.org",
        "org://absent.org/outline",
        "org://absent.org/headline/Wind",
        "org://tasks.org/headline/Absent",
        "org://tasks.org/headline/Write%20the%20plan",  # a path begins at the top
        "org://tasks.org/headline/Project%20Alpha/Detail",
        "org://tasks.org/headline/WAIT%20Wind",
        "org://tasks.org/headline/wind",
        "org://tasks.org/headline/Wind/",
        "org://tasks.org/headline/Wind?n=2",
        "org://odd.org/headline/Same?n=4",
        "org://odd.org/headline/Same?n=0",
        "org://odd.org/headline/Q4/Q1 plan? 100% [x] ü #1",  # a slash of a title is encoded
        "org://odd.org/headline/COMMENT%20Quiet",
        "org://tasks.org/nonsense",
        "org://readme.md",
        "org://readme.md/outline",
        "org://twin.org",
        "org://twin.org/outline",
        "org://id/00000000-0000-0000-0000-000000000000",
        "org://id/",
        "org-id://absent",
        "org-id://",
        "org://config/nonsense",
        "org://config",
        "org://",
        "org-outline://absent.org",
        "org-headline://tasks.org",
        "docs://tasks.org",
        "tasks.org",
        "file:///etc/passwd",
    ],
)
def test_what_is_not_there_is_an_error_that_names_it(org_server: Reader, uri: str) -> None:
    error = org_server.refusal(lambda: org_server.read(uri))

    assert error.code == -32602
    assert uri in error.message
    assert "not found" in error.message.lower()


@requirement("org.uri.base-name", "org.errors")
def test_base_name_of_two_files_is_an_error_that_names_both(org_reader: Reader) -> None:
    answer = fault(org_reader.call("org-search-headlines", query="twin", files=["twin.org"]))

    assert "one/twin.org" in answer["message"]
    assert "two/twin.org" in answer["message"]


@requirement("org.uri.reserved")
def test_an_id_beats_a_file_of_that_path(org: Start) -> None:
    reader = org({"id/a.org": "* In the folder\n", "b.org": "* By its ID\n:PROPERTIES:\n:ID: a.org\n:END:\n"})

    assert reader.text("org://id/a.org").startswith("* By its ID")


@requirement("org.uri.id-persistent", "org.uri.id")
def test_id_survives_renaming_and_refiling(org: Start) -> None:
    entry = f"TODO Found\n:PROPERTIES:\n:ID: {PLAN_ID}\n:END:\n"
    reader = org({"a.org": f"* {entry}", "b.org": "* Other\n"})
    uri = f"org://id/{PLAN_ID}"
    before = reader.text(uri)

    write(reader.folder, {"a.org": "", "b.org": f"* Other\n** {entry.replace('Found', 'Renamed')}"})

    assert (before, reader.text(uri)) == (f"* {entry}", f"** {entry.replace('Found', 'Renamed')}")


@requirement("org.archive-files")
def test_archive_is_an_org_file_when_it_is_named(org_reader: Reader, portal: BlockingPortal, tmp_path: Path) -> None:
    place = write(tmp_path, {"old.org_archive": "* DONE Archived long ago\n"}) / "old.org_archive"

    assert found(org_reader.call("org-search-headlines", query="long ago")) == []
    assert found(org_reader.call("org-search-headlines", query="long ago", files=["tasks.org_archive"])) == [
        "Archived long ago"
    ]
    assert org_reader.text("org://tasks.org_archive") == "* DONE Archived long ago\n"
    with serving(portal, tmp_path, tmp_path / "log", place, "--face", "org", "--store", tmp_path / "s") as reader:
        assert found(reader.call("org-get-todos")) == ["Archived long ago"]
        assert reader.text("org://old.org_archive/headline/Archived%20long%20ago") == "* DONE Archived long ago\n"


# several folders


@requirement("org.uri.slashes", "org.uri.base-name", "org.principle.uri")
def test_files_of_several_folders_are_told_apart(portal: BlockingPortal, tmp_path: Path) -> None:
    write(tmp_path, {"work/a.org": "* TODO Work\n", "home/a.org": "* TODO Home\n", "home/sub/b.org": "* TODO Sub\n"})
    arguments = (tmp_path / "work", tmp_path / "home", "--face", "org", "--store", tmp_path / "store")

    with serving(portal, tmp_path, tmp_path / "log", *arguments) as reader:
        answer = reader.call("org-get-todos")
        texts = [reader.text(one["resourceUri"]) for one in answer.data["result"]] if answer.data else []

        assert [one["resourceUri"] for one in json.loads(answer.text)] == [
            "org://home/a.org/headline/Home",
            "org://home/sub/b.org/headline/Sub",
            "org://work/a.org/headline/Work",
        ]
        assert texts == ["* TODO Home\n", "* TODO Sub\n", "* TODO Work\n"]
        assert reader.text("org://b.org/headline/Sub") == "* TODO Sub\n"
        assert "not found" in reader.refusal(lambda: reader.read("org://a.org")).message.lower()
        assert found(reader.call("org-search-headlines", query="", files=["work/a.org"])) == ["Work"]


# what lies outside

OUTSIDE = [
    "../{}",
    "..%2f{}",
    "%2e%2e/{}",
    "sub/../../{}",
    "sub/..%2f..%2f{}",
    "..\\{}",
    "..%5c{}",
    "%252e%252e/{}",
    "linked/{}",
    "linked%2f{}",
    "/{}",
    "%2f{}",
    "C:\\{}",
    "{}%00",
    "sub\0{}",
]
VIEWS = ["org://{}", "org://{}/outline", "org://{}/headline/Secret", "org-headline://{}#Secret", "org-outline://{}"]


@pytest.fixture(scope="module")
def fenced(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A server with secrets beside its files, and links that lead to them."""
    base = tmp_path_factory.mktemp("fenced")
    folder = write(base / "notes", {"a.org": "* A\n#+SETUPFILE: ../setup.org\n* HUSH no state\n", "sub/b.org": "* B\n"})
    write(
        base,
        {
            "secret.org": "* Secret\n:PROPERTIES:\n:ID: hidden-id\n:END:\nA hidden narwhal.\n",
            "setup.org": "#+TODO: HUSH | HUSHED\n",
        },
    )
    (folder / "linked").symlink_to(base)
    (folder / "link.org").symlink_to(base / "secret.org")
    (folder / "dangling.org").symlink_to(base / "absent.org")
    arguments = (folder, "--face", "org", "--store", base / "store")
    with serving(portal, folder, base / "log", *arguments, cwd=base) as reader:
        yield reader


@requirement(
    "model.containment.refused",
    "model.containment.no-hint",
    "model.containment.decode-once",
    "org.security.traversal",
    "org.security.validate",
)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("spelling", OUTSIDE, ids=ascii)
def test_what_lies_outside_is_unknown_whether_it_exists_or_not(fenced: Reader, spelling: str, view: str) -> None:
    def answer(name: str) -> tuple[int, str]:
        uri = view.format(spelling.format(name))
        error = fenced.refusal(lambda: fenced.read(uri))
        assert uri in error.message
        return error.code, error.message.replace(uri, "URI")

    assert answer("secret.org") == answer("absent.org")


@requirement("org.security.validate", "org.security.traversal", "org.errors", "model.containment.no-hint")
@pytest.mark.parametrize("spelling", OUTSIDE, ids=ascii)
def test_tools_say_nothing_of_what_lies_outside(fenced: Reader, spelling: str) -> None:
    def answers(name: str) -> list[Json]:
        file = spelling.format(name)
        uri = f"org://{file}/headline/Secret"
        said = [
            fault(fenced.call("org-search-headlines", query="", files=[file])),
            fault(fenced.call("org-search-content", query="narwhal", files=[file])),
            fault(fenced.call("org-get-todos", files=[file])),
            fault(fenced.call("org-get-properties", resourceUri=uri)),
            fault(fenced.call("org-update-todo-state", resourceUri=uri, currentState="", newState="DONE")),
            fault(fenced.call("org-schedule-task", resourceUri=uri, scheduled="2024-01-01")),
        ]
        return [{key: str(value).replace(name, "NAME") for key, value in one.items()} for one in said]

    assert answers("secret.org") == answers("absent.org")


@requirement("model.containment.links", "org.security.validate", "model.containment.no-hint")
def test_links_that_lead_out_are_neither_listed_nor_found_nor_read(fenced: Reader) -> None:
    assert [one["uri"] for one in fenced.resources() if "outline" not in one["uri"]] == [
        "org://a.org",
        "org://config/todo-states",
        "org://sub/b.org",
    ]
    assert found(fenced.call("org-search-headlines", query="Secret")) == []
    assert json.loads(fenced.call("org-search-content", query="hidden narwhal").text) == []
    for name in ("link.org", "dangling.org", "linked/secret.org"):
        assert "not found" in fenced.refusal(lambda name=name: fenced.read(f"org://{name}")).message.lower()  # type: ignore[misc]


@requirement("org.security.validate", "org.uri.id")
@pytest.mark.parametrize("uri", ["org://id/hidden-id", "org-id://hidden-id"])
def test_id_of_a_file_outside_is_unknown(fenced: Reader, uri: str) -> None:
    assert uri in fenced.refusal(lambda: fenced.read(uri)).message
    assert fault(fenced.call("org-get-properties", resourceUri=uri))["error"] == "Not found"


@requirement("org.security.validate", "model.containment.refused")
def test_setup_file_outside_is_not_read(fenced: Reader) -> None:
    assert found(fenced.call("org-get-todos", files=["a.org"])) == []


@requirement("org.security.elisp")
def test_nothing_in_a_file_or_a_setting_is_run(org: Start, tmp_path: Path) -> None:
    bait = tmp_path / "run"
    lisp = f'(progn (write-region "" nil "{bait}") "DONE")'
    text = (
        f"# -*- eval: {lisp} -*-\n* TODO A\n#+begin_src emacs-lisp :results output\n{lisp}\n#+end_src\n"
        f"# Local Variables:\n# eval: {lisp}\n# End:\n"
    )
    reader = org({"a.org": text}, "--org-set", f"org-tags-sort-function={lisp}")

    reader.call("org-update-todo-state", resourceUri="org://a.org/headline/A", currentState="TODO", newState="DONE")
    config = told(reader.call("org-get-tag-config"))

    assert config["org-tags-sort-function"].startswith("(progn (write-region")
    assert not bait.exists()


# bad files


@requirement("model.bad-file.others", "model.bad-file.reported")
def test_bad_files_do_not_keep_the_good_one_from_being_served(org: Start, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"binary.org": bytes(range(256)) * 8, "good.org": "* TODO Good\n"})
    (folder / "folder.org").mkdir()
    os.mkfifo(folder / "pipe.org")

    reader = org({})

    assert found(reader.call("org-get-todos")) == ["Good"]
    assert "org://good.org" in [one["uri"] for one in reader.resources()]
    assert "binary.org" in reader.said()


# configuration


DEFAULT = {
    "sequences": [{"type": "sequence", "keywords": ["TODO", "|", "DONE"]}],
    "semantics": [
        {"state": "TODO", "isFinal": False, "sequenceType": "sequence"},
        {"state": "DONE", "isFinal": True, "sequenceType": "sequence"},
    ],
}


@requirement(
    "org.defaults",
    "org.principle.zero-configuration",
    "org.todo-config.sequences",
    "org.todo-config.semantics",
    "org.todo.sequences-apart",
    "org.uri.config",
)
def test_todo_config_is_todo_and_done_out_of_the_box(org_server: Reader) -> None:
    assert told(org_server.call("org-get-todo-config")) == DEFAULT
    assert json.loads(org_server.text("org://config/todo-states")) == DEFAULT


@requirement(
    "org.config.raw",
    "org.setting.keywords",
    "org.todo-config.sequences",
    "org.todo-config.semantics",
    "org.todo.is-final",
    "org.todo.sequence-type",
)
def test_keywords_are_raw_in_sequences_and_bare_in_semantics(org: Start) -> None:
    reader = org({}, "--org-todo-keywords", "TODO(t!) WAIT(w@/!) DONE(d); type: BUG FEATURE | FIXED")

    config = told(reader.call("org-get-todo-config"))

    assert config["sequences"] == [
        {"type": "sequence", "keywords": ["TODO(t!)", "WAIT(w@/!)", "|", "DONE(d)"]},
        {"type": "type", "keywords": ["BUG", "FEATURE", "|", "FIXED"]},
    ]
    assert [(one["state"], one["isFinal"], one["sequenceType"]) for one in config["semantics"]] == [
        ("TODO", False, "sequence"),
        ("WAIT", False, "sequence"),
        ("DONE", True, "sequence"),
        ("BUG", False, "type"),
        ("FEATURE", False, "type"),
        ("FIXED", True, "type"),
    ]


@requirement("org.setting.keywords")
def test_no_keywords_are_no_keywords(org: Start) -> None:
    reader = org({"a.org": "* TODO A\n", "b.org": "#+TODO: X | Y\n* X B\n"}, "--org-todo-keywords", "")

    assert told(reader.call("org-get-todo-config")) == {"sequences": [], "semantics": []}
    assert found(reader.call("org-get-todos")) == ["B"]
    assert reader.text("org://a.org/headline/TODO%20A") == "* TODO A\n"


@requirement("org.tag-config", "org.config.lisp")
def test_tag_config_is_lisp_with_the_defaults_of_org(org_server: Reader) -> None:
    assert told(org_server.call("org-get-tag-config")) == {
        "org-use-tag-inheritance": "t",
        "org-tags-exclude-from-inheritance": "nil",
        "org-tags-sort-function": "nil",
        "org-tag-alist": "nil",
        "org-tag-persistent-alist": "nil",
    }


@requirement("org.tag-config", "org.config.lisp", "org.setting.set")
def test_tag_config_prints_what_was_set_as_lisp(org: Start) -> None:
    reader = org(
        {},
        *("--org-set", 'org-tag-alist=(("work" . ?w) ("home" . 104) (:startgroup) "x")'),
        *("--org-set", 'org-use-tag-inheritance="^a\\\\(b\\\\)"'),
        *("--org-set", 'org-tags-exclude-from-inheritance=("tag1" "tag2")'),
        *("--org-set", "org-tags-sort-function=org-string-collate-lessp"),
    )

    assert told(reader.call("org-get-tag-config")) == {
        "org-use-tag-inheritance": '"^a\\\\(b\\\\)"',
        "org-tags-exclude-from-inheritance": '("tag1" "tag2")',
        "org-tags-sort-function": "org-string-collate-lessp",
        "org-tag-alist": '(("work" . 119) ("home" . 104) (:startgroup) "x")',
        "org-tag-persistent-alist": "nil",
    }


@requirement("org.setting.set")
@pytest.mark.parametrize(
    ("given", "reason"),
    [("org-nonsense=t", "org-nonsense"), ("org-tags-column", "org-tags-column"), ("org-tag-alist=((", "")],
)
def test_setting_that_cannot_be_is_refused_at_the_start(tmp_path: Path, given: str, reason: str) -> None:
    done = refused(tmp_path, "--face", "org", "--org-set", given, "--store", tmp_path / "store")

    assert done.returncode == 2
    assert done.stdout == ""
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@requirement("org.file-settings", "org.todo.is-final", "org.todo.sequence-type")
def test_keywords_of_a_file_count_for_that_file(org_server: Reader) -> None:
    answer = org_server.call("org-get-todos", files=["kinds.org"])

    assert KINDS.count("\n* ") == 5
    assert [(one["heading"], one["todo"]) for one in json.loads(answer.text)] == [
        ("It leaks", {"state": "BUG", "type": "todo", "isFinal": False, "sequenceType": "type"}),
        ("It leaked", {"state": "FIXED", "type": "done", "isFinal": True, "sequenceType": "type"}),
        ("A letter", {"state": "DRAFT", "type": "todo", "isFinal": False, "sequenceType": "sequence"}),
        ("Another letter", {"state": "SENT", "type": "done", "isFinal": True, "sequenceType": "sequence"}),
    ]


# properties


@requirement("org.properties.uri", "org.properties.returns")
def test_properties_are_those_of_the_drawer(org_server: Reader) -> None:
    uri = "org://tasks.org/headline/Project%20Alpha/Write%20the%20plan"

    assert told(org_server.call("org-get-properties", resourceUri=uri)) == {"ID": PLAN_ID, "EFFORT": "1:30"}
    assert told(org_server.call("org-get-properties", resourceUri="org://tasks.org/headline/Wind")) == {}


@requirement("org.properties.some")
@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (["Effort"], {"Effort": "1:30"}),
        (["effort", "ID"], {"effort": "1:30", "ID": PLAN_ID}),
        (["Absent"], {}),
        (["Absent", "EFFORT"], {"EFFORT": "1:30"}),
        ([], {}),
    ],
)
def test_some_properties_can_be_asked_for(org_server: Reader, wanted: list[str], given: Json) -> None:
    uri = f"org://id/{PLAN_ID}"

    assert told(org_server.call("org-get-properties", resourceUri=uri, properties=wanted)) == given


@requirement("org.properties.uri", "org.errors")
@pytest.mark.parametrize("uri", ["org://tasks.org/headline/Absent", "org://absent.org/headline/A", "org-id://x", "?"])
def test_properties_of_nothing_are_an_error(org_server: Reader, uri: str) -> None:
    assert fault(org_server.call("org-get-properties", resourceUri=uri))["error"] == "Not found"


@requirement("org.properties.uri", "org.errors")
@pytest.mark.parametrize("uri", ["org://tasks.org", "org://tasks.org/outline"])
def test_properties_of_a_file_are_an_error_that_says_what_is_wanted(org_server: Reader, uri: str) -> None:
    assert "headline" in fault(org_server.call("org-get-properties", resourceUri=uri))["message"]


@requirement("org.errors")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("org-search-headlines", {}),
        ("org-search-headlines", {"query": 5}),
        ("org-search-headlines", {"query": "x", "tags": "work"}),
        ("org-search-headlines", {"query": "x", "tags": [1]}),
        ("org-search-headlines", {"query": "x", "caseSensitive": "yes"}),
        ("org-get-todos", {"states": "TODO"}),
        ("org-get-todos", {"scheduled": "2024-01-01"}),
        ("org-get-todos", {"scheduled": {"from": 5}}),
        ("org-get-todos", {"deadline": {"to": "soon"}}),
        ("org-search-content", {"query": "x", "maxResults": "many"}),
        ("org-search-content", {"query": ""}),
        ("org-update-todo-state", {"resourceUri": "org://tasks.org/headline/Wind", "newState": "DONE"}),
        ("org-schedule-task", {"resourceUri": "org://tasks.org/headline/Wind"}),
        ("org-get-properties", {}),
        ("org-get-properties", {"resourceUri": "org://id/x", "properties": "ID"}),
    ],
)
def test_wrong_arguments_are_an_error_object(org_server: Reader, tool: str, arguments: Json) -> None:
    assert fault(org_server.call(tool, **arguments))["error"] == "Invalid argument"
