"""Every option, declared once: its flag, its environment names, its key in a file, its default, its help.

Layers, the stronger first: flags, environment, `.env` in the current folder, config file, defaults.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bookwheel.errors import Invalid, NotFound

PREFIX = "BOOKWHEEL_"
TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})


@dataclass(frozen=True, slots=True)
class Option:
    """One thing a user can choose."""

    name: str
    help: str
    default: Any
    convert: Callable[[Any], Any]
    metavar: str = ""
    also: tuple[str, ...] = ()  # further environment names
    switch: bool = False  # a flag without a value

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


def _seconds(value: Any) -> float:
    number = float(value) if not isinstance(value, bool) else -1.0
    if not 0 < number < float("inf"):
        raise ValueError("it must be a number of seconds above 0")
    return number


def _list(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise ValueError("it must be a list of texts")
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

OPTIONS: tuple[Option, ...] = (
    Option("face", "contracts to serve: docs, sections (default: all)", (), _some_of("docs", "sections"), "NAME,…"),
    Option("transport", "how clients connect: stdio", "stdio", _one_of("stdio")),
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
)
BY_NAME = {option.name: option for option in OPTIONS}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose, converted and complete."""

    paths: tuple[Path, ...]
    face: tuple[str, ...]
    transport: str
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


def load(
    flags: Mapping[str, Any], environment: Mapping[str, str], aliases: Mapping[str, str], config: Path | None = None
) -> Settings:
    """Merge the layers into settings; *aliases* are further keys a config file may use."""
    file = _read_file(config, aliases) if config else {}
    layers = [
        ("the command line", flags),
        ("the environment", _named(environment)),
        (".env", _named(read_dotenv(Path(".env")))),
        (str(config), file),
    ]
    values = {option.name: _choose(option, layers) for option in OPTIONS}
    values["store"] = values["store"] or _default_store()
    paths = next((layer["paths"] for _, layer in layers if layer.get("paths")), ["."])
    return Settings(paths=tuple(Path(path) for path in paths), **values)


def _choose(option: Option, layers: Sequence[tuple[str, Mapping[str, Any]]]) -> Any:
    for where, layer in layers:
        if layer.get(option.name) is not None:
            try:
                return option.convert(layer[option.name])
            except (ValueError, TypeError) as error:
                raise Invalid(f"{option.name} in {where} is {layer[option.name]!r}: {error}") from error
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


def _read_file(path: Path, aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return a config file's values under the names of their options."""
    try:
        content = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no config file {path}; check --config") from error
    except (OSError, ValueError) as error:
        raise Invalid(f"the config file {path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise Invalid(f"the config file {path} must hold an object with named options")
    known = {**{name: name for name in BY_NAME}, "paths": "paths", **aliases}
    if unknown := sorted(content.keys() - known.keys()):
        raise Invalid(f"{path} has unknown options: {', '.join(unknown)}; known are: {', '.join(sorted(known))}")
    values = {known[key]: value for key, value in content.items()}
    return _with_paths(values, path)


def _with_paths(values: dict[str, Any], path: Path) -> dict[str, Any]:
    """Read the paths of a config file from the folder it is in."""
    given = values.get("paths")
    if given is None:
        return values
    paths = [given] if isinstance(given, str) else given
    if not isinstance(paths, list) or not all(isinstance(one, str) for one in paths):
        raise Invalid(f"the paths in {path} must be a text or a list of texts")
    return {**values, "paths": [str(path.parent / Path(one).expanduser()) for one in paths]}


assert {one.name for one in fields(Settings)} == BY_NAME.keys() | {"paths"}  # noqa: S101 - declared once, and here
