"""Several faces in one server over HTTP: one address for all, and one for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal

from contracts.harness import ERAS, Files, Reader, eventually, handshake, requirement, write
from contracts.sources import ENTRIES, IDENTITY, LIBRARY, configure, page
from contracts.web import Host, hosting, visiting

NOTES: Files = {
    "README.md": "# Notes\n\nThese notes tell of an anchor.\n",
    "guides/setup.md": "# Setup Guide\n\nA working periscope.\n",
}
FACES: dict[str, tuple[str, set[str]]] = {
    "docs": ("mcp-serve", {"search_documents"}),
    "sections": ("bookwheel", {"list_documentation_files", "table_of_contents", "read_sections"}),
    "acdc": (IDENTITY["name"], {"search", "read"}),
}
ALL_TOOLS = {tool for _, tools in FACES.values() for tool in tools}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder and the sources of a config."""
    base = tmp_path_factory.mktemp("composed-http")
    write(base / "notes", NOTES)
    configure(base / "content", LIBRARY)
    return base


@pytest.fixture(scope="module", params=["http", "sse"])
def host(request: pytest.FixtureRequest, base: Path) -> Iterator[Host]:
    """A server of the folder and the sources, by either name of the transport."""
    config = base / "content/mcp-metadata.yaml"
    arguments = (base / "notes", "--config", config, "--store", base / f"store-{request.param}")
    with hosting(*arguments, "--transport", request.param, "--port", "0", cwd=base) as host:
        yield host


def tools(reader: Reader) -> set[str]:
    return {tool["name"] for tool in reader.tools()}


@requirement("composed.transports", "composed.routes.mcp", "composed.faces")
def test_all_faces_are_at_mcp_in_both_eras(portal: BlockingPortal, host: Host, era: str) -> None:
    with visiting(portal, host.url + "/mcp", mode=ERAS[era]) as reader:
        assert tools(reader) >= ALL_TOOLS
        assert {one["uri"] for one in ENTRIES} <= {one["uri"] for one in reader.resources()}
        assert reader.call("read", uri="acdc://wiki/guide").text == "Nothing but a submarine.\n"
        assert reader.text("acdc://wiki/guide") == "Nothing but a submarine.\n"
        assert reader.call("search", query="periscope").text.startswith(
            "Search results for 'periscope':\n\n- [notes] ["
        )
        assert [one["name"] for one in reader.prompts()] == ["docs:code-review", "wiki:code-review"]


@requirement("composed.transports", "composed.routes.sse")
def test_all_faces_are_at_sse_and_messages(portal: BlockingPortal, host: Host) -> None:
    with visiting(portal, host.url + "/sse") as reader:
        assert tools(reader) >= ALL_TOOLS
        assert reader.call("read", uri="acdc://wiki/guide").text == "Nothing but a submarine.\n"


@requirement("composed.transports", "composed.routes.faces", "faces.alone", "faces.identity.acdc")
@pytest.mark.parametrize("face", FACES)
def test_each_face_alone_is_below_its_name(portal: BlockingPortal, host: Host, era: str, face: str) -> None:
    name, own = FACES[face]

    with visiting(portal, f"{host.url}/{face}/mcp", mode=ERAS[era]) as reader:
        assert reader.client.server_info
        assert reader.client.server_info.name == name
        assert tools(reader) == own


@requirement("composed.routes.faces", "faces.alone", "faces.identity.docs")
def test_face_alone_has_its_own_uris_and_answers(portal: BlockingPortal, host: Host) -> None:
    with visiting(portal, host.url + "/docs/mcp") as reader:
        assert [one["uri"] for one in reader.resources()] == ["docs://README.md", "docs://guides/setup.md"]
        assert reader.call("search_documents", query="periscope").text.startswith("Search results: 1 matches\n\n")
    with visiting(portal, host.url + "/acdc/mcp") as reader:
        assert [one["uri"] for one in reader.resources()] == [one["uri"] for one in ENTRIES]
        assert reader.call("search", query="periscope").text == "No results found for 'periscope'"


@requirement("composed.transports", "composed.routes.health", "composed.routes.faces")
def test_health_is_at_the_root_and_what_is_not_there_is_not_found(host: Host) -> None:
    assert (host.ask("GET", "/health").status_code, host.ask("GET", "/health").text.strip()) == (200, "ok")
    assert {path: host.status("GET", path) for path in ("/nowhere/mcp", "/docs/health")} == dict.fromkeys(
        ("/nowhere/mcp", "/docs/health"), 404
    )


