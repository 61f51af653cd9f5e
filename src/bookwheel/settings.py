"""Every option, declared once: its flag, its environment names, its key in a file, its default, its help.

Layers, the stronger first: flags, environment, `.env` in the current folder, config file, defaults.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bookwheel.errors import Invalid

PREFIX = "BOOKWHEEL_"
TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing a user can choose."""

    name: str
    help: str
    default: Any
    convert: Callable[[Any], Any]
    metavar: str = ""
    also: tuple[str, ...] = ()  # further environment names
    short: str = ""  # the flag in one letter
    switch: bool = False  # a flag without a value
    secret: bool = False  # never shown
    many: bool = False  # a flag that may be given again

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variables(self) -> tuple[str, ...]:
        """The option in the environment, the first one found counts."""
        return (PREFIX + self.name.upper(), *self.also)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("it must be a text")
    return value


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in TRUE | FALSE:
        return value.strip().lower() in TRUE
    raise ValueError("it must be true or false")


def _number(value: Any) -> int:
    if isinstance(value, bool) or not str(value).strip().isdecimal() or int(value) < 1:
        raise ValueError("it must be a whole number of at least 1")
    return int(value)


def _port(value: Any) -> int:
    if isinstance(value, bool) or not str(value).strip().isdecimal() or int(value) > 65_535:
        raise ValueError("it must be a whole number from 0 (any free port) to 65535")
    return int(value)


def _seconds(value: Any) -> float:
    number = float(value) if not isinstance(value, bool) else -1.0
    if not 0 < number < float("inf"):
        raise ValueError("it must be a number of seconds above 0")
    return number


