"""From a user's options to who may come in: passwords and keys, from flags, the environment or files."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from bookwheel.credentials import Access, Key
from bookwheel.errors import Invalid
from bookwheel.settings import Settings

BINDS = "="  # stands between a key and its libraries; at the end of a key it is a part of it


def access_of(settings: Settings, libraries: Collection[str]) -> Access:
    """Return what clients must show; raises Invalid for settings that contradict each other."""
    password = settings.auth_basic_password
    if settings.auth_basic_password_file:
        if password:
            raise Invalid("a password is given twice, also in a file; give one of them")
        password = _read(settings.auth_basic_password_file, "auth_basic_password_file").strip("\r\n")
    keys = [*keys_in(settings.auth_api_keys, libraries)]
    if settings.auth_api_keys_file:
        lines = (line.strip() for line in _read(settings.auth_api_keys_file, "auth_api_keys_file").split("\n"))
        keys += [key for line in lines if line and not line.startswith("#") for key in keys_in(line, libraries)]
    return Access(settings.auth_type, settings.auth_basic_username, password, tuple(dict.fromkeys(keys)))


def _read(path: Path, option: str) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Invalid(f"{option}: {path} cannot be read: {reason}") from error


def keys_in(text: str, libraries: Collection[str]) -> Iterator[Key]:
    """Yield the keys of a list such as `one,two` or `one=docs,wiki;two`.

    A comma ends a key; behind one that is bound to libraries it does so unless a library follows.
    Raises Invalid for a library that is not served.
    """
    for part in text.split(";"):
        secret, bound = "", list[str]()
        for word in (word.strip() for word in part.split(",")):
            if bound and word in libraries:
                bound.append(word)
                continue
            yield from _key(secret, bound)
            secret, bound = _split(word, libraries)
        yield from _key(secret, bound)


def _split(word: str, libraries: Collection[str]) -> tuple[str, list[str]]:
    secret, name = (part.strip() for part in word.partition(BINDS)[::2])
    if not name.strip(BINDS):
        return word, []
    if name not in libraries:
        known = ", ".join(sorted(libraries)) or "none"
        raise Invalid(f"auth_api_keys: a key is bound to {name!r}, which is not served; there are: {known}")
    return secret, [name]


def _key(secret: str, bound: list[str]) -> Iterator[Key]:
    if secret:
        yield Key(secret, frozenset(bound) if bound else None)
