"""Credentials as a user writes them down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bookwheel.cli.access import access_of, keys_in
from bookwheel.credentials import Access, Key
from bookwheel.errors import Invalid
from bookwheel.settings import Settings, load

LIBRARIES = ("docs", "wiki")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings that nobody has touched."""
    monkeypatch.chdir(tmp_path)
    return load({}, {}, {})


def only(*names: str) -> frozenset[str]:
    return frozenset(names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a", [Key("a")]),
        (" a , b,,", [Key("a"), Key("b")]),
        ("a;b", [Key("a"), Key("b")]),
        ("a=docs", [Key("a", only("docs"))]),
        ("a=docs,wiki", [Key("a", only("docs", "wiki"))]),
        ("a = docs , wiki ; b", [Key("a", only("docs", "wiki")), Key("b")]),
        ("a=docs,b=wiki", [Key("a", only("docs")), Key("b", only("wiki"))]),
        ("a=docs,b", [Key("a", only("docs")), Key("b")]),
        ("docs", [Key("docs")]),
        ("c2VjcmV0==", [Key("c2VjcmV0==")]),
        ("c2VjcmV0=,b", [Key("c2VjcmV0="), Key("b")]),
    ],
)
def test_keys_are_read_as_written(text: str, expected: list[Key]) -> None:
    assert list(keys_in(text, LIBRARIES)) == expected


def test_a_key_for_a_library_that_is_not_there_is_refused_without_telling_it() -> None:
    with pytest.raises(Invalid) as caught:
        list(keys_in("hush=absent", LIBRARIES))

    assert "'absent', which is not served; there are: docs, wiki" in caught.value.message
    assert "hush" not in caught.value.message


def test_keys_may_come_from_a_file(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# ours\n\na=docs,wiki\r\n  b  \n")

    access = access_of(replace(settings, auth_type="apikey", auth_api_keys_file=file), LIBRARIES)

    assert access == Access("apikey", keys=(Key("a", only("docs", "wiki")), Key("b")))


def test_a_password_may_come_from_a_file(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(" pass word \n")

    access = access_of(
        replace(settings, auth_type="basic", auth_basic_username="ann", auth_basic_password_file=file), LIBRARIES
    )

    assert access == Access("basic", "ann", " pass word ")


@pytest.mark.parametrize(
    "given",
    [
        {"auth_basic_password_file": Path("absent")},
        {"auth_api_keys_file": Path("absent")},
        {"auth_api_keys": "a"},
        {"auth_type": "basic", "auth_basic_username": "ann"},
        {"auth_type": "apikey"},
        {"auth_type": "apikey", "auth_api_keys": "a,a=docs"},
        {"auth_basic_password": "a", "auth_basic_password_file": Path("absent")},
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: Settings, given: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        access_of(replace(settings, **given), LIBRARIES)  # type: ignore[arg-type]
