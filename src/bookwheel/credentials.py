"""What a client must show to come in."""

from __future__ import annotations

from dataclasses import dataclass, field

from bookwheel.errors import Invalid


@dataclass(frozen=True, slots=True)
class Key:
    """An API key, and the libraries it opens: all of them if none is named."""

    secret: str = field(repr=False)
    libraries: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What a client must show: nothing, a name and a password, or one of some keys. Raises Invalid if it is unclear."""

    kind: str = "none"
    username: str = ""
    password: str = field(default="", repr=False)
    keys: tuple[Key, ...] = ()

    def __post_init__(self) -> None:
        named = bool(self.username or self.password)
        if self.kind not in {"none", "basic", "apikey"}:
            raise Invalid(f"authentication must be none, basic or apikey, not {self.kind}")
        if self.kind == "none" and (named or self.keys):
            raise Invalid("credentials are given, but authentication is none: choose basic or apikey")
        if self.kind == "basic" and (self.keys or not (self.username and self.password)):
            raise Invalid("authentication is basic: give a user name and a password, and no API keys")
        if self.kind == "apikey" and (named or not self.keys or not all(key.secret for key in self.keys)):
            raise Invalid("authentication is apikey: give API keys, none of them empty, and no user name or password")
        if len({key.secret for key in self.keys}) < len(set(self.keys)):
            raise Invalid("one API key is given twice, with different libraries")
