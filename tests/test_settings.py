"""Settings: five layers, one answer, and errors that say what is wrong and where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bookwheel.errors import Invalid
from bookwheel.settings import OPTIONS, Settings, load, read_dotenv

ALIASES = {"documentation_path": "paths", "auto_index": "watch", "exclude_patterns": "exclude"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and a data folder of its own."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return here


def choose(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    dotenv: str = "",
    file: Mapping[str, Any] | None = None,
) -> Settings:
    if dotenv:
        Path(".env").write_text(dotenv)
    config = None
    if file is not None:
        config = Path("config.json")
        config.write_text(json.dumps(file))
    given = {"config": str(config)} if config else {}
    return load({**given, **(flags or {})}, environment or {}, ALIASES)


def test_without_any_layer_the_defaults_hold(tmp_path: Path) -> None:
    assert choose() == Settings(
        paths=(),
        config=None,
        content={},
        face=(),
        transport="stdio",
        host=None,
        port=8080,
        allowed_hosts=(),
        auth_type="none",
        auth_basic_username="",
        auth_basic_password="",
        auth_basic_password_file=None,
        auth_api_keys="",
        auth_api_keys_file=None,
        search_max_results=10,
        search_keywords_boost=3.0,
        search_name_boost=2.0,
        search_content_boost=1.0,
        ingest_roots=(),
        allow_private_urls=False,
        max_upload=52_428_800,
        org_todo_keywords=None,
        org_log_done=None,
        org_set=(),
        store=tmp_path / "data" / "bookwheel",
        embedder="minilm",
        model_folder=None,
        language=None,
        read_only=False,
        poll=False,
        watch=True,
        refresh_interval=300.0,
        max_file_size=10_485_760,
        include=(),
        exclude=(),
        log_level="info",
        log_format="text",
    )


LAYERED = [
    ("face", ["docs", "sections", "sections,docs", []], [("docs",), ("sections",), ("sections", "docs"), ()]),
    ("store", ["/1", "/2", "/3", "/4"], [Path("/1"), Path("/2"), Path("/3"), Path("/4")]),
    ("watch", [False, "yes", "off", True], [False, True, False, True]),
    ("read_only", [True, "0", "ON", False], [True, False, True, False]),
    ("refresh_interval", ["1", "2.5", "3", 4], [1.0, 2.5, 3.0, 4.0]),
    ("max_file_size", ["1", "22", " 333 ", 4444], [1, 22, 333, 4444]),
    ("include", ["*.md", "a.md, b", "c,", ["d,e", " f "]], [("*.md",), ("a.md", "b"), ("c",), ("d,e", "f")]),
    ("log_level", ["debug", "info", "warning", "error"], ["debug", "info", "warning", "error"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "expected"), LAYERED, ids=[name for name, _, _ in LAYERED])
@pytest.mark.parametrize("strongest", range(4))
def test_the_strongest_layer_counts(name: str, given: list[Any], expected: list[Any], strongest: int) -> None:
    variable = f"BOOKWHEEL_{name.upper()}"

    settings = choose(
        {name: given[0]} if strongest <= 0 else {name: None},
        {variable: given[1]} if strongest <= 1 else {},
        f"{variable}={given[2]}\n" if strongest <= 2 else "",
        {name: given[3]},
    )

    assert getattr(settings, name) == expected[strongest]


def test_every_option_can_be_chosen_in_every_layer() -> None:
    values = {"face": "docs", "transport": "http", "store": "/store", "refresh_interval": "7", "max_file_size": "7",
              "include": "a", "exclude": "a", "log_level": "debug", "log_format": "json", "language": "german",
              "port": "7", "max_upload": "7", "auth_type": "basic", "search_max_results": "7",
              "org_log_done": "time", "search_keywords_boost": "7", "search_name_boost": "7",
              "search_content_boost": "7"}  # fmt: skip
    options = [option for option in OPTIONS if option.name != "config"]
    given = {option.name: values.get(option.name, "true") for option in options}
    by_flag = choose(given)
    by_environment = choose(environment={option.variables[0]: given[option.name] for option in options})
    by_dotenv = choose(dotenv="\n".join(f"{option.variables[0]}={given[option.name]}" for option in options))
    Path(".env").unlink()
    by_file = choose(file=given)

    assert by_flag == by_environment == by_dotenv == replace(by_file, config=None)
    assert all(getattr(by_flag, option.name) != option.default for option in options if option.name != "watch")


@pytest.mark.parametrize("suffix", ["yaml", "json", "conf"])
def test_a_config_file_may_hold_what_is_no_option(suffix: str) -> None:
    content = {"server": {"version": "1.10"}, "content": [], "poll": True}
    Path(f"kb.{suffix}").write_text(json.dumps(content))

    settings = load({}, {"ACDC_MCP_CONFIG": f"kb.{suffix}"}, ALIASES, frozenset({"server", "content"}))

    assert (settings.content, settings.poll) == ({"server": {"version": "1.10"}, "content": []}, True)


def test_a_fraction_in_yaml_stays_as_it_is_written() -> None:
    Path("kb.yaml").write_text("server:\n  version: 1.10\nrefresh_interval: 2.5\n")

    settings = load({"config": "kb.yaml"}, {}, ALIASES, frozenset({"server"}))

    assert (settings.content, settings.refresh_interval) == ({"server": {"version": "1.10"}}, 2.5)


def test_a_secret_is_not_shown() -> None:
    with pytest.raises(Invalid) as caught:
        choose(file={"auth_basic_password": ["hush"]})

    assert "hush" not in caught.value.message


def test_the_store_may_be_named_as_other_programs_do() -> None:
    assert choose(environment={"LANCEDB_URI": "/lance"}).store == Path("/lance")
    assert choose(environment={"LANCEDB_URI": "/lance", "BOOKWHEEL_STORE": "/own"}).store == Path("/own")


def test_an_empty_variable_is_no_choice() -> None:
    assert choose(environment={"BOOKWHEEL_LOG_LEVEL": ""}, file={"log_level": "error"}).log_level == "error"


def test_a_relative_store_is_below_the_current_folder(here: Path) -> None:
    assert choose({"store": "index"}).store == here / "index"


def test_a_store_may_begin_with_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ramelli")

    assert choose({"store": "~/index"}).store == Path("/home/ramelli/index")


def test_the_store_is_in_the_data_folder_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")

    assert choose().store == Path("/data/bookwheel")


@pytest.mark.parametrize("value", ["", None])
def test_without_a_data_folder_the_store_is_in_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.setenv("HOME", "/home/ramelli")
    monkeypatch.delenv("XDG_DATA_HOME")
    if value is not None:
        monkeypatch.setenv("XDG_DATA_HOME", value)

    assert choose().store == Path("/home/ramelli/.local/share/bookwheel")


# paths


def test_paths_of_the_command_line_are_as_typed() -> None:
    assert choose({"paths": ["docs", "/more"]}, file={"paths": ["other"]}).paths == (Path("docs"), Path("/more"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"documentation_path": "docs"}, ["below/docs"]),
        ({"documentation_path": "../docs"}, ["below/../docs"]),
        ({"documentation_path": "/docs"}, ["/docs"]),
        ({"paths": ["a", "b"]}, ["below/a", "below/b"]),
    ],
)
def test_paths_of_a_file_are_read_from_its_folder(given: dict[str, Any], expected: list[str]) -> None:
    config = Path("below/config.json")
    config.parent.mkdir()
    config.write_text(json.dumps(given))

    settings = load({"paths": [], "config": str(config)}, {}, ALIASES)

    assert settings.paths == tuple(Path(one) for one in expected)


def test_names_of_a_contract_mean_our_options() -> None:
    settings = choose(file={"auto_index": False, "exclude_patterns": ["x/**"]})

    assert (settings.watch, settings.exclude) == (False, ("x/**",))


# errors


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("max_file_size", "0", "it must be a whole number of at least 1"),
        ("max_file_size", "ten", "it must be a whole number of at least 1"),
        ("max_file_size", "-1", "it must be a whole number of at least 1"),
        ("refresh_interval", "0", "it must be a number of seconds above 0"),
        ("refresh_interval", "inf", "it must be a number of seconds above 0"),
        ("refresh_interval", "nan", "it must be a number of seconds above 0"),
        ("watch", "perhaps", "it must be true or false"),
        ("face", "docs,masks", "masks is none of"),
        ("transport", "carrier pigeon", "it must be one of stdio"),
        ("log_level", "loud", "it must be one of debug, info, warning, error"),
        ("store", "s3://bucket/index", "it must be a local folder"),
    ],
)
@pytest.mark.parametrize("layer", ["the command line", "the environment", ".env", "config.json"])
def test_a_wrong_value_is_told_with_its_option_and_its_layer(name: str, value: str, reason: str, layer: str) -> None:
    variable = f"BOOKWHEEL_{name.upper()}"
    layers: dict[str, dict[str, Any]] = {
        "the command line": {"flags": {name: value}},
        "the environment": {"environment": {variable: value}},
        ".env": {"dotenv": f"{variable}={value}"},
        "config.json": {"file": {name: value}},
    }

    with pytest.raises(Invalid) as caught:
        choose(**layers[layer])

    assert caught.value.message.startswith(f"{name} in {layer} is {value!r}: {reason}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_file_size", 1.5),
        ("max_file_size", True),
        ("max_file_size", [1]),
        ("refresh_interval", True),
        ("refresh_interval", "soon"),
        ("refresh_interval", [1]),
        ("refresh_interval", {}),
        ("watch", 2),
        ("include", 3),
        ("include", [1]),
        ("include", {"a": 1}),
        ("store", 5),
        ("face", {"docs": 1}),
        ("log_level", ["info"]),
        ("log_level", {}),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_with_its_option(name: str, value: object) -> None:
    with pytest.raises(Invalid, match=f"{name} in config.json is "):
        choose(file={name: value})


def test_unknown_keys_are_told_with_the_known_ones() -> None:
    with pytest.raises(Invalid) as caught:
        choose(file={"colour": 1, "age": 2, "watch": True})

    assert caught.value.message.startswith(
        "config.json has unknown options: age, colour; known are: allow_private_urls, "
    )


@pytest.mark.parametrize("content", ["", "{", "[1]", '"text"', "null", '{"a": }', "\udcff"])
def test_a_file_that_is_no_object_is_refused(content: str) -> None:
    Path("config.json").write_bytes(content.encode("utf-8", "surrogateescape"))

    with pytest.raises(Invalid, match=r"the config file config\.json"):
        load({"config": "config.json"}, {}, ALIASES)


@pytest.mark.parametrize("paths", [5, [1], {"a": "b"}])
def test_paths_that_are_no_texts_are_refused(paths: object) -> None:
    with pytest.raises(Invalid, match=r"the paths in config\.json must be a text or a list of texts"):
        choose(file={"paths": paths})


def test_a_file_with_a_byte_order_mark_is_read() -> None:
    Path("config.json").write_text('\ufeff{"poll": true}')

    assert load({"config": "config.json"}, {}, ALIASES).poll


def test_a_missing_file_is_told() -> None:
    with pytest.raises(Invalid, match=r"there is no config file absent\.json; check --config"):
        load({"config": "absent.json"}, {}, ALIASES)


def test_a_folder_in_place_of_the_file_is_told(here: Path) -> None:
    with pytest.raises(Invalid, match="the config file"):
        load({"config": str(here)}, {}, ALIASES)


# .env


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\nB=2", {"A": "1", "B": "2"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("export A=1", {"A": "1"}),
        ("  A = one two  ", {"A": "one two"}),
        ("A=\"one\"\nB='two'", {"A": "one", "B": "two"}),
        ("A=b=c", {"A": "b=c"}),
        ("A=", {"A": ""}),
        ("# A=1\n\n   # B=2", {}),
        ("nonsense", {}),
        ("A=1\nA=2", {"A": "2"}),
        ("A=ü", {"A": "ü"}),
        ("\ufeffA=1", {"A": "1"}),
        ("A=it's", {"A": "it's"}),
        ('A=say "hi"', {"A": 'say "hi"'}),
    ],
)
def test_lines_of_names_and_values_are_read(text: str, expected: dict[str, str]) -> None:
    Path("some.env").write_bytes(text.encode())

    assert read_dotenv(Path("some.env")) == expected


@pytest.mark.parametrize("content", [None, b"A=\xff\xfe"])
def test_an_absent_or_unreadable_file_has_no_values(content: bytes | None) -> None:
    if content is not None:
        Path("some.env").write_bytes(content)

    assert read_dotenv(Path("some.env")) == {}