def _factor(value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("it must be a number of at least 0")
    return number


def _list(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise ValueError("it must be a list of texts")
    return tuple(part.strip() for part in parts if part.strip())


def _lines(value: Any) -> tuple[str, ...]:
    parts = value.split("\n") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise ValueError("it must be a list of texts, or a text with one in each line")
    return tuple(part.strip() for part in parts if part.strip())


def _one_of(*choices: str) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"it must be one of {', '.join(choices)}")
        return str(value)

    return convert


def _some_of(*choices: str) -> Callable[[Any], tuple[str, ...]]:
    def convert(value: Any) -> tuple[str, ...]:
        found = _list(value)
        if wrong := [one for one in found if one not in choices]:
            raise ValueError(f"{', '.join(wrong)} is none of {', '.join(choices)}")
        return found

    return convert


def _path(value: Any) -> Path:
    if "://" in _text(value):
        raise ValueError("it must be a local folder")
    return Path(value).expanduser().absolute()


def _paths(value: Any) -> tuple[Path, ...]:
    return tuple(_path(part).resolve() for part in _list(value))


def _file(value: Any) -> Path:
    return Path(_text(value)).expanduser()


def _default_store() -> Path:
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "bookwheel"


LANGUAGES = (
    *("arabic", "armenian", "basque", "catalan", "czech", "danish", "dutch", "english", "esperanto", "estonian"),
    *("finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian"),
    *("nepali", "norwegian", "persian", "polish", "portuguese", "romanian", "russian", "serbian", "sesotho", "spanish"),
    *("swedish", "tamil", "turkish", "yiddish"),
)

FACES = ("docs", "sections", "acdc", "vectordb", "org")

OPTIONS: tuple[Option, ...] = (
    Option(
        "config", "options, or an organisation's sources, as a YAML or JSON file", None, _file, "FILE",
        ("ACDC_MCP_CONFIG",), "-c",
    ),
    Option("face", f"contracts to serve: {', '.join(FACES)} (default: all)", (), _some_of(*FACES), "NAME,…"),
    Option(
        "transport", "how clients connect: stdio, http (or sse, which is the same)", "stdio",
        _one_of("stdio", "http", "sse"), "NAME", ("ACDC_MCP_TRANSPORT",), "-t",
    ),
    Option(
        "host", "address to listen at (default: 127.0.0.1; 0.0.0.0 for acdc alone)", None, _text, "HOST",
        ("ACDC_MCP_HOST",), "-H",
    ),
    Option("port", "port to listen at; 0 picks a free one", 8080, _port, "PORT", ("ACDC_MCP_PORT",), "-p"),
    Option("allowed_hosts", "further host names that clients may call the server by", (), _list, "HOST,…"),
    Option(
        "auth_type", "what clients must show: none, basic, apikey", "none", _one_of("none", "basic", "apikey"), "KIND",
        ("ACDC_MCP_AUTH_TYPE",), "-a",
    ),
    Option(
        "auth_basic_username", "user name for basic auth", "", _text, "NAME", ("ACDC_MCP_AUTH_BASIC_USERNAME",), "-u"
    ),
    Option(
        "auth_basic_password", "password for basic auth", "", _text, "WORD", ("ACDC_MCP_AUTH_BASIC_PASSWORD",), "-P",
        secret=True,
    ),
    Option("auth_basic_password_file", "file with that password", None, _path, "FILE"),
    Option(
        "auth_api_keys", "keys that let in; `key=docs,wiki` to these libraries alone, `;` before the next", "", _text,
        "KEY,…", ("ACDC_MCP_AUTH_API_KEYS",), "-k", secret=True,
    ),
    Option("auth_api_keys_file", "file with such keys, one a line", None, _path, "FILE"),
    Option(
        "search_max_results", "most results of acdc's search", 10, _number, "N", ("ACDC_MCP_SEARCH_MAX_RESULTS",), "-m"
    ),
    Option(
        "search_keywords_boost", "what a match in the keywords counts there", 3.0, _factor, "FACTOR",
        ("ACDC_MCP_SEARCH_KEYWORDS_BOOST",),
    ),
    Option(
        "search_name_boost", "what a match in the name counts there", 2.0, _factor, "FACTOR",
        ("ACDC_MCP_SEARCH_NAME_BOOST",),
    ),
    Option(
        "search_content_boost", "what a match in the content counts there", 1.0, _factor, "FACTOR",
        ("ACDC_MCP_SEARCH_CONTENT_BOOST",),
    ),
    Option("ingest_roots", "folders that files may be taken in from (default: anywhere)", (), _paths, "DIR,…"),
    Option("allow_private_urls", "fetch URLs of private networks too", False, _switch, switch=True),
    Option("max_upload", "bytes; larger files are not taken in", 52_428_800, _number, "BYTES"),
    Option("org_todo_keywords", "TODO keywords of Org files, as `TODO NEXT | DONE; type: BUG | FIXED`", None, _text),
    Option("org_log_done", "what a finished Org task records", None, _one_of("none", "time", "note"), "WHAT"),
    Option("org_set", "an Org variable and its value as Lisp; may be given again", (), _lines, "NAME=VALUE", many=True),
    Option("store", "folder for the index (default: in your data folder)", None, _path, "DIR", ("LANCEDB_URI",)),
    Option("embedder", "model for search by meaning: minilm, nomic, none, or a name fastembed knows", "minilm", _text),
    Option("model_folder", "folder with the files of that model, instead of the hub", None, _path, "DIR"),
    Option("language", "language that words are stemmed in (default: the store's, English)", None, _one_of(*LANGUAGES)),
    Option("read_only", "offer no tool that changes anything", False, _switch, switch=True),
    Option("poll", "look for changes by polling, for network mounts", False, _switch, switch=True),
    Option("watch", "follow changes while serving", True, _switch, switch=True),
    Option("refresh_interval", "seconds between two full scans", 300.0, _seconds, "SECONDS"),
    Option("max_file_size", "bytes; larger files are left out", 10_485_760, _number, "BYTES"),
    Option("include", "patterns of files to serve (default: every readable file)", (), _list, "GLOB,…"),
    Option("exclude", "patterns of files to leave out", (), _list, "GLOB,…"),
    Option("log_level", "how much to log", "info", _one_of("debug", "info", "warning", "error"), "LEVEL"),
    Option("log_format", "how to log: text or json", "text", _one_of("text", "json"), "FORM"),
)  # fmt: skip
BY_NAME = {option.name: option for option in OPTIONS}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose, converted and complete."""

    paths: tuple[Path, ...]
    config: Path | None
    content: Mapping[str, Any]  # what the config file says beside options: an organisation's sources
    face: tuple[str, ...]
    transport: str
    host: str | None
    port: int
    allowed_hosts: tuple[str, ...]
    auth_type: str
    auth_basic_username: str
    auth_basic_password: str
    auth_basic_password_file: Path | None
    auth_api_keys: str
    auth_api_keys_file: Path | None
    search_max_results: int
    search_keywords_boost: float
    search_name_boost: float
    search_content_boost: float
    ingest_roots: tuple[Path, ...]
    allow_private_urls: bool
    max_upload: int
    org_todo_keywords: str | None
    org_log_done: str | None
    org_set: tuple[str, ...]
    store: Path
    embedder: str
    model_folder: Path | None
    language: str | None
    read_only: bool
    poll: bool
    watch: bool
    refresh_interval: float
    max_file_size: int
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    log_level: str
    log_format: str


def load(
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    aliases: Mapping[str, str],
    other: frozenset[str] = frozenset(),
) -> Settings:
    """Merge the layers into settings; a config file may use *aliases* of options, and have the *other* keys too."""
    layers = [
        ("the command line", flags),
        ("the environment", _named(environment)),
        (".env", _named(read_dotenv(Path(".env")))),
    ]
    config = _choose(BY_NAME["config"], layers)
    content, file = _read_file(config, aliases, other) if config else ({}, {})
    layers.append((str(config), file))
    values = {option.name: _choose(option, layers) for option in OPTIONS}
    values["store"] = values["store"] or _default_store()
    paths: Sequence[str] = next((layer["paths"] for _, layer in layers if layer.get("paths")), ())
    return Settings(paths=tuple(Path(path) for path in paths), content=content, **values)


def _choose(option: Option, layers: Sequence[tuple[str, Mapping[str, Any]]]) -> Any:
    for where, layer in layers:
        if layer.get(option.name) is not None:
            try:
                return option.convert(layer[option.name])
            except (ValueError, TypeError) as error:
                given = "not shown" if option.secret else repr(layer[option.name])
                raise Invalid(f"{option.name} in {where} is {given}: {error}") from error
    return option.default


def _named(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the environment under the names of their options."""
    return {
        option.name: next(environment[name] for name in option.variables if environment.get(name))
        for option in OPTIONS
        if any(environment.get(name) for name in option.variables)
    }


def read_dotenv(path: Path) -> dict[str, str]:
    """Return the `NAME=value` lines of a file, quotes taken off; nothing if there is no such file."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines if not line.strip().startswith("#"))
    return {name.strip(): _unquoted(value.strip()) for name, sign, value in pairs if sign}


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _read_file(path: Path, aliases: Mapping[str, str], other: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a config file says beside options, and the options under their names."""
    content = _parse_file(path)
    if not isinstance(content, dict):
        raise Invalid(f"the config file {path} must hold an object with named options")
    known = {**{name: name for name in BY_NAME if name != "config"}, "paths": "paths", **aliases}
    beside = {key: value for key, value in content.items() if key in other}
    unknown = sorted(str(key) for key in content.keys() - known.keys() - other)
    if unknown and not beside:
        raise Invalid(f"{path} has unknown options: {', '.join(unknown)}; known are: {', '.join(sorted(known))}")
    if unknown:
        log.warning("%s has unknown entries, which count for nothing: %s", path, ", ".join(unknown))
    values = {known[key]: value for key, value in content.items() if key in known}
    return beside, _with_paths(values, path)


def _parse_file(path: Path) -> Any:
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError as error:
        raise Invalid(f"there is no config file {path}; check --config") from error
    except (OSError, ValueError) as error:
        raise Invalid(f"the config file {path} cannot be read: {error}") from error
    if path.suffix == ".json":
        try:
            return json.loads(text)
        except ValueError as error:
            raise Invalid(f"the config file {path} is not valid JSON: {error}") from error
    return _parse_yaml(text, path)


def _parse_yaml(text: str, path: Path) -> Any:
    """Return what a YAML text says, its fractions and dates as they are written: `1.10` may be a version."""
    import yaml  # noqa: PLC0415 - most starts have no such file

    class Loader(yaml.SafeLoader):
        """Knows fewer kinds of words."""

    plain = {"tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp"}
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in kinds if tag not in plain]
        for first, kinds in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        return yaml.load(text, Loader)  # noqa: S506 - it is a safe one
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Invalid(f"the config file {path} is not valid YAML: {error}") from error


def _with_paths(values: dict[str, Any], path: Path) -> dict[str, Any]:
    """Read the paths of a config file from the folder it is in."""
    given = values.get("paths")
    if given is None:
        return values
    paths = [given] if isinstance(given, str) else given
    if not isinstance(paths, list) or not all(isinstance(one, str) for one in paths):
        raise Invalid(f"the paths in {path} must be a text or a list of texts")
    return {**values, "paths": [str(path.parent / Path(one).expanduser()) for one in paths]}


assert {one.name for one in fields(Settings)} == BY_NAME.keys() | {"paths", "content"}  # noqa: S101 - declared once, and here