@requirement("composed.host")
def test_host_is_this_machine_alone_by_default(host: Host) -> None:
    assert host.address == f"http://127.0.0.1:{host.port}"


@requirement("composed.host")
@pytest.mark.parametrize("path", ["/mcp", "/docs/mcp", "/messages"])
@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}], ids=str)
def test_page_of_another_site_cannot_speak_to_it(host: Host, path: str, headers: dict[str, str]) -> None:
    response = host.ask("POST", path, content=handshake("2025-11-25")[0], headers={**JSON, **headers})

    assert response.status_code in {403, 421}
    assert "serverInfo" not in response.text


@requirement("composed.host", "composed.host.acdc")
@pytest.mark.parametrize("face", ["docs", "docs,sections"])
def test_only_acdc_alone_listens_everywhere(base: Path, tmp_path: Path, face: str) -> None:
    arguments = (base / "notes", "--face", face, "--store", tmp_path / "store", "--transport", "http", "--port", "0")

    with hosting(*arguments, cwd=tmp_path) as host:
        assert host.address == f"http://127.0.0.1:{host.port}"


@requirement("composed.host")
def test_other_host_names_can_be_allowed(base: Path, tmp_path: Path) -> None:
    arguments = (base / "notes", "--store", tmp_path / "store", "--transport", "http", "--port", "0")

    def status(server: Host, name: str) -> int:
        hello = handshake("2025-11-25")[0]
        return server.ask("POST", "/mcp", content=hello, headers={**JSON, "Host": name}).status_code

    with hosting(*arguments, "--allowed-hosts", "books.example,library.example", cwd=tmp_path) as server:
        assert (status(server, "books.example"), status(server, "library.example")) == (200, 200)
        assert status(server, "evil.example") in {403, 421}


@requirement("acdc.auth.covers", "composed.routes.mcp", "composed.routes.faces", "composed.routes.health")
def test_credentials_are_for_all_faces(portal: BlockingPortal, base: Path, tmp_path: Path) -> None:
    config = base / "content/mcp-metadata.yaml"
    arguments = (base / "notes", "-c", config, "--store", tmp_path / "store", "--transport", "http", "--port", "0")
    hello: dict[str, Any] = {"content": handshake("2025-11-25")[0], "headers": JSON}

    with hosting(*arguments, "-a", "apikey", "-k", "k3y-1", cwd=tmp_path) as host:
        paths = ["/mcp", "/messages", "/upload", *(f"/{face}/mcp" for face in FACES), "/nowhere"]
        assert {path: host.ask("POST", path, **hello).status_code for path in paths} == dict.fromkeys(paths, 401)
        assert (host.status("GET", "/sse"), host.status("GET", "/health")) == (401, 200)
        with visiting(portal, host.url + "/mcp", headers={"X-API-Key": "k3y-1"}) as reader:
            assert tools(reader) >= ALL_TOOLS
        with visiting(portal, host.url + "/docs/mcp", headers={"X-API-Key": "k3y-1"}) as reader:
            assert tools(reader) == FACES["docs"][1]


@requirement("composed.one-index", "model.list-changed", "composed.routes.faces")
def test_change_is_seen_at_every_address(portal: BlockingPortal, tmp_path: Path) -> None:
    write(tmp_path / "notes", NOTES)
    config = configure(tmp_path / "content", LIBRARY)
    arguments = (tmp_path / "notes", "-c", config, "--store", tmp_path / "store", "--transport", "http", "--port", "0")

    with (
        hosting(*arguments, cwd=tmp_path) as host,
        visiting(portal, host.url + "/mcp") as everything,
        visiting(portal, host.url + "/sse") as legacy,
        visiting(portal, host.url + "/docs/mcp") as docs,
        visiting(portal, host.url + "/acdc/mcp") as acdc,
    ):

        def seen() -> list[bool]:
            note, sourced = "ocelot", "axolotl"
            return [
                *(bool(re.search(r"results for", one.call("search", query=note).text)) for one in (everything, legacy)),
                "1 matches" in docs.call("search_documents", query=note).text,
                *(
                    bool(re.search(r"results for", one.call("search", query=sourced).text))
                    for one in (acdc, everything)
                ),
            ]

        assert seen() == [False] * 5
        write(tmp_path / "notes", {"new.md": "# New\n\nAn ocelot.\n"})
        write(tmp_path / "content/wiki/mcp-resources", {"new.md": page("New", body="An axolotl.\n")})
        legacy.await_change(lambda: any(one["uri"] == "acdc://wiki/new" for one in legacy.resources()))
        eventually(seen, [True] * 5)
