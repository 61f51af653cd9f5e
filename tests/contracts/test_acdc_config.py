"""The acdc contract: the config file, the settings, and what keeps the server from starting."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from anyio.from_thread import BlockingPortal

from contracts.harness import Json, Reader, refused, requirement, serving
from contracts.sources import ENTRIES, IDENTITY, LIBRARY, configure, hits, location, page, settle
from contracts.web import hosting

Change = Callable[[Any], object]
SOURCES = {name: location({"a.md": page(f"{name.title()} Page")}) for name in ("docs", "wiki")}


@pytest.fixture
def config(tmp_path: Path) -> Json:
    """A config without a fault, whose locations are there."""
    return {"server": dict(IDENTITY), "content": settle(tmp_path, SOURCES)}


def put(place: Path, config: object) -> Path:
    """Write a config file."""
    place.write_text(yaml.safe_dump(config, allow_unicode=True, sort_keys=False), "utf-8")
    return place


def named(reader: Reader) -> list[str]:
    return sorted(one["name"] for one in reader.resources())


# what keeps it from starting

FAULTS: dict[str, tuple[Change, str]] = {
    "no server": (lambda config: config.pop("server"), "server"),
    "server is a text": (lambda config: config.update(server="x"), "server"),
    "server is a list": (lambda config: config.update(server=[IDENTITY]), "server"),
    "server is null": (lambda config: config.update(server=None), "server"),
    **{
        f"{how} server {key}": (change, f"server.{key}")
        for key in IDENTITY
        for how, change in {
            "no": lambda config, key=key: config["server"].pop(key),
            "empty": lambda config, key=key: config["server"].update({key: ""}),
            "blank": lambda config, key=key: config["server"].update({key: "  "}),
            "list as": lambda config, key=key: config["server"].update({key: ["x"]}),
            "null as": lambda config, key=key: config["server"].update({key: None}),
        }.items()
    },
    "no content": (lambda config: config.pop("content"), "content"),
    "content is empty": (lambda config: config.update(content=[]), "content"),
    "content is null": (lambda config: config.update(content=None), "content"),
    "content is a text": (lambda config: config.update(content="docs"), "content"),
    "content is a mapping": (lambda config: config.update(content={"docs": "docs"}), "content"),
    "entry is a text": (lambda config: config["content"].append("docs"), "content[2]"),
    "entry is null": (lambda config: config["content"].append(None), "content[2]"),
    **{
        f"{how} content {key}": (change, f"content[1].{key}")
        for key in ("name", "description", "path")
        for how, change in {
            "no": lambda config, key=key: config["content"][1].pop(key),
            "empty": lambda config, key=key: config["content"][1].update({key: ""}),
            "blank": lambda config, key=key: config["content"][1].update({key: "  "}),
            "list as": lambda config, key=key: config["content"][1].update({key: ["x"]}),
        }.items()
    },
    "tools is a text": (lambda config: config.update(tools="search"), "tools"),
    "tool is a text": (lambda config: config.update(tools=["search"]), "tools[0]"),
    "tool without a name": (lambda config: config.update(tools=[{"description": "x"}]), "tools[0].name"),
    "tool without a description": (lambda config: config.update(tools=[{"name": "read"}]), "tools[0].description"),
    "tool with an empty description": (
        lambda config: config.update(tools=[{"name": "read", "description": ""}]),
        "tools[0].description",
    ),
    "tool that there is not": (
        lambda config: config.update(tools=[{"name": "conjure", "description": "x"}]),
        "tools[0].name",
    ),
}


@requirement(
    "acdc.required",
    "acdc.config.server-name",
    "acdc.config.server-version",
    "acdc.config.server-instructions",
    "acdc.config.content",
    "acdc.config.content-name",
    "acdc.config.content-description",
    "acdc.config.content-path",
    "acdc.config.tools",
)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_in_the_config_is_named_and_nothing_starts(tmp_path: Path, config: Json, fault: str) -> None:
    change, entry = FAULTS[fault]
    broken = deepcopy(config)
    change(broken)
    place = put(tmp_path / "faulty.yaml", broken)

    ended = refused("--face", "acdc", "--config", place, "--store", tmp_path / "store", cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "faulty.yaml" in ended.stderr
    assert entry in ended.stderr.replace("faulty.yaml", "")
    assert "Traceback" not in ended.stderr


@requirement("acdc.unique", "acdc.config.content-name")
def test_two_sources_of_one_name_are_refused(tmp_path: Path, config: Json) -> None:
    config["content"][1]["name"] = "docs"
    place = put(tmp_path / "faulty.yaml", config)

    ended = refused("--face", "acdc", "--config", place, "--store", tmp_path / "store", cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "content[1].name" in ended.stderr
    assert "docs" in ended.stderr


@requirement("acdc.location.missing", "acdc.location.resources", "acdc.config.content-path")
@pytest.mark.parametrize("what", ["no folder", "no mcp-resources", "a file", "mcp-resources is a file"])
def test_location_without_resources_is_a_start_error_that_names_it(tmp_path: Path, config: Json, what: str) -> None:
    place = tmp_path / "elsewhere"
    if what == "a file":
        place.write_text("x")
    elif what != "no folder":
        place.mkdir()
    if what == "mcp-resources is a file":
        (place / "mcp-resources").write_text("x")
    config["content"][1]["path"] = "elsewhere"

    faulty = put(tmp_path / "faulty.yaml", config)
    ended = refused("--face", "acdc", "--config", faulty, "--store", tmp_path / "store", cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert [word for word in ("faulty.yaml", "content[1].path", "elsewhere") if word not in ended.stderr] == []
    assert what != "no mcp-resources" or "mcp-resources" in ended.stderr


NO_CONFIGS: dict[str, str | bytes] = {
    "not YAML": "server: [unclosed\n",
    "tabs": "server:\n\tname: x\n",
    "a text": "just a text\n",
    "a list": "- server\n- content\n",
    "nothing": "",
    "not JSON": '{"server": ',
    "not text": b"\xff\xfe\x00\x01\x80",
    "a tag that makes things": "server: !!python/object/apply:os.getcwd []\n",
    "no end of brackets": "[" * 100_000,
}


@requirement("acdc.settings.config", "acdc.principle.config")
@pytest.mark.parametrize("text", NO_CONFIGS.values(), ids=NO_CONFIGS)
def test_file_that_is_no_config_is_refused_by_name(tmp_path: Path, text: str | bytes) -> None:
    place = tmp_path / "faulty.yaml"
    place.write_bytes(text.encode() if isinstance(text, str) else text)

    ended = refused("--face", "acdc", "--config", place, "--store", tmp_path / "store", cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "faulty.yaml" in ended.stderr
    assert "Traceback" not in ended.stderr


@requirement("acdc.settings.config")
@pytest.mark.parametrize("arguments", [(), ("--config", "absent.yaml"), ("-c", ".")])
def test_config_file_is_required(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = refused("--face", "acdc", *arguments, "--store", tmp_path / "store", cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "config" in ended.stderr
    assert "Traceback" not in ended.stderr


WRONG = [
    ("transport", "pigeon"),
    ("port", "harbour"),
    ("port", "70000"),
    ("port", "-1"),
    ("search_max_results", "0"),
    ("search_max_results", "-3"),
    ("search_max_results", "ten"),
    ("search_keywords_boost", "much"),
    ("search_name_boost", "-1"),
    ("search_content_boost", "nan"),
    ("auth_type", "handshake"),
    ("log_format", "verse"),
]


@requirement(
    "acdc.settings.layers",
    "acdc.settings.transport",
    "acdc.settings.port",
    "acdc.settings.search-max-results",
    "acdc.settings.search-keywords-boost",
    "acdc.settings.search-name-boost",
    "acdc.settings.search-content-boost",
    "acdc.settings.auth-type",
)
@pytest.mark.parametrize(("name", "value"), WRONG)
def test_wrong_setting_is_refused_by_name(tmp_path: Path, name: str, value: str) -> None:
    place = configure(tmp_path / "content", SOURCES)
    flag = f"--{name.replace('_', '-')}={value}"

    ended = refused("--face", "acdc", "-c", place, "--store", tmp_path / "store", flag, cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert name in ended.stderr.replace("-", "_")
    assert value in ended.stderr


# what it is when it starts


@requirement("acdc.settings.config", "acdc.settings.layers", "acdc.config.content-path", "acdc.config.content")
@pytest.mark.parametrize("how", ["--config", "-c", "environment", ".env"])
def test_config_is_named_by_flag_environment_or_dotenv_and_its_paths_are_relative_to_it(
    portal: BlockingPortal, tmp_path: Path, how: str
) -> None:
    place = configure(tmp_path / "content", LIBRARY)
    here = tmp_path / "here"
    here.mkdir()
    if how == ".env":
        (here / ".env").write_text(f"# the library\nACDC_MCP_CONFIG={place}\n")
    arguments = [how, str(place)] if how.startswith("-") else []
    env = {"ACDC_MCP_CONFIG": str(place)} if how == "environment" else {}

    options = ("--face", "acdc", "--store", tmp_path / "store")
    with serving(portal, place.parent, tmp_path / "log", *options, *arguments, cwd=here, env=env) as reader:
        assert [one["uri"] for one in reader.resources()] == [one["uri"] for one in ENTRIES]


@requirement("acdc.config.content-path", "acdc.principle.config")
def test_config_may_be_json_with_absolute_paths_and_options_of_the_server(
    portal: BlockingPortal, tmp_path: Path, config: Json
) -> None:
    for entry in config["content"]:
        entry["path"] = str(tmp_path / entry["path"])
    place = tmp_path / "configs" / "library.json"
    place.parent.mkdir()
    place.write_text(json.dumps({**config, "face": "acdc", "store": str(tmp_path / "store")}))

    with serving(portal, tmp_path, tmp_path / "log", "--config", place, cwd=place.parent) as reader:
        assert reader.client.server_info
        assert reader.client.server_info.name == IDENTITY["name"]
        assert named(reader) == ["Docs Page", "Wiki Page"]
    assert (tmp_path / "store").is_dir()


@requirement("acdc.config.content-path")
def test_relative_path_of_the_config_itself_is_taken_from_the_current_folder(
    portal: BlockingPortal, tmp_path: Path
) -> None:
    configure(tmp_path / "deep" / "content", SOURCES)
    arguments = ("--face", "acdc", "-c", "content/mcp-metadata.yaml", "--store", tmp_path / "store")

    with serving(portal, tmp_path, tmp_path / "log", *arguments, cwd=tmp_path / "deep") as reader:
        assert named(reader) == ["Docs Page", "Wiki Page"]


LAYERS: dict[str, tuple[tuple[str, ...], Mapping[str, str], int]] = {
    ".env alone": ((), {}, 3),
    "environment over .env": ((), {"ACDC_MCP_SEARCH_MAX_RESULTS": "2"}, 2),
    "flag over both": (("-m", "1"), {"ACDC_MCP_SEARCH_MAX_RESULTS": "2"}, 1),
}


@requirement("acdc.settings.precedence", "acdc.settings.order", "acdc.settings.layers")
@pytest.mark.parametrize(("flags", "env", "number"), LAYERS.values(), ids=LAYERS)
def test_flags_beat_the_environment_which_beats_dotenv(
    portal: BlockingPortal, tmp_path: Path, flags: tuple[str, ...], env: Mapping[str, str], number: int
) -> None:
    files = {f"{number}.md": page(f"Page {number}", body="A pelican.\n") for number in range(5)}
    place = configure(tmp_path / "content", {"docs": location(files)})
    (tmp_path / ".env").write_text("ACDC_MCP_SEARCH_MAX_RESULTS=3\n")
    arguments = ("--face", "acdc", "-c", place, "--store", tmp_path / "store")

    with serving(portal, tmp_path, tmp_path / "log", *arguments, *flags, cwd=tmp_path, env=env) as reader:
        assert len(hits(reader.call("search", query="pelican"), "pelican")) == number


ADDRESSES: dict[str, tuple[tuple[str, ...], Mapping[str, str], str]] = {
    "long flags": (("--transport", "sse", "--host", "127.0.0.1", "--port", "0"), {}, ""),
    "short flags": (("-t", "sse", "-H", "127.0.0.1", "-p", "0"), {}, ""),
    "environment": (
        (),
        {"ACDC_MCP_TRANSPORT": "sse", "ACDC_MCP_HOST": "127.0.0.1", "ACDC_MCP_PORT": "0"},
        "",
    ),
    ".env": ((), {}, "ACDC_MCP_TRANSPORT=sse\nACDC_MCP_HOST='127.0.0.1'\nexport ACDC_MCP_PORT=\"0\"\n"),
    "flags over all": (
        ("-t", "sse", "-H", "127.0.0.1", "-p", "0"),
        {"ACDC_MCP_TRANSPORT": "stdio", "ACDC_MCP_HOST": "127.0.0.3"},
        "ACDC_MCP_PORT=8080\nACDC_MCP_HOST=127.0.0.4\n",
    ),
}


@requirement(
    "acdc.settings.transport", "acdc.settings.host", "acdc.settings.port", "acdc.settings.layers", "acdc.settings.order"
)
@pytest.mark.parametrize(("flags", "env", "dotenv"), ADDRESSES.values(), ids=ADDRESSES)
def test_transport_host_and_port_are_chosen_in_every_layer(
    tmp_path: Path, flags: tuple[str, ...], env: Mapping[str, str], dotenv: str
) -> None:
    place = configure(tmp_path / "content", SOURCES)
    (tmp_path / ".env").write_text(dotenv)

    arguments = ("--face", "acdc", "-c", place, "--store", tmp_path / "store")
    with hosting(*arguments, *flags, cwd=tmp_path, env=env) as host:
        assert host.address == f"http://127.0.0.1:{host.port}"
        with socket.create_connection(("127.0.0.1", host.port)):
            pass


@requirement("acdc.settings.port")
def test_port_is_8080_unless_another_is_chosen(tmp_path: Path) -> None:
    place = configure(tmp_path / "content", SOURCES)
    arguments = ("--face", "acdc", "-c", place, "--store", tmp_path / "store", "-t", "sse", "-H", "127.0.0.1")

    with socket.socket() as taken:
        with suppress(OSError):  # somebody else has it, which is as good
            taken.bind(("127.0.0.1", 8080))
            taken.listen()
        ended = refused(*arguments, cwd=tmp_path)

    assert ended.returncode != 0
    assert ended.stdout == ""
    assert "8080" in ended.stderr
    assert "Traceback" not in ended.stderr


# contradictions

SECRET, WORD = "s3cr3t-k3y-9d1f", "pa55w0rd-77ab"
CONTRADICTIONS: dict[str, tuple[str, ...]] = {
    "none with keys": ("--auth-type", "none", "--auth-api-keys", SECRET),
    "none by default with keys": ("-k", SECRET),
    "none with a user": ("--auth-type", "none", "--auth-basic-username", "ann"),
    "none with a password": ("--auth-basic-password", WORD),
    "basic with keys": ("-a", "basic", "-u", "ann", "-P", WORD, "-k", SECRET),
    "basic without a password": ("-a", "basic", "-u", "ann"),
    "basic without a user": ("-a", "basic", "-P", WORD),
    "basic without anything": ("-a", "basic"),
    "basic with an empty user": ("-a", "basic", "-u", "", "-P", WORD),
    "apikey without keys": ("-a", "apikey"),
    "apikey with empty keys": ("-a", "apikey", "-k", " , ,"),
    "apikey for a source that is not there": ("-a", "apikey", "-k", f"{SECRET}=nowhere"),
}


@requirement(
    "acdc.auth.none-with-credentials",
    "acdc.auth.basic-with-keys",
    "acdc.auth.basic-incomplete",
    "acdc.auth.no-keys",
    "acdc.secrets",
)
@pytest.mark.parametrize("transport", ["sse", "stdio"])
@pytest.mark.parametrize("flags", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradictory_credentials_refuse_to_start_and_are_not_told(
    tmp_path: Path, flags: tuple[str, ...], transport: str
) -> None:
    place = configure(tmp_path / "content", SOURCES)
    arguments = ("--face", "acdc", "-c", place, "--store", tmp_path / "store", "-t", transport, "-p", "0")

    ended = refused(*arguments, *flags, "--log-level", "debug", cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.search("auth|API key", ended.stderr)
    assert [secret for secret in (SECRET, WORD) if secret in ended.stderr] == []


@requirement("acdc.auth.none-with-credentials", "acdc.auth.no-keys", "acdc.secrets", "acdc.settings.auth-api-keys")
@pytest.mark.parametrize(
    "env",
    [
        {"ACDC_MCP_AUTH_API_KEYS": SECRET},
        {"ACDC_MCP_AUTH_TYPE": "none", "ACDC_MCP_AUTH_BASIC_PASSWORD": WORD},
        {"ACDC_MCP_AUTH_TYPE": "basic", "ACDC_MCP_AUTH_BASIC_PASSWORD": WORD},
        {"ACDC_MCP_AUTH_TYPE": "apikey", "ACDC_MCP_AUTH_BASIC_PASSWORD": WORD},
    ],
)
def test_credentials_of_the_environment_contradict_as_flags_do(tmp_path: Path, env: Mapping[str, str]) -> None:
    place = configure(tmp_path / "content", SOURCES)

    ended = refused("--face", "acdc", "-c", place, "--store", tmp_path / "store", "-t", "sse", cwd=tmp_path, env=env)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "auth" in ended.stderr
    assert [secret for secret in (SECRET, WORD) if secret in ended.stderr] == []
